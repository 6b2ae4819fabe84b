"""Read the plan of a change: its files, whether it is one task, what later documents need, or that
the request needs no change.
"""

import re
from collections.abc import Sequence

from forge_bot.artifacts.change_name import read_change_name
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
from forge_bot.values import NothingToDo, Problem, TaskMode, TaskSpec, Unneeded

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
    planned = tuple(
        TaskSpec(
            id=task.id,
            title=task.title,
            mode=TaskMode.PARALLEL,
            files=planned_files(f"## {_CHANGES}\n\n{part}"),
            depends_on=task.depends_on,
        )
        for task, part in zip(tasks, parts, strict=True)
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
    headings = [
        one_line(block.text)
        for block in read_blocks(markdown)
        if block.is_heading and block.level <= _LEVEL
    ]
    stated = [(text, match) for text in headings if (match := _SAID.match(text)) is not None]
    if not stated:
        return None, ()
    forms = ", ".join(f"`## {HEADING}: {why.value}`" for why in Unneeded)
    if len(stated) > 1:
        return None, (_problem(f"say it once: {forms}"),)
    text, match = stated[0]
    words = (match["why"] or "").strip(" .*_`").casefold()
    if words not in set(Unneeded):
        return None, (_problem(f"the heading has to say why, as one of {forms}"),)
    evidence = read_section(markdown, text.strip(" :.#*_"))
    if not evidence:
        return None, (_problem("give the evidence below the heading, in at most 4,000 characters"),)
    return NothingToDo(why=Unneeded(words), evidence=evidence), ()


def _problem(message: str) -> Problem:
    return Problem(place=HEADING, message=message, fatal=False)
