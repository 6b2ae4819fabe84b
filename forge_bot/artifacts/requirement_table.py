"""The table of requirements that a verifier or reviewer wrote: Requirement, Files, Tests, State."""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from forge_bot.artifacts.markdown import read_blocks
from forge_bot.values import Frozen

_CODE = re.compile(r"`([^`]+)`")
_QUOTED = re.compile(r"[“„«]([^“”„«»]+)[”“»]")
"""A title in typographic quotes, as tests of JavaScript and Ruby are named in a text."""
_CASES = re.compile(r"(`\w+`)\s*\([^()]*\)")
"""What stands in parentheses behind the name of a function: the cases that it tries."""
_NO_NAME = re.compile(r"(?:[-–—]|none|n/a)$", re.IGNORECASE)
"""What stands in a cell that names nothing."""
_AS_ABOVE = re.compile(
    r"^\s*(?:both|the same|ditto|as above"
    r"|(?:all|its|these) (?:new )?(?:tests|two|three|four|five))\b|\bin both\b",
    re.IGNORECASE,
)
"""Words that stand for the tests of the row above."""

_IDS = re.compile(r"(?:[\W_]*(?:and\s+)?[A-Z]-\d+\b)+")
"""The numbers that a requirement begins with, such as `R-1` or `P-2`."""
_NUMBERED = re.compile(r"[A-Z]-\d+(?=\s*[:：])")

COLUMNS = ("requirement", "files", "tests", "state")
MET = ("met", "left out, as decided")
"""The states with which a requirement needs no more work."""


class Requirement(Frozen):
    """One requirement, and the places that meet it."""

    text: str
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    state: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The numbers that it begins with."""
        numbers = _IDS.match(self.text)
        return tuple(re.findall(r"[A-Z]-\d+", numbers[0])) if numbers is not None else ()


def met(state: str) -> bool:
    """Return whether a state says that a requirement needs no more work."""
    return re.sub(r"^[\W_]+|[\W_]+$", "", state).casefold() in MET


def numbered_requirements(markdown: str) -> tuple[str, ...]:
    """Return the numbers of the requirements that a document lists as `- R-1: …`."""
    numbers = (
        _NUMBERED.match(block.text)
        for block in read_blocks(markdown)
        if block.starts_item and not block.quoted
    )
    return tuple(dict.fromkeys(number[0] for number in numbers if number is not None))


def read_requirements(markdown: str) -> tuple[Requirement, ...]:
    """The rows of the first table with these four columns in this order; empty without one."""
    for table in _tables(MarkdownIt("commonmark").enable("table").parse(markdown)):
        head, *rows = table
        if tuple(cell.strip().casefold() for cell in head) == COLUMNS:
            return tuple(_requirements(rows))
    return ()


def _requirements(rows: list[list[str]]) -> Iterator[Requirement]:
    above: tuple[str, ...] = ()
    for text, files, tests, state in rows:
        named = _names(tests)
        if _AS_ABOVE.search(tests):
            if not (_CODE.search(tests) or _QUOTED.search(tests)):
                named = ()
            named = tuple(dict.fromkeys((*above, *named)))
        yield Requirement(text=text.replace("`", ""), files=_names(files), tests=named, state=state)
        above = named or above


def _tables(tokens: list[Token]) -> list[list[list[str]]]:
    tables: list[list[list[str]]] = []
    for place, token in enumerate(tokens):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in {"th_open", "td_open"}:
            tables[-1][-1].append(tokens[place + 1].content)
    return [table for table in tables if table]


def _names(cell: str) -> tuple[str, ...]:
    """Return a cell's spans of code and quoted titles; without any, the parts between commas."""
    told = _CASES.sub(r"\1", cell)
    titles = _QUOTED.findall(_CODE.sub("", told))
    if spans := [*_CODE.findall(told), *titles]:
        return tuple(filter(None, (span.strip() for span in spans)))
    return tuple(
        name
        for part in cell.split(",")
        if (name := part.strip().strip("`").strip()) and not _NO_NAME.match(name)
    )
