"""Read tasks.md in its one form: its tasks, and the lines that are not in that form."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from forge_bot.artifacts.markdown import Block, BlockKind, read_blocks, sections_where, split_lines
from forge_bot.artifacts.task_checks import check, normal_path, place
from forge_bot.text_format import one_line
from forge_bot.values import Problem, TaskId, TaskMode, TaskSpec

_ID = r"(?:[A-Za-z]{1,12}-?)?\d+(?:\.\d+)*[a-z]?"
_HEADING = re.compile(rf"Task (?P<id>{_ID}): (?P<title>\S.*)", re.DOTALL)
_ALMOST_HEADING = re.compile(r"\W*task\b", re.IGNORECASE)
_LEVEL = 2
_FIELD = re.compile(
    r"(?:- )?(?P<name>mode|files|depends_on|acceptance criteria):\s*(?P<value>.*)", re.IGNORECASE
)
_BULLET = re.compile(r"[-*] (?:\[[ xX]\] )?(?P<text>\S.*)")
_IDS = re.compile(rf"\[(?P<ids>(?:{_ID}(?:, ?{_ID})*)?)\]")
_PATH = re.compile(r"`(?P<quoted>[^`*?]+)`|(?P<bare>[^\s`*?]+)")
_SIGN = re.compile(r"[\\`*_\[\]<>~#&!|]")
"""Characters that can mean something in a line of Markdown."""
_MODES = ", ".join(mode.value for mode in TaskMode)


class _Field(StrEnum):
    """The fields of a task, as they are written."""

    MODE = "mode"
    FILES = "files"
    DEPENDS_ON = "depends_on"
    ACCEPTANCE = "acceptance criteria"


_LISTED = (_Field.FILES, _Field.ACCEPTANCE)
_FORMS = {
    _Field.MODE: f"write it as one of {_MODES}",
    _Field.FILES: "list one path a line below it, such as - `src/a.py`",
    _Field.DEPENDS_ON: "write the numbers of tasks, such as depends_on: [1, 2], or []",
    _Field.ACCEPTANCE: "list the criteria below it, such as - [ ] AC-1: …",
}


def read_tasks(markdown: str) -> tuple[tuple[TaskSpec, ...], tuple[Problem, ...]]:
    """Return all tasks of a tasks.md in its order, and its problems.

    A task begins at a heading `## Task 1: Title` outside of code and quotes, and ends at the next
    heading of level 2 or of its own. Below it stand `mode:`, `files:` with a bullet for each path,
    `depends_on: [1]`, and `Acceptance criteria:` with a bullet for each criterion. All other text
    is the description. What is almost a heading is a problem, and so is a value that cannot be
    read; no task is left out because of one.
    """
    blocks = read_blocks(markdown)
    problems = [*_stray_headings(blocks)]
    tasks: list[TaskSpec] = []
    for heading, lines in _sections(markdown, blocks):
        task, of_task = _read_task(heading, lines)
        tasks.append(task)
        problems += of_task
    if not tasks:
        message = (
            "there is no task in it; write each as `## Task 1: Title`, outside of code fences and"
            " quotes"
        )
        problems.append(Problem(place="", message=message, fatal=True))
    return tuple(tasks), (*problems, *check(tasks))


def one_task(title: str, document: str, sections: Sequence[str] = ()) -> str:
    """Return a list with one task that implements a document as a whole, for requests too small to
    be taken apart.
    """
    parts = [f'- the part "{part}"' for section in sections if (part := _make_heading(section))]
    words = f"Implement {document} as a whole, in one go." + (" It has:" if parts else "")
    task = TaskSpec(id=TaskId("1"), title=title if one_line(title) else "Implement the design")
    body = [words, *(["", *parts] if parts else [])]
    return "\n".join(["# Tasks", "", *_write_task(task, body, f"{document} describes")])


def task_list(tasks: Sequence[TaskSpec], document: str) -> str:
    """Return the list of the tasks that a document names, each to be implemented as it says."""
    lines = ["# Tasks", ""]
    for task in tasks:
        here = f"{document} says below task {task.id}"
        words = f"Implement what {here}, with the tests that it names for these files."
        lines += _write_task(task, [words], here)
    return "\n".join(lines)


def is_whole(criteria: tuple[str, ...], document: str) -> bool:
    return criteria == whole_criteria(f"{document} describes")


def whole_criteria(described: str) -> tuple[str, str]:
    """Return the criteria of a task that covers a whole document; `described` names it, as in
    "design.md describes".
    """
    return (
        f"AC-1: Everything that {described} is implemented, and nothing beyond it.",
        "AC-2: New behaviour has a test, and the tests of the project pass.",
    )


def _write_task(task: TaskSpec, body: Sequence[str], described: str) -> list[str]:
    """Return the lines of a task that covers what `described` names."""
    return [
        f"## Task {task.id}: {_make_heading(task.title)}",
        f"mode: {task.mode.value}",
        *(["files:", *(f"- `{path}`" for path in task.files)] if task.files else []),
        f"depends_on: [{', '.join(task.depends_on)}]",
        "",
        *body,
        "",
        "Acceptance criteria:",
        *(f"- [ ] {criterion}" for criterion in whole_criteria(described)),
        "",
    ]


def _sections(
    markdown: str, blocks: Sequence[Block]
) -> Iterator[tuple[re.Match[str], Sequence[str]]]:
    """Yield the headings of tasks, with the lines below that are neither code nor quoted."""
    lines: list[str] = split_lines(markdown)
    for block in blocks:
        if block.kind in {BlockKind.CODE, BlockKind.HTML} or block.quoted:
            lines[block.line : block.end] = [""] * (block.end - block.line)
    for heading, end in sections_where(markdown, lambda block: _heading(block) is not None):
        if (match := _heading(heading)) is not None:
            yield match, lines[heading.end : end]


def _heading(block: Block) -> re.Match[str] | None:
    """Return the number and the title in a heading of a task."""
    return _HEADING.fullmatch(one_line(block.text)) if block.is_heading else None


def _stray_headings(blocks: Sequence[Block]) -> Iterator[Problem]:
    """Yield the headings that may be meant for a task, and are not in its form."""
    for block in blocks:
        is_one = block.is_heading and _heading(block) is None
        is_task = _ALMOST_HEADING.match(block.text) and block.level >= _LEVEL
        if is_one and (block.level == _LEVEL or is_task):
            message = "this heading is not that of a task; write `## Task 1: Title`"
            yield Problem(place=one_line(block.text), message=message, fatal=True)


def _read_task(heading: re.Match[str], lines: Sequence[str]) -> tuple[TaskSpec, list[Problem]]:
    here = place(heading["id"])
    problems: list[Problem] = []

    def refuse(message: str, *, fatal: bool) -> None:
        problems.append(Problem(place=here, message=message, fatal=fatal))

    values, unread = _read_fields(lines)
    for field, line in unread:
        refuse(f"“{line}” is not in the form of `{field}:`; {_FORMS[field]}", fatal=False)
    modes, named = values[_Field.MODE], values[_Field.DEPENDS_ON]
    for field, given in ((_Field.MODE, modes), (_Field.DEPENDS_ON, named)):
        if len(given) != 1:
            count = "is no line" if not given else "is more than one line"
            refuse(f"there {count} `{field}:`; {_FORMS[field]}", fatal=bool(given))
    mode = next((mode for mode in TaskMode if modes[:1] == [mode.value]), None)
    if modes and mode is None:
        refuse(f"the mode “{modes[0]}” is unknown; {_FORMS[_Field.MODE]}", fatal=True)
    ids = _IDS.fullmatch(named[0]) if named else None
    if named and ids is None:
        message = f"it depends on “{named[0]}”, which is no list of tasks"
        refuse(f"{message}; {_FORMS[_Field.DEPENDS_ON]}", fatal=True)
    files = list[str]()
    for line in values[_Field.FILES]:
        if (path := _PATH.fullmatch(line)) is not None:
            files.append(_normal(path["quoted"] or path["bare"]))
        else:
            message = f"“{line}” under files is not a path; {_FORMS[_Field.FILES]}"
            refuse(message, fatal=mode is TaskMode.PARALLEL)
    depends_on = re.findall(_ID, ids["ids"]) if ids is not None else []
    task = TaskSpec(
        id=TaskId(heading["id"]),
        title=heading["title"],
        mode=mode or TaskMode.SEQUENTIAL,
        files=tuple(dict.fromkeys(files)),
        depends_on=tuple(map(TaskId, dict.fromkeys(depends_on))),
        acceptance=tuple(values[_Field.ACCEPTANCE]),
    )
    return task, problems


def _read_fields(lines: Sequence[str]) -> tuple[dict[_Field, list[str]], list[tuple[_Field, str]]]:
    """Return the values of each field, and the lines that hold a list's value beside its name."""
    values: dict[_Field, list[str]] = {field: [] for field in _Field}
    unread: list[tuple[_Field, str]] = []
    current: _Field | None = None
    for line in lines:
        bullet = _BULLET.fullmatch(line.rstrip()) if current in _LISTED else None
        if (match := _FIELD.fullmatch(line.rstrip())) is not None:
            current = _Field(match["name"].lower())
            if current not in _LISTED:
                values[current].append(match["value"])
            elif match["value"] not in {"", "[]"}:
                unread.append((current, one_line(line)))
        elif current is not None and bullet is not None:
            values[current].append(bullet["text"])
        elif current is _Field.ACCEPTANCE and line.startswith("  ") and values[current]:
            values[current][-1] += f" {line.strip()}"
        elif line.strip():
            current = None
    return values, unread


def _normal(path: str) -> str:
    steps = normal_path(path)
    return f"/{steps}" if path.startswith(("/", "\\")) else steps or "."


def _make_heading(text: str) -> str:
    """Return the text on one line, so that a reader of the Markdown sees the same characters.

    It stays as it is where its signs mean nothing in Markdown, as in `natural_list([])`. Else each
    sign is escaped.
    """
    words = one_line(text)
    (block, *more) = read_blocks(f"# {words}") or (Block(kind=BlockKind.RULE),)
    if more or block.text != words.replace("`", ""):
        words = _SIGN.sub(r"\\\g<0>", words)
    return words
