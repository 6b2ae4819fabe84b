"""Which block of CommonMark each line of a text belongs to: containers first, then the leaf, one
line after the other.

The rules are those of https://spec.commonmark.org/0.31.2/, appendix "A parsing strategy". Programs
differ in a few places that the text leaves open; there two readings are offered, and who asks takes
what both agree in.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from forge_bot.gate.markdown.html_blocks import ENDS_AT_BLANK, html_start

DEEPEST = 100
"""Nested quotes and lists that are followed. A text with more of them says nothing at all, and
takes no time."""


class LineKind(Enum):
    """What sort of leaf a line stands in."""

    TEXT = "text"
    CODE = "code"
    HTML = "html"


@dataclass(slots=True)
class Leaf:
    """One block without blocks inside: where its lines stand, and what they say without the marks
    of quotes and lists.
    """

    kind: LineKind
    quoted: bool
    numbers: list[int] = field(default_factory=list[int])
    lines: list[str] = field(default_factory=list[str])
    fence: str = ""
    end: re.Pattern[str] | None = None
    paragraph: bool = False
    defines: bool = False
    """It may begin with the definition of a link or a footnote, of which nothing, or nothing in
    this place, is shown."""

    def add(self, number: int, line: str) -> None:
        """One more line."""
        self.defines = self.defines or ("]:" in line and (self.lines or [line])[0].startswith("["))
        self.numbers.append(number)
        self.lines.append(line)


@dataclass(slots=True)
class _Container:
    """A quote, or a list item whose content begins `width` columns to the right."""

    width: int = 0
    bare: bool = False

    @property
    def quote(self) -> bool:
        return self.width == 0


class TooDeep(ValueError):
    """Quotes and lists are nested deeper than anybody reads."""


# So many columns to the right, text is code, but not in the middle of a paragraph.
_CODE = 4

_HEADING = re.compile(r"#{1,6}(?:[ ]|$)")
_UNDERLINE = re.compile(r"(?:=+|-+) *$")
_RULE = re.compile(r"(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$")
_FENCE = re.compile(r"(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_ITEM = re.compile(r"(?P<mark>[-+*]|(?P<number>\d{1,9})[.)])(?P<gap> +|$)")


def read_leaves(lines: Iterable[str], *, eager: bool) -> list[Leaf]:
    """All leaves in the order of their first lines. Raises TooDeep.

    `eager`, as cmark reads: a lazy line after a quote or list may begin any list or a lone tag.
    Otherwise, as markdown-it reads, it goes on with the paragraph unless it could break one.
    """
    reader = _Reader(eager)
    for number, line in enumerate(lines):
        reader.take(number, line.expandtabs(4))
    return [leaf for leaf in reader.leaves if leaf.numbers]


class _Reader:
    """The open containers and the open leaf, after the lines so far."""

    def __init__(self, eager: bool) -> None:
        self._eager = eager
        self.leaves: list[Leaf] = []
        self._open: list[_Container] = []
        self._leaf: Leaf | None = None
        self._line = ""
        self._length = 0

    def take(self, number: int, line: str) -> None:
        self._line, self._length = line, len(line.rstrip(" "))
        matched, column = self._match()
        if matched == len(self._open) and self._goes_on(number, column):
            return
        matched, column, started = self._start(number, matched, column)
        if started:
            return
        blank = column >= self._length
        leaf = self._leaf
        if leaf is not None and leaf.paragraph and not blank:
            # Also where containers did not match: a lazy line goes on with the paragraph inside of
            # them.
            leaf.add(number, line[column:].strip(" "))
            return
        self._close(matched)
        if not blank:
            self._begin(Leaf(LineKind.TEXT, self._quoted, paragraph=True)).add(
                number, line[column:].strip(" ")
            )

    @property
    def _quoted(self) -> bool:
        return any(container.quote for container in self._open)

    @property
    def _defines(self) -> bool:
        """Whether the open paragraph may define links: for cmark the definition is over, for others
        it goes on to where a title ends.
        """
        return self._leaf is not None and self._leaf.defines

    def _begin(self, leaf: Leaf) -> Leaf:
        self._leaf = leaf
        self.leaves.append(leaf)
        for container in reversed(self._open):
            if not container.bare:
                break
            container.bare = False
        return leaf

    def _close(self, matched: int) -> None:
        """Close the containers after the first `matched` ones, and the leaf."""
        del self._open[matched:]
        self._leaf = None

    def _indent(self, column: int) -> int:
        end = column
        while end < self._length and self._line[end] == " ":
            end += 1
        return end - column

    def _match(self) -> tuple[int, int]:
        """How many of the open containers this line is inside of, and the column after their
        marks.
        """
        column = 0
        for count, container in enumerate(self._open):
            indent = self._indent(column)
            if container.quote:
                if indent >= _CODE or self._line[column + indent : column + indent + 1] != ">":
                    return count, column
                column += indent + 1
                column += self._line[column : column + 1] == " "
            elif column >= self._length:
                if container.bare:
                    return count, column
            elif indent >= container.width:
                column += container.width
            else:
                return count, column
        return len(self._open), column

    def _goes_on(self, number: int, column: int) -> bool:
        """Whether the open leaf takes this line as it is: code and HTML do until their end."""
        leaf, text = self._leaf, self._line[column:]
        if leaf is None or leaf.kind is LineKind.TEXT:
            return False
        blank = column >= self._length
        if leaf.kind is LineKind.CODE and not leaf.fence:
            return blank or self._indent(column) >= _CODE
        if leaf.end is ENDS_AT_BLANK and blank:
            self._leaf = None
            return True
        leaf.add(number, text)
        if leaf.fence:
            mark = text.strip(" ")
            if (
                self._indent(column) < _CODE
                and len(mark) >= len(leaf.fence)
                and not mark.strip(leaf.fence[0])
            ):
                self._leaf = None
        elif leaf.end is not None and leaf.end.search(text):
            self._leaf = None
        return True

    def _start(self, number: int, matched: int, column: int) -> tuple[int, int, bool]:
        """Open the containers and the leaf that begin on this line. True when a leaf took the whole
        of it.
        """
        while column < self._length:
            indent = self._indent(column)
            at = column + indent
            text = self._line[at : self._length]
            within = self._leaf is not None and self._leaf.paragraph
            firmly = within and not (self._eager and (matched < len(self._open) or self._defines))
            if indent >= _CODE:
                return matched, column, not within and self._code(number, matched)
            if text[0] == ">":
                self._enter(matched, _Container())
                column = at + 1 + (self._line[at + 1 : at + 2] == " ")
            elif self._whole_line(number, matched, text, within, firmly):
                return matched, column, True
            elif (item := _ITEM.match(text)) is not None and not (
                firmly and _only_prose(item, text)
            ):
                gap = len(item["gap"])
                bare = item.end() >= len(text)
                inside = len(item["mark"]) + (1 if bare or gap > _CODE else gap)
                self._enter(matched, _Container(indent + inside, bare))
                column = min(at + inside, self._length)
            else:
                break
            matched = len(self._open)
        return matched, column, False

    def _enter(self, matched: int, container: _Container) -> None:
        self._close(matched)
        for outer in self._open:
            outer.bare = False
        self._open.append(container)
        if len(self._open) > DEEPEST:
            raise TooDeep

    def _code(self, number: int, matched: int) -> bool:
        self._close(matched)
        self._begin(Leaf(LineKind.CODE, self._quoted)).add(number, "")
        return True

    def _whole_line(self, number: int, matched: int, text: str, within: bool, firmly: bool) -> bool:
        """Headings, rules, fences and HTML, which take the line from where they begin."""
        if (
            within
            and matched == len(self._open)
            and _UNDERLINE.fullmatch(text)
            and (self._eager or not self._defines)
        ):
            self._leaf = None
            return True
        if _HEADING.match(text):
            self._close(matched)
            self._begin(Leaf(LineKind.TEXT, self._quoted)).add(number, text)
            self._leaf = None
        elif (fence := _FENCE.match(text)) is not None:
            self._close(matched)
            self._begin(Leaf(LineKind.CODE, self._quoted, fence=fence["fence"])).add(number, text)
        elif _RULE.fullmatch(text):
            self._close(matched)
        elif (end := html_start(text, firmly)) is not None:
            self._close(matched)
            leaf = self._begin(Leaf(LineKind.HTML, self._quoted, end=end))
            leaf.add(number, text)
            if end.search(text):
                self._leaf = None
        else:
            return False
        return True


def _only_prose(item: re.Match[str], text: str) -> bool:
    """Whether a mark of a list in the middle of a paragraph is none: `1986. A great year`, or
    nothing behind it.
    """
    return item.end() >= len(text) or (item["number"] is not None and int(item["number"]) != 1)
