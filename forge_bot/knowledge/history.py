"""The history of a repository: its newest past runs, read from git, and what they tell about a
task.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import NamedTuple

from pydantic import ValidationError

from forge_bot.artifacts.markdown import BlockKind, blocks_below
from forge_bot.engine.reports import REPORT, Answer, Answered, ArtifactWritten, RetryAsked
from forge_bot.engine.state import State
from forge_bot.errors import GitFailed
from forge_bot.git import Repository
from forge_bot.git.revisions import ENDED, ENDED_AT_ORIGIN
from forge_bot.knowledge.search_index import Ranking, words
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import short_line
from forge_bot.values import Finding, Frozen, RunStatus, Severity

REQUEST, STATE, REPORTS = "request.md", "state.json", "reports.jsonl"
RUNS_READ = 200
"""Past runs that are learned from, the newest by name."""

_Folders = tuple[tuple[str, str], ...]
_TELLING = ("artifact_written", "answered", "retry_asked")
_LONGEST_REQUEST = 4_000
_SUMMARY, _FRICTION = "Summary", "Improvement Report"
_NOTHING = re.compile(r"\W*(?:none|nothing|no friction observed)\W*", re.IGNORECASE)
# A request states its subject at its beginning; logs and stack traces follow.
_CHARACTERS_READ = 2_000
_SUMMARY_SHOWN = 200
_WORDS_IN_COMMON = 2
_PATH = re.compile(
    r"(?<![\w/.-])(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w(/.-]|\.\w)"
)
_WORD = re.compile(r"\w+")
_BADNESS = {severity: place for place, severity in enumerate(Severity)}
_ON_FILE, _IN_WORDS = 3, 2
"""What a lesson counts on a file of the task, and with words of it."""
_OFTEN = 2
_MOST_OTHERS = 3


class PastRun(Frozen):
    """The request, the outcome and the reviews of one run. Texts are single lines, but for the
    request and the findings.
    """

    name: str
    title: str
    request: str
    summary: str
    files: tuple[str, ...]
    outcome: RunStatus
    date: str
    findings: tuple[Finding, ...] = ()
    friction: tuple[str, ...] = ()
    rejections: tuple[str, ...] = ()
    """The notes of people who sent work back."""

    def split_words(self) -> list[str]:
        """Return the words by which it is found; those of its title count twice."""
        request = self.request[:_CHARACTERS_READ]
        return words(" ".join((self.title, self.title, request, self.summary, *self.files)))

    def in_words(self) -> str:
        """Return the run as a line for a model."""
        subject = short_line(self.summary or self.request, _SUMMARY_SHOWN)
        done = self.outcome is RunStatus.COMPLETED
        ending = "" if done else f" ({self.outcome.value.replace('_', ' ')})"
        return f"{self.name}: {short_line(self.title)}. {f'{subject}{ending}'.strip()}"


class Lesson(NamedTuple):
    """Findings of reviewers, notes of people who sent work back, or points where agents got stuck,
    in the same words: the newest wording, the worst severity, and the number of runs.
    """

    text: str
    severity: Severity
    seen: int
    by_person: bool
    files: frozenset[str]
    words: frozenset[str]


class _Remark(NamedTuple):
    """One remark on one line. Its run is counted from the oldest."""

    run: int
    severity: Severity
    text: str
    by_person: bool = False


def _read_remarks(place: int, run: PastRun) -> Iterator[_Remark]:
    for notes in run.rejections:
        yield _Remark(place, Severity.MAJOR, short_line(notes), by_person=True)
    for finding in run.findings:
        yield _Remark(place, finding.severity, short_line(finding.description))


def _read_stuck(place: int, run: PastRun) -> Iterator[_Remark]:
    return (_Remark(place, Severity.MINOR, short_line(point)) for point in run.friction)


class History:
    """Past runs.

    The results depend on the runs alone, not on the order in which they were given.
    """

    def __init__(self, runs: Sequence[PastRun]) -> None:
        by_name = sorted({run.name: run for run in runs}.values(), key=lambda run: run.name)
        self.runs: Sequence[PastRun] = sorted(by_name, key=lambda run: run.date, reverse=True)

    def similar(
        self, text: str, files: Sequence[str] = (), exclude: str = "", limit: int = 3
    ) -> tuple[PastRun, ...]:
        """Return the runs most similar to a text and its files, best first, then newest, then by
        name; `exclude` is the run that asks.

        Runs that share only one word with several are left out, since runs on any subject do.
        """
        asked = [*words(text[:_CHARACTERS_READ]), *words(" ".join(files))]
        wanted = {*asked}
        fewest = min(_WORDS_IN_COMMON, len(wanted))
        best = (place for place, _ in self._ranking.best(asked, len(self.runs)))
        alike = (
            self.runs[place] for place in best if len(wanted & {*self._words[place]}) >= fewest
        )
        return tuple(run for run in alike if run.name != exclude)[:limit]

    def patterns(self, text: str, files: Sequence[str] = (), limit: int = 8) -> tuple[Lesson, ...]:
        """Return remarks of people and reviewers on a text or files.

        People come first, then the most frequent and newest.
        """
        return _choose(self._group(_read_remarks), text, files, limit)

    def friction(self, text: str, limit: int = 5) -> tuple[str, ...]:
        """Return where runs got stuck on a text, the most frequent and newest first."""
        return tuple(one.text for one in _choose(self._group(_read_stuck), text, (), limit))

    @cached_property
    def _words(self) -> list[list[str]]:
        return [run.split_words() for run in self.runs]

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(self._words)

    def _group(self, read: Callable[[int, PastRun], Iterator[_Remark]]) -> list[Lesson]:
        """Return the lessons of remarks: those of people first, then the most frequent, the newest
        and the worst.
        """
        groups: dict[tuple[str, ...], list[_Remark]] = {}
        for place, run in enumerate(reversed(self.runs)):
            for remark in read(place, run):
                if key := tuple(_WORD.findall(remark.text.casefold())):
                    groups.setdefault(key, []).append(remark)
        newest_first = sorted(groups.values(), key=lambda group: -group[-1].run)
        return sorted(
            map(_make_lesson, newest_first),
            key=lambda lesson: (not lesson.by_person, -lesson.seen),
        )


def _make_lesson(group: Sequence[_Remark]) -> Lesson:
    return Lesson(
        # A run repeats a remark in every round; the first wording of the newest run is shown.
        text=next(remark.text for remark in group if remark.run == group[-1].run),
        severity=min((remark.severity for remark in group), key=_BADNESS.__getitem__),
        seen=len({remark.run for remark in group}),
        by_person=any(remark.by_person for remark in group),
        files=frozenset(
            path.removeprefix("./") for remark in group for path in _PATH.findall(remark.text)
        ),
        words=frozenset(words(group[0].text)),
    )


def _choose(
    lessons: Sequence[Lesson], text: str, files: Sequence[str], limit: int
) -> tuple[Lesson, ...]:
    """Return the lessons about a task, those of the greatest weight first, then a few that are so
    frequent that they always apply. An empty text takes all.
    """
    asked = frozenset(words(text[:_CHARACTERS_READ]))
    if not asked and not files:
        return tuple(lessons[:limit])
    weights = [(lesson, _weigh(lesson, asked, files)) for lesson in lessons]
    about = [pair for pair in weights if pair[1]]
    about.sort(key=lambda pair: (not pair[0].by_person, -pair[1] * pair[0].seen))
    others = [lesson for lesson, weight in weights if not weight and lesson.seen >= _OFTEN]
    return tuple([*(lesson for lesson, _ in about), *others[:_MOST_OTHERS]][:limit])


def _weigh(lesson: Lesson, asked: frozenset[str], files: Sequence[str]) -> int:
    """Return how much a lesson has to do with a task: on one of its files, of which a remark may
    omit the first folders, with two of its words, or all of its own.
    """
    if any(f"/{path}".endswith(f"/{named}") for path in files for named in lesson.files):
        return _ON_FILE
    shared = len(lesson.words & asked)
    return _IN_WORDS if shared and shared >= min(_WORDS_IN_COMMON, len(lesson.words)) else 0


# -- one run


def read_past_state(text: str | None) -> State | None:
    """Return the state in a state.json; None for one that is missing or broken."""
    try:
        return State.model_validate_json(text or "")
    except ValidationError:
        return None


def read_past_run(name: str, read: Callable[[str], str | None], summary: str) -> PastRun | None:
    """Return the run in a workspace folder of that name; `read` gives the text of a file in it,
    `summary` is the document that sums it up.

    None when its state cannot be read; anything else that is missing or broken is left empty.
    """
    state = read_past_state(read(STATE))
    if state is None:
        return None
    document = (read(summary) if summary else None) or ""
    findings, rejections = _read_reported(read(REPORTS) or "")
    texts = (block for block in blocks_below(document, _SUMMARY) if block.kind is BlockKind.TEXT)
    # Behind the front matter, and the title.
    body = (read(REQUEST) or "").partition("\n---\n")[2].strip().partition("\n")[2].strip()
    files = (short_line(path) for task in state.tasks for path in task.spec.files)
    return PastRun(
        name=name,
        title=short_line(state.title),
        request=body[:_LONGEST_REQUEST],
        summary=next((short_line(block.text) for block in texts if not block.empty), ""),
        files=tuple(dict.fromkeys(files)),
        outcome=state.current_phase_status,
        date=f"{state.started_at:%Y-%m-%d}",
        findings=tuple(findings),
        friction=tuple(dict.fromkeys(_read_friction(document))),
        rejections=tuple(rejections),
    )


def _read_reported(text: str) -> tuple[list[Finding], list[str]]:
    """Return the findings of all reviews of a run, and the notes of people's rejections.

    `text` is its reports.jsonl; lines that are no reports are ignored.
    """
    findings: dict[Finding, None] = {}
    rejections: dict[str, None] = {}
    for line in text.splitlines():
        # Most lines are of other kinds; searching for a word takes less time than parsing them.
        if not any(kind in line for kind in _TELLING):
            continue
        with suppress(ValidationError):
            match REPORT.validate_json(line):
                case ArtifactWritten(inspection=inspection):
                    findings |= dict.fromkeys(inspection.findings)
                case Answered(answer=Answer.REJECT, notes=notes) | RetryAsked(notes=notes) if notes:
                    rejections[short_line(notes)] = None
                case _:
                    pass
    return list(findings), list(rejections)


def _read_friction(document: str) -> Iterator[str]:
    """Yield the bullets of a summary's improvement report, but for those that report nothing."""
    for block in blocks_below(document, _FRICTION):
        bullet = block.kind is BlockKind.TEXT and block.starts_item and block.depth == 1
        if bullet and not block.quoted and not _NOTHING.fullmatch(block.text):
            yield short_line(block.text)


