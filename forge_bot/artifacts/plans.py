"""Read the plan of a change: its conventional type and title, its files, whether it is one task,
what later documents need, or that the request needs no change.

Source of the types: https://www.conventionalcommits.org/en/v1.0.0/. The design states type and
title in its own title, `# fix: return an empty string`. Where it does not, the request does: by the
beginning of its title, the type of its issue, or its labels.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from forge_bot.artifacts.design_outline import FILE_PATH, joined_codes
from forge_bot.artifacts.markdown import (
    BlockKind,
    blocks_below,
    read_blocks,
    read_section,
    split_lines,
)
from forge_bot.artifacts.tasks import read_tasks, task_list
from forge_bot.text_format import one_line
from forge_bot.values import Frozen, NothingToDo, Problem, TaskMode, TaskSpec, Unneeded

_CHANGES = "Changes"
"""The section of a design that names its changes."""

_TASKS = re.compile(r"tasks?\s*[:：]\s*(?P<count>one|several|1|[2-9]|\d\d+)\b", re.IGNORECASE)
_ONE = {"one", "1"}


def document_facts(text: str, *, plans: bool, carries: Sequence[str]) -> dict[str, object]:
    """Return what later documents of our own process need of a document, as fields of Inspection.

    `plans` says that the document plans the change; `carries` names the sections to repeat.
    """
    sections = {name: part for name in carries if (part := read_section(text, name))}
    if not plans:
        return {"title": "", "one_task": False, "sections": sections}
    named = read_change_name(text)
    return {
        "title": named.title if named is not None else "",
        "one_task": is_one_task(text),
        "planned": planned_tasks(text),
        "sections": sections,
    }


def planned_files(design: str) -> tuple[str, ...]:
    """Return the files that a plan changes: the first path in backticks of each bullet, or the
    first ones where several are joined.
    """
    return tuple(name for name in _codes(design) if FILE_PATH.fullmatch(name))


def planned_tasks(design: str) -> tuple[TaskSpec, ...]:
    """Return the tasks of a plan: sub-headings such as `### Task 1: Title`, each with the files of
    its bullets. A task that builds on another one has `depends_on: [1]`.

    A plan with fewer than two tasks lists none. Nor does a plan with an unusable task: it names no
    file or waits for a person; a bullet is about no file or belongs to no task; two tasks that
    could run in parallel have a file in common; a dependency is unknown; tests are a task apart
    from the tested code.
    """
    parts = _parts(design)
    tasks, problems = read_tasks("\n\n".join(parts))
    persons = any(task.mode is TaskMode.HUMAN_GATE for task in tasks)
    if persons or any(problem.fatal for problem in problems) or not 1 < len(tasks) == len(parts):
        return ()
    files = [planned_files(f"## {_CHANGES}\n\n{part}") for part in parts]
    planned = tuple(
        task.replace(mode=TaskMode.PARALLEL, files=own, acceptance=())
        for task, own in zip(tasks, files, strict=True)
    )
    homes = {path for task in planned for path in task.files}
    whole = all(task.files for task in planned) and homes.issuperset(_codes(design))
    # Only the list counts.
    _, faults = read_tasks(task_list(planned, "The plan"))
    return planned if whole and not faults else ()


def _parts(design: str) -> list[str]:
    """Return the parts of a section that begin at a sub-heading."""
    blocks = blocks_below(design, _CHANGES)
    starts = [block.line for block in blocks if block.kind is BlockKind.HEADING]
    ends = [*starts[1:], max((block.end for block in blocks), default=0)]
    lines = split_lines(design)
    return ["\n".join(lines[start:end]) for start, end in zip(starts, ends, strict=False)]


def _codes(design: str) -> tuple[str, ...]:
    """Return the first words in backticks of each bullet in a section."""
    named = (
        code
        for block in blocks_below(design, _CHANGES)
        if block.depth == 1 and block.starts_item
        for code in joined_codes(block)
    )
    return tuple(dict.fromkeys(name for name in named if name))


def is_one_task(design: str) -> bool:
    """Return whether a plan is one task.

    The plan says it in a line of its own, `Tasks: one` or `Tasks: several`. If it does not, it is
    one, unless it names no file.
    """
    for block in blocks_below(design, _CHANGES):
        for line in block.lines:
            if (stated := _TASKS.match(line.strip("*_- "))) is not None:
                return stated["count"].lower() in _ONE
    return bool(planned_files(design))


HEADING = "Nothing to Do"
_SAID = re.compile(r"nothing to (?:do|change)\s*(?:[:：–—-]\s*(?P<why>.*))?", re.IGNORECASE)
_LEVEL = 2


def read_nothing_to_do(markdown: str) -> tuple[NothingToDo | None, tuple[Problem, ...]]:
    """Return the reason in the section `## Nothing to Do: already works`, and its problems.

    Only a known reason with its evidence is accepted.
    """
    headings = (block for block in read_blocks(markdown) if block.is_heading)
    texts = [one_line(block.text) for block in headings if block.level <= _LEVEL]
    stated = [match for text in texts if (match := _SAID.match(text)) is not None]
    if not stated:
        return None, ()
    words = (stated[0]["why"] or "").strip(" .*_`").casefold()
    evidence = read_section(markdown, stated[0].string.strip(" :.#*_"))
    if len(stated) == 1 and words in set(Unneeded) and evidence:
        return NothingToDo(why=Unneeded(words), evidence=evidence), ()
    forms = ", ".join(f"`## {HEADING}: {why.value}`" for why in Unneeded)
    message = f"say once why, as one of {forms}, and give the evidence below, in 4,000 characters"
    return None, (Problem(place=HEADING, message=message, fatal=False),)


class ChangeType(StrEnum):
    """The types that a change can have."""

    FIX = "fix"
    FEAT = "feat"
    DOCS = "docs"
    REFACTOR = "refactor"
    PERF = "perf"
    TEST = "test"
    BUILD = "build"
    CI = "ci"
    CHORE = "chore"
    REVERT = "revert"


_SYNONYMS = {
    **{kind.value: kind for kind in ChangeType},
    **dict.fromkeys(("bug", "bugfix", "regression"), ChangeType.FIX),
    **dict.fromkeys(("feature", "feature request", "enhancement"), ChangeType.FEAT),
    "documentation": ChangeType.DOCS,
    "tests": ChangeType.TEST,
    "dependencies": ChangeType.BUILD,
}
"""Types by the names that they have in titles, labels and types of issues."""

_CONVENTIONAL = re.compile(
    r"(?P<type>[a-z]+)(?P<scope>\([^()\n]{1,40}\))?(?P<breaking>!)?\s?[:：]\s*(?P<title>\S.*)",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(r"^design\s*[:：–—-]\s*", re.IGNORECASE)
_LABEL = re.compile(r"(?:type|kind|category|t)\s*[:/=_-]\s*(?P<name>.+)", re.IGNORECASE)
_UNTITLED = "do what was asked"
_FEWEST_SUBJECTS = 10
_SHARE_WITH_TYPE = 0.2


class ChangeName(Frozen):
    """The type and the title of a change."""

    type: ChangeType
    title: str
    scope: str = ""
    breaking: bool = False

    @property
    def subject(self) -> str:
        """The first line of a commit message, and the title of a pull request."""
        scope = f"({self.scope})" if self.scope else ""
        return f"{self.type.value}{scope}{'!' if self.breaking else ''}: {self.title}"

    @property
    def sentence(self) -> str:
        """The same where a repository's commits begin with no type."""
        return self.title[:1].upper() + self.title[1:]


