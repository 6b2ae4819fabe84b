"""Read the outline of a design: the files it changes, its tests, risks and open decisions."""

import re
from collections.abc import Iterable

from forge_bot.artifacts.markdown import Block, BlockKind, one_line, read_blocks
from forge_bot.values import Frozen

_APPROACH = re.compile(r"approach\b|solution\b|summary\b", re.IGNORECASE)
_CHANGES = re.compile(r"(?:file )?changes\b|files (?:to change|changed)\b", re.IGNORECASE)
_TESTS = re.compile(r"test(?:s|ing)?\b", re.IGNORECASE)
_RISKS = re.compile(r"risks?\b", re.IGNORECASE)
_DECISIONS = re.compile(r"decisions?\b|open questions?\b", re.IGNORECASE)
_NEEDS_YOU = re.compile(r"needs you\s*[:：]\s*(?P<what>\S.*)", re.IGNORECASE | re.DOTALL)
_ORDINARY = re.compile(r"none\b|n/a\b|no risks?\b", re.IGNORECASE)
_DEMANDS = re.compile(r"\s*\((?:R-\d+(?:\s*[,–-]\s*)?)+\)")
_POINTER = re.compile(r"(?:see|as) (?:below|above|described)\.?", re.IGNORECASE)
_A_TEST = re.compile(r"test|spec", re.IGNORECASE)


class FileChange(Frozen):
    """A file that a design changes, and the change in a sentence."""

    path: str
    change: str

    @property
    def is_test(self) -> bool:
        """Return whether the path is that of a test, by its name or a folder's."""
        return _A_TEST.search(self.path) is not None


class DesignOutline(Frozen):
    """The parts of a design that a person looks at first.

    `approach` is its first paragraph as it is written. `risks` leaves out a sentence that says
    there are none. `to_decide` holds what the design marks as `Needs you`.
    """

    approach: str = ""
    files: tuple[FileChange, ...] = ()
    tests: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    to_decide: tuple[str, ...] = ()


def read_outline(design: str) -> DesignOutline:
    """Return the outline of a design, by its headings of level 2.

    A file is the code that begins an item under `Changes`; a test is the code that begins an item
    under `Test Strategy`. A document without these headings has an empty outline.
    """
    sections = tuple(_sections(design))
    files = _items(sections, _CHANGES)
    return DesignOutline(
        approach=_first_paragraph(design, sections),
        files=tuple(
            FileChange(path=path, change=_about(block, path))
            for block in files
            if (path := _leading_code(block)) and block.depth == 1
        ),
        tests=tuple(name for block in _items(sections, _TESTS) if (name := _test_name(block))),
        risks=tuple(
            one_line(block.text)
            for block in _items(sections, _RISKS)
            if block.depth == 1 and not _ORDINARY.match(block.text)
        ),
        to_decide=tuple(
            one_line(found["what"])
            for block in _items(sections, _DECISIONS)
            if (found := _NEEDS_YOU.match(block.text)) is not None
        ),
    )


def _sections(design: str) -> Iterable[tuple[str, Block]]:
    """Yield each block with the heading of level 2 above it."""
    heading = ""
    for block in read_blocks(design):
        if block.kind is BlockKind.HEADING and not block.quoted:
            heading = one_line(block.text) if block.level == 2 else heading  # noqa: PLR2004 - a level
        else:
            yield heading, block


def _first_paragraph(design: str, sections: Iterable[tuple[str, Block]]) -> str:
    for title, block in sections:
        if _APPROACH.match(title) and block.kind is BlockKind.TEXT and not block.depth:
            return "\n".join(re.split(r"\r\n|\r|\n", design)[block.line : block.end])
    return ""


def _items(sections: Iterable[tuple[str, Block]], heading: re.Pattern[str]) -> tuple[Block, ...]:
    """Return the beginnings of list items below a heading."""
    return tuple(
        block
        for title, block in sections
        if block.kind is BlockKind.TEXT and block.starts_item and heading.match(title)
    )


def _leading_code(block: Block) -> str:
    """Return the code that an item begins with; empty if it begins with words."""
    first = next((span for span in block.spans if span.text.strip()), None)
    return first.text.strip() if first is not None and first.code else ""


def _about(block: Block, path: str) -> str:
    words = one_line(block.text).removeprefix(path)
    change = one_line(_DEMANDS.sub("", words, count=1)).lstrip(":：–—- ")
    return "" if _POINTER.fullmatch(change) else change


def _test_name(block: Block) -> str:
    """Return the name of a test; empty for a file of tests, a command or words."""
    name = _leading_code(block)
    return name if name and not re.search(r"[\s/]|\.\w{1,5}$", name) else ""
