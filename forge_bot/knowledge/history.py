"""The history of a repository: its newest past runs, read from git, and what they tell about a
task.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, lru_cache

from forge_bot.errors import GitFailed
from forge_bot.git import Repository
from forge_bot.git.revisions import ENDED, ENDED_AT_ORIGIN
from forge_bot.knowledge.past_runs import DocumentNames, PastRun, read_past_run
from forge_bot.knowledge.repeated_remarks import Remark, Theme, about, grouped
from forge_bot.knowledge.search_index import Ranking
from forge_bot.project.search_words import words
from forge_bot.store import SPECS
from forge_bot.text_format import short_line
from forge_bot.values import Frozen, Severity

_MOST_PLACES = 5


class Pattern(Frozen):
    """A finding of reviewers in one or more runs, or the notes of a person who sent work back."""

    text: str
    severity: Severity
    seen: int
    where: tuple[str, ...]
    by_person: bool = False


def _found_in(place: int, run: PastRun) -> Iterator[Remark]:
    """Yield the findings of a run, and the notes of people who rejected something there."""
    for gate, notes in run.rejections:
        if text := short_line(notes):
            yield Remark(place, gate, Severity.MAJOR, text, person=True)
    for by, finding in run.findings:
        if text := short_line(finding.description):
            yield Remark(place, by, finding.severity, text)


def _stuck_in(place: int, run: PastRun) -> Iterator[Remark]:
    """Yield the points where a run got stuck."""
    return (Remark(place, "", Severity.MINOR, short_line(point)) for point in run.friction)


def _pattern(theme: Theme) -> Pattern:
    """A theme for a prompt: `where` is its files, then the phases or agents that found it."""
    places = (*sorted(theme.files), *map(short_line, theme.by))
    return Pattern(
        text=theme.text,
        severity=theme.severity,
        seen=theme.seen,
        where=places[:_MOST_PLACES],
        by_person=theme.person,
    )


class Similar(Frozen):
    """An earlier run whose request was like this one. The score ranks within one answer; it is no
    percentage.
    """

    name: str
    title: str
    summary: str
    score: float


class Recall(Frozen):
    """The recalled facts for one task, in each part the most important first; a part without data
    is empty.
    """

    similar: tuple[Similar, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    friction: tuple[str, ...] = ()


# A request states its subject at its beginning; logs and stack traces follow.
_CHARACTERS_READ = 2_000
_SUMMARY_SHOWN = 200
_FEWEST_SHARED = 2


class History:
    """Past runs.

    The results depend on the runs alone, not on the order in which they were given.
    """

    def __init__(self, runs: Sequence[PastRun]) -> None:
        by_name = sorted({run.name: run for run in runs}.values(), key=lambda run: run.name)
        self.runs: Sequence[PastRun] = sorted(by_name, key=lambda run: run.date, reverse=True)
        self._words: dict[str, frozenset[str]] = {}

    def similar(self, text: str, limit: int = 3, exclude: str = "") -> tuple[Similar, ...]:
        """Return the runs most similar to a text, best first, then newest, then by name.

        A run without a common word is left out. `exclude` is the name of a run to leave out,
        usually the one that asks.
        """
        return tuple(
            _similar(run, score) for run, score in self._best(_split_query(text), limit, exclude)
        )

    def _best(
        self, asked: Sequence[str], limit: int = 3, exclude: str = ""
    ) -> list[tuple[PastRun, float]]:
        best = self._ranking.best(asked, limit + 1)
        ranked = ((self.runs[place], score) for place, score in best)
        return [pair for pair in ranked if pair[0].name != exclude][:limit]

    def patterns(self, text: str, files: Sequence[str], limit: int = 8) -> tuple[Pattern, ...]:
        """Return remarks of people and reviewers on a text or files.

        People come first, then the most frequent and newest.
        """
        themes = about(self._findings, len(self.runs), _split_query(text), files, limit)
        return tuple(_pattern(theme) for theme in themes)

    def friction(self, text: str, limit: int = 5) -> tuple[str, ...]:
        """Return where runs got stuck on a text or files, the most frequent and newest first."""
        themes = about(self._stuck, len(self.runs), _split_query(text), (), limit)
        return tuple(theme.text for theme in themes)

    def recall(
        self,
        text: str,
        files: Sequence[str] = (),
        exclude: str = "",
        *,
        parts: Collection[str] = ("similar", "patterns", "friction"),
    ) -> Recall:
        """Return the knowledge of past runs for one task.

        `files` are its files, as far as known.
        """
        return Recall(
            similar=(
                self._alike([*_split_query(text), *words(" ".join(files))], exclude)
                if "similar" in parts
                else ()
            ),
            patterns=self.patterns(text, files) if "patterns" in parts else (),
            friction=self.friction(text) if "friction" in parts else (),
        )

    def _alike(self, asked: Sequence[str], exclude: str) -> tuple[Similar, ...]:
        """Return the runs most similar to a query.

        Runs that share only one word with it are left out, since runs on any subject do.
        """
        wanted = set(asked)
        fewest = min(_FEWEST_SHARED, len(wanted))
        ranked = self._best(asked, exclude=exclude)
        return tuple(
            _similar(run, score)
            for run, score in ranked
            if len(wanted & self._words_in(run)) >= fewest
        )

    def _words_in(self, run: PastRun) -> frozenset[str]:
        """Return the words of a run, split only once: several agents find the same runs."""
        if run.name not in self._words:
            self._words[run.name] = frozenset(_words_of(run))
        return self._words[run.name]

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking([_words_of(run) for run in self.runs])

    @cached_property
    def _findings(self) -> list[Theme]:
        return self._themes(_found_in)

    @cached_property
    def _stuck(self) -> list[Theme]:
        return self._themes(_stuck_in)

    def _themes(self, remarks_of: Callable[[int, PastRun], Iterator[Remark]]) -> list[Theme]:
        oldest_first = enumerate(reversed(self.runs))
        return grouped(remark for place, run in oldest_first for remark in remarks_of(place, run))


@lru_cache(maxsize=8)
def _split_query(text: str) -> tuple[str, ...]:
    """Return the words of a query.

    The same query goes to runs, findings and friction, and comes from several agents.
    """
    return tuple(words(text[:_CHARACTERS_READ]))


def _words_of(run: PastRun) -> list[str]:
    """Return the words of a run; those of its title count twice."""
    return words(
        " ".join((run.title, run.title, run.request[:_CHARACTERS_READ], run.summary, *run.files))
    )


def _similar(run: PastRun, score: float) -> Similar:
    subject = short_line(run.summary or run.request, _SUMMARY_SHOWN)
    ending = "" if run.outcome == "done" else f" ({run.outcome})"
    return Similar(
        name=run.name,
        title=short_line(run.title),
        summary=f"{subject}{ending}".strip(),
        score=score,
    )


RUNS_READ = 200
"""Past runs that are learned from, the newest by name."""

_Folders = tuple[tuple[str, str], ...]


def history_at(repository: Repository, commit: str, documents: DocumentNames) -> History:
    """Return the history of the runs that have ended, and of those whose records are in a commit,
    given by its full id.
    """
    return _history(repository, past_folders(repository, commit)[-RUNS_READ:], documents)


@lru_cache(maxsize=2)
def _history(repository: Repository, folders: _Folders, documents: DocumentNames) -> History:
    files_by_run = past_files(repository, folders, documents.all()).items()
    runs = (read_past_run(name, files.get, documents) for name, files in files_by_run)
    return History([run for run in runs if run is not None])


def past_folders(repository: Repository, commit: str) -> _Folders:
    """Return the folders of past runs as git names them, by the names of the runs, the newest last:
    those of ended runs, and those in a commit.
    """
    # By their names ours come after those of the remote.
    refs = repository.refs(ENDED_AT_ORIGIN, ENDED)
    tips = {ref.name.rpartition("/")[2]: ref.commit for ref in refs}
    tips |= dict.fromkeys(repository.list_folders(commit, SPECS), commit)
    # A name that cannot be decoded cannot be shown.
    return tuple(
        (name, f"{tip}:{SPECS}/{name}") for name, tip in sorted(tips.items()) if name.isprintable()
    )


def past_files(
    repository: Repository,
    folders: _Folders,
    names: Collection[str],
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