def begin_with_types(subjects: Sequence[str]) -> bool:
    """Return whether the commits of a repository begin with a type, by the first lines of their
    messages. The answer is yes for a repository with too few commits.
    """
    typed = sum(_conventional(subject) is not None for subject in subjects)
    return len(subjects) < _FEWEST_SUBJECTS or typed >= _SHARE_WITH_TYPE * len(subjects)


def read_change_name(design: str) -> ChangeName | None:
    """Return the name that a document states in its first heading of level 1.

    Accepted are `# fix: title`, `# fix(scope)!: title` and `# Design: fix: title`. Code in the
    title keeps its backticks. Return None if the heading states no known type.
    """
    titles = (block for block in read_blocks(design) if block.is_heading and block.level == 1)
    if (heading := next(titles, None)) is None:
        return None
    words = one_line(split_lines(design)[heading.line]).lstrip("#").rstrip("# ").strip()
    return _conventional(_DOCUMENT.sub("", words, count=1))


def change_name(
    design: str, *, title: str, labels: Sequence[str] = (), issue_type: str = ""
) -> ChangeName:
    """Return the name of a change, from its design or else from its request.

    The order is the design's title, the beginning of the request's title (`fix: …`), the type of
    the issue, the labels. A request that states nothing is a `chore`: that promises neither a
    feature nor a fix.
    """
    if (stated := read_change_name(design)) is not None:
        return stated
    kinds = (kind for name in (issue_type, *labels) if (kind := named_type(name)) is not None)
    return renamed(ChangeName(type=next(kinds, ChangeType.CHORE), title=_UNTITLED), title)


def renamed(change: ChangeName, title: str) -> ChangeName:
    """Return the name of a change of the same type with another title, which may state a type."""
    words = one_line(title)
    plain = ChangeName(type=change.type, title=_make_title(words) or _UNTITLED)
    return _conventional(words) or plain


def _conventional(words: str) -> ChangeName | None:
    match = _CONVENTIONAL.fullmatch(words.lstrip("*_` "))
    kind = _SYNONYMS.get(match["type"].lower()) if match is not None else None
    if match is None or kind is None:
        return None
    return ChangeName(
        type=kind,
        title=_make_title(match["title"]),
        scope=(match["scope"] or "").strip("()").strip(),
        breaking=match["breaking"] is not None,
    )


def named_type(name: str) -> ChangeType | None:
    """Return the type that a label or the type of an issue names, as `bug` or `kind/bug`."""
    plain = one_line(re.sub(r"[^\w\s:/=().-]", " ", name)).lower()
    prefixed = _LABEL.fullmatch(plain)
    return _SYNONYMS.get(prefixed["name"].strip() if prefixed is not None else plain)


def _make_title(words: str) -> str:
    """Return the words as a title: no full stop, and no capital at the beginning of a sentence.

    An acronym, a name in capitals and code keep theirs.
    """
    plain = words.strip().rstrip(".。").strip() or words.strip()
    first = plain.split(maxsplit=1)[0] if plain else ""
    ordinary = first[1:].islower() and first.isalpha()
    return plain[:1].lower() + plain[1:] if ordinary else plain