# -- all runs


def history_at(repository: Repository, commit: str, summary: str) -> History:
    """Return the history of the runs that have ended, and of those whose records are in a commit,
    given by its full id. `summary` is the document that sums up a run.
    """
    return _history(repository, past_folders(repository, commit)[-RUNS_READ:], summary)


@lru_cache(maxsize=2)
def _history(repository: Repository, folders: _Folders, summary: str) -> History:
    names = tuple(filter(None, (REQUEST, STATE, REPORTS, summary)))
    files_by_run = past_files(repository, folders, names).items()
    runs = (read_past_run(name, files.get, summary) for name, files in files_by_run)
    return History([run for run in runs if run is not None])


def past_folders(repository: Repository, commit: str) -> _Folders:
    """Return the folders of past runs as git names them, by the names of the runs, the newest last:
    those of ended runs, and those in a commit.
    """
    # By their names ours come after those of the remote.
    refs = repository.refs(ENDED_AT_ORIGIN, ENDED)
    tips = {ref.name.rpartition("/")[2]: ref.commit for ref in refs}
    committed = (path.split("/")[1] for path in repository.list_files(commit, SPECS))
    tips |= dict.fromkeys(committed, commit)
    # A name that cannot be decoded cannot be shown.
    return tuple(
        (name, f"{tip}:{SPECS}/{name}") for name, tip in sorted(tips.items()) if name.isprintable()
    )


def past_files(
    repository: Repository, folders: _Folders, names: Collection[str]
) -> dict[str, dict[str, str]]:
    """Return the texts of some files of past runs, by run and file; none where a partial clone has
    not fetched all of them.
    """
    wanted = [(run, name, f"{folder}/{name}") for run, folder in folders for name in names]
    try:
        objects = repository.read_objects([place for *_, place in wanted], fetching=False)
    except GitFailed:
        return {}
    texts: dict[str, dict[str, str]] = {run: {} for run, _ in folders}
    for (run, name, _), git_object in zip(wanted, objects, strict=True):
        if git_object is not None and git_object.kind == "blob":
            texts[run][name] = git_object.data.decode("utf-8", "replace")
    return texts
