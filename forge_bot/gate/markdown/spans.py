"""Inside one paragraph: the lines that begin in the middle of code, a tag, a comment, a link or
struck-out words.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from forge_bot.gate.markdown.html_blocks import COMMENT, TAG


@dataclass(frozen=True, slots=True)
class InlineTag:
    """A tag of HTML and the line it begins on."""

    line: int
    name: str
    opens: bool


@dataclass(slots=True)
class Spans:
    """What a paragraph hides: its lines, counted from 0, and the tags it holds. Torn: browsers see
    other tags than Markdown does.
    """

    hidden: set[int] = field(default_factory=set[int])
    tags: list[InlineTag] = field(default_factory=list[InlineTag])
    torn: bool = False


_TICKS = re.compile(r"`+")
_STOPS = re.compile(r"[\\`<\[\]~]")
_RAW = re.compile(r"<!--|<\?|<!\[CDATA\[|<![A-Za-z]")
_RAW_ENDS = {"<!--": ("-->", 2), "<?": ("?>", 2), "<![CDATA[": ("]]>", 9)}
_PLAIN_TARGET = re.compile(
    r"\((?:<[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()]*+)*+)(?:["
    r" \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'))?+[ \t]*+\)"
)


def read_spans(lines: Sequence[str]) -> Spans:
    """The lines of a paragraph that a reader would not see as lines of prose. Takes time in
    proportion to their length.
    """
    if len(lines) == 1 and "<" not in lines[0]:
        return Spans()
    text = "\n".join(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines[:-1])]
    scan = _Scan(text)
    spans = list(scan.spans())
    tags = [InlineTag(bisect_right(starts, at) - 1, name, opens) for at, name, opens in scan.tags]
    return Spans(_covered(spans, starts), tags, scan.torn)


def _covered(spans: Sequence[tuple[int, int]], starts: Sequence[int]) -> set[int]:
    """The lines that begin inside of a span: spans may lie in each other, so their edges are
    counted.
    """
    edges = [0] * (len(starts) + 1)
    for begin, end in spans:
        edges[bisect_right(starts, begin)] += 1
        edges[bisect_left(starts, end)] -= 1
    return {line for line, depth in enumerate(accumulate(edges)) if depth > 0}


class _Scan:
    """One walk over a paragraph's text, from left to right as CommonMark reads it."""

    def __init__(self, text: str) -> None:
        self.tags: list[tuple[int, str, bool]] = []
        self.torn = False
        self._last = text.rfind(")")
        self._text = text
        self._ticks: dict[int, list[int]] = {}
        for run in _TICKS.finditer(text):
            self._ticks.setdefault(len(run[0]), []).append(run.start())
        self._brackets: list[int] = []
        self._absent: set[str] = set()
        self._struck: list[int] = []

    def spans(self) -> Iterator[tuple[int, int]]:
        """Begin and end of everything that a line could begin inside of."""
        place = 0
        while (stop := _STOPS.search(self._text, place)) is not None:
            begin, end, covers = self._at(stop.start(), stop[0])
            if covers:
                yield begin, end
            # What is in brackets or struck out is read on; code and tags are passed over whole.
            place = end if stop[0] in {"\\", "`", "<"} else stop.end()

    def _at(self, place: int, sign: str) -> tuple[int, int, bool]:
        """Begin and end of what this sign makes, and whether it covers what lies between."""
        match sign:
            case "\\":
                return place, place + 2, False
            case "`":
                return self._code(place)
            case "<":
                return self._html(place)
            case "[":
                self._brackets.append(place)
                return place, place + 1, False
            case "]":
                return self._link(place)
            case _:
                return self._strike(place)

    def _code(self, place: int) -> tuple[int, int, bool]:
        run = _TICKS.match(self._text, place)
        width = len(run[0]) if run is not None else 1
        closers = self._ticks.get(width, [])
        after = bisect_left(closers, place + width)
        if after == len(closers):
            return place, place + width, False
        return place, closers[after] + width, True

    def _html(self, place: int) -> tuple[int, int, bool]:
        if (tag := TAG.match(self._text, place)) is not None:
            self.tags.append(
                (place, (tag["opens"] or tag["closes"]).lower(), tag["opens"] is not None)
            )
            return place, tag.end(), True
        if (raw := _RAW.match(self._text, place)) is None:
            return place, place + 1, False
        close, width = _RAW_ENDS.get(raw[0], (">", 2))
        end = self._find(close, place + width) + len(close)
        if end < len(close):
            return place, place + 1, False
        comment = COMMENT.match(self._text, place)
        self.torn = self.torn or comment is None or comment.end() != end
        return place, end, True

    def _find(self, close: str, place: int) -> int:
        """Where the closing sign stands; one that was not found once is not looked for again."""
        if close in self._absent:
            return -1
        found = self._text.find(close, place)
        if found < 0:
            self._absent.add(close)
        return found

    def _link(self, place: int) -> tuple[int, int, bool]:
        """A pair of brackets covers its lines, and so does a target in parentheses that does not
        end where it should.
        """
        begin = self._brackets.pop() if self._brackets else place
        if not self._text.startswith("(", place + 1):
            return begin, place + 1, True
        if (target := _PLAIN_TARGET.match(self._text, place + 1)) is not None:
            return begin, target.end(), True
        # Titles may hold parentheses, so an odd target is taken to reach as far as it could.
        return begin, max(self._last, place) + 1, True

    def _strike(self, place: int) -> tuple[int, int, bool]:
        if not self._text.startswith("~~", place):
            return place, place + 1, False
        if self._struck and place and not self._text[place - 1].isspace():
            return self._struck.pop(), place + 2, True
        self._struck.append(place)
        return place, place + 2, False
