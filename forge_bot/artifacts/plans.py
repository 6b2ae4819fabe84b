"""Read the plan of a change: its files, whether it is one task, and what later documents need."""

import re
from collections.abc import Sequence

from forge_bot.artifacts.change_name import read_change_name
from forge_bot.artifacts.sections import blocks_below, read_section

_TASKS = re.compile(r"tasks?\s*[:：]\s*(?P<count>one|several|1|[2-9]|\d\d+)\b", re.IGNORECASE)
_ONE = {"one", "1"}
_FILE = re.compile(r"[\w.@+~-]+(?:/[\w.@+~-]+)*\.[A-Za-z0-9_]{1,12}|[\w.@+~-]+(?:/[\w.@+~-]+)+")
_BESIDE = re.compile(
    r"(?:^|[/_.-])(?:tests?|specs?|docs?|changelog|changes|readme)(?:$|[/_.-])", re.IGNORECASE
)
_PROSE = (".md", ".rst", ".txt", ".adoc")

MOST_SOURCE_FILES = 2
MOST_FILES = 6
"""A design that says nothing about its tasks is one task up to these numbers of files."""


def document_facts(text: str, *, plans: bool, carries: Sequence[str]) -> dict[str, object]:
    """Return what later documents of our own process need of a document, as fields of Inspection.

    `plans` says that the document plans the change; `carries` names the sections to repeat.
    """
    named = read_change_name(text) if plans else None
    return {
        "title": named.title if named is not None else "",
        "one_task": plans and is_one_task(text),
        "sections": {name: part for name in carries if (part := read_section(text, name))},
    }


def planned_files(design: str, heading: str = "Changes") -> tuple[str, ...]:
    """Return the files that a plan changes: the first path in backticks of each bullet."""
    found: dict[str, None] = {}
    for block in blocks_below(design, heading):
        if block.depth == 1 and block.starts_item and block.spans:
            named = next((span.text.strip() for span in block.spans if span.code), "")
            if _FILE.fullmatch(named):
                found[named] = None
    return tuple(found)


def is_one_task(design: str, heading: str = "Changes") -> bool:
    """Return whether a plan is one task.

    The plan says it in a line of its own, `Tasks: one` or `Tasks: several`. If it does not, the
    files decide: at most two beside tests and documents, and at most six in all. A plan that names
    no file is not known to be one task.
    """
    for block in blocks_below(design, heading):
        for line in block.lines:
            if (said := _TASKS.match(line.strip("*_- "))) is not None:
                return said["count"].lower() in _ONE
    files = planned_files(design, heading)
    source = [name for name in files if not _is_beside(name)]
    return 0 < len(files) <= MOST_FILES and len(source) <= MOST_SOURCE_FILES


def _is_beside(path: str) -> bool:
    return path.lower().endswith(_PROSE) or _BESIDE.search(path) is not None
