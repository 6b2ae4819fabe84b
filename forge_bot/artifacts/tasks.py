"""Read tasks.md: its tasks, its problems, and which tasks may run."""

import re
from collections.abc import Iterator, Sequence

from forge_bot.artifacts.markdown import Block, BlockKind, one_line, read_blocks
from forge_bot.artifacts.task_checks import check, place
from forge_bot.artifacts.task_fields import (
    Field,
    Fields,
    names_mode,
    read_fields,
    starts_with_field,
)
from forge_bot.artifacts.task_values import ID, read_mode
from forge_bot.artifacts.whole_task import whole_criteria
from forge_bot.values import Frozen, Problem, TaskId, TaskMode, TaskSpec

_HEADING = re.compile(
    rf"^\W*task\s+(?:\#|no\.?\s*)?(?P<id>{ID}|[A-Z](?=\s*[:.)–—-]))(?:\s*[:.)–—-]\s*|\s+|$)"
    rf"(?P<title>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_UNNUMBERED = re.compile(r"^\W*task\s*[:–—-]\s*(?P<title>\S.*)$", re.IGNORECASE | re.DOTALL)
_MARKER = re.compile(r"\s*\[(?P<mode>sequential|parallel|human[ _-]?gate)\]\s*$", re.IGNORECASE)
_SIGN = re.compile(r"[\\`*_\[\]<>~#&!|]")
"""Characters that can mean something in a line of Markdown."""
_COMMENT = re.compile(r"<!--(?:(?!<!--|-->).)*-->")
_MACHINE_FENCES = {"", "yaml", "yml"}
_MODES = ", ".join(mode.value for mode in TaskMode)


class _Section(Frozen):
    """A task heading and the lines below it."""

    id: str
    title: str
    lines: tuple[str, ...]


def read_tasks(markdown: str) -> tuple[tuple[TaskSpec, ...], tuple[Problem, ...]]:
    """Return all tasks of a tasks.md in its order, and its problems.

    A task begins at a heading of any level, `## Task 1: Title`, outside of code and quotes. It ends
    at the next task or the next heading of its level or above. An id is the text after Task: `1`,
    `2.1`, `fix-1`, `B`. Below it come the fields `mode`, `files`, `depends_on` and the acceptance
    criteria, plain, bold, as bullets, as sub-headings or in a YAML block. All other text is the
    description. An unreadable value is a problem, and no task is left out because of one.
    """
    blocks = read_blocks(markdown)
    sections, loose = _split(markdown, blocks)
    problems = [*_unnumbered(blocks), *_homeless(loose)]
    tasks: list[TaskSpec] = []
    for section in sections:
        task, found = _task(section)
        tasks.append(task)
        problems += found
    if not tasks:
        fenced = any(
            block.kind is BlockKind.CODE
            and re.search(r"^#+\s+task\b", block.text, re.IGNORECASE | re.MULTILINE)
            for block in blocks
        )
        hint = (
            "take the code fence around the tasks away"
            if fenced
            else "write each as `## Task 1: Title`"
        )
        problems.append(Problem(place="", message=f"there is no task in it; {hint}", fatal=True))
    return tuple(tasks), (*problems, *check(tasks))


def one_task(title: str, document: str, sections: Sequence[str] = ()) -> str:
    """Return a list with one task that implements a document as a whole, for requests too small to
    be taken apart.
    """
    parts = [f'- the part "{part}"' for section in sections if (part := _as_heading(section))]
    return "\n".join(
        [
            "# Tasks",
            "",
            f"## Task 1: {_as_heading(title) or 'Implement the design'}",
            "mode: sequential",
            "depends_on: []",
            "",
            f"Implement {document} as a whole, in one go." + (" It has:" if parts else ""),
            "",
            *parts,
            *([""] if parts else []),
            *_criteria(f"{document} describes"),
        ]
    )


def task_list(tasks: Sequence[TaskSpec], document: str) -> str:
    """Return the list of the tasks that a document names, each to be implemented as it says."""
    lines = ["# Tasks", ""]
    for task in tasks:
        here = f"{document} says below task {task.id}"
        lines += [
            f"## Task {task.id}: {_as_heading(task.title)}",
            f"mode: {task.mode.value}",
            "files:",
            *(f"- `{path}`" for path in task.files),
            f"depends_on: [{', '.join(task.depends_on)}]",
            "",
            f"Implement what {here}, with the tests that it names for these files.",
            "",
            *_criteria(here),
        ]
    return "\n".join(lines)


def _criteria(described: str) -> list[str]:
    return ["Acceptance criteria:", *(f"- [ ] {each}" for each in whole_criteria(described)), ""]


def _split(markdown: str, blocks: Sequence[Block]) -> tuple[list[_Section], list[str]]:
    """Return the sections of the tasks, and the lines that belong to no task."""
    lines = _visible(markdown, blocks)
    headings = [block for block in blocks if block.kind is BlockKind.HEADING and not block.quoted]
    sections: list[_Section] = []
    loose: list[str] = lines[: headings[0].line if headings else len(lines)]
    owner = 0
    for number, heading in enumerate(headings):
        end = headings[number + 1].line if number + 1 < len(headings) else len(lines)
        match = _HEADING.match(heading.text)
        if match is not None:
            sections.append(
                _Section(
                    id=match["id"], title=match["title"], lines=tuple(lines[heading.line + 1 : end])
                )
            )
            owner = heading.level
        elif owner and heading.level > owner:
            more = tuple(lines[heading.line : end])
            sections[-1] = sections[-1].replace(lines=sections[-1].lines + more)
        else:
            loose += lines[heading.line : end]
            owner = 0
    return sections, loose


def _visible(markdown: str, blocks: Sequence[Block]) -> list[str]:
    """Return the lines as written, but code, quotes and comments blank; line numbers stay valid."""
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for block in blocks:
        if block.kind is BlockKind.CODE and block.fence is not None:
            inner = [line for line in block.text.split("\n") if line.strip()]
            machine = (
                block.fence.strip().lower() in _MACHINE_FENCES
                and inner
                and starts_with_field(inner[0])
            )
            kept = block.text.split("\n") if machine else []
            _blank(lines, block, kept)
        elif block.quoted or (block.kind is BlockKind.HTML and block.empty):
            _blank(lines, block, [])
    return [_COMMENT.sub("", line) for line in lines]


def _blank(lines: list[str], block: Block, kept: Sequence[str]) -> None:
    for number in range(block.line, block.end):
        inside = number - block.line - 1
        lines[number] = kept[inside] if 0 <= inside < len(kept) else ""


def _task(section: _Section) -> tuple[TaskSpec, list[Problem]]:
    fields = read_fields(section.lines)
    title = one_line(section.title)
    marker = _MARKER.search(title)
    modes = list(fields.modes)
    if marker is not None:
        title = title[: marker.start()]
        modes += filter(None, [read_mode(marker["mode"])])
    task = TaskSpec(
        id=TaskId(section.id),
        title=title or place(section.id),
        mode=modes[0] if modes else TaskMode.SEQUENTIAL,
        files=fields.files,
        depends_on=fields.depends_on,
        acceptance=fields.acceptance,
    )
    return task, [*_contradictions(task, modes), *_unread(task, fields)]


def _contradictions(task: TaskSpec, modes: Sequence[TaskMode]) -> Iterator[Problem]:
    if len(set(modes)) > 1:
        named = " and ".join(mode.value for mode in dict.fromkeys(modes))
        yield Problem(
            place=place(task.id),
            message=f"it has more than one mode, {named}; keep one",
            fatal=True,
        )


def _unread(task: TaskSpec, fields: Fields) -> Iterator[Problem]:
    for field, value in fields.unread:
        here = place(task.id)
        match field:
            case Field.MODE:
                yield Problem(
                    place=here,
                    message=f"the mode “{value}” is unknown; write one of {_MODES}",
                    fatal=True,
                )
            case Field.DEPENDS_ON:
                message = (
                    f"it depends on “{value}”, which is not the number of a task; write such as"
                    " depends_on: [1, 2]"
                )
                yield Problem(place=here, message=message, fatal=True)
            case _:
                message = f"“{value}” under files is not a path; list one path a line"
                yield Problem(place=here, message=message, fatal=task.mode is TaskMode.PARALLEL)


def _unnumbered(blocks: Sequence[Block]) -> Iterator[Problem]:
    for block in blocks:
        if (
            block.kind is BlockKind.HEADING
            and not block.quoted
            and (match := _UNNUMBERED.match(block.text)) is not None
        ):
            yield Problem(
                place=one_line(match["title"]),
                message="this task has no number; write `## Task 1: Title`",
                fatal=True,
            )


def _homeless(loose: Sequence[str]) -> Iterator[Problem]:
    for line in loose:
        if names_mode(line):
            message = (
                "this line belongs to no task; put a heading such as `## Task 1: Title` above it"
            )
            yield Problem(place=one_line(line), message=message, fatal=True)


def _as_heading(text: str) -> str:
    """Return the text on one line, so that a reader of the Markdown sees the same characters.

    It stays as it is where its signs mean nothing in Markdown, as in `natural_list([])`. Else each
    sign is escaped. A text that ends like a mode is followed by a mode of its own.
    """
    words = one_line(text)
    (block, *more) = read_blocks(f"# {words}") or (Block(kind=BlockKind.RULE),)
    if more or block.text != words.replace("`", ""):
        words = _SIGN.sub(r"\\\g<0>", words)
    return f"{words} [{TaskMode.SEQUENTIAL.value}]" if _MARKER.search(words) else words
