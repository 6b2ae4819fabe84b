"""The HTML page that a browser would get for a text, with the source place of each character.

HTML does not end where Markdown ends it: a comment or a quoted attribute that an HTML block leaves
open swallows the paragraphs after it. So the blocks are joined to one page, as a renderer does, and
the page is read as HTML. The page holds raw HTML as written. Of words it holds only the characters
that can end something in HTML; one letter represents most words.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

# Markdown constructs that end the HTML elements opened inside them, with their short form on the
# page.
FRAMES = {
    "blockquote": "blockquote",
    "li": "li",
    **dict.fromkeys(("p", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"), "p"),
}
_INERT = str.maketrans('<>"&', "xxxx")  # a renderer writes these as entities in words


@dataclass(frozen=True)
class _Piece:
    """A run of the page.

    `places` has one source offset for each character; the source text ends at `stop`.
    """

    places: Sequence[int]
    stop: int
    raw: bool
    width: int


@dataclass
class Page:
    """A page built from left to right.

    `render`, `words` and `raw` add to it, `end_block` closes a block.
    """

    _text: list[str] = field(default_factory=list[str])
    _pieces: list[_Piece] = field(default_factory=list[_Piece])
    _firsts: list[int] = field(default_factory=list[int])
    _blocks: list[int] = field(default_factory=list[int])
    _size: int = 0
    _reached: int = 0
    has_html: bool = False

    @property
    def text(self) -> str:
        return "".join(self._text)

    def render(self, html: str) -> None:
        """Add HTML that Markdown makes and the source does not hold."""
        self._add(html, [self._reached] * len(html), self._reached, raw=False, width=0)

    def words(self, source: str, places: Sequence[int]) -> None:
        """Add words, which are shown unchanged, with their places."""
        if source:
            # An apostrophe is the only character in words that can end an attribute.
            text, width = (source.translate(_INERT), 1) if "'" in source else ("x", 0)
            self._add(text, places[: len(text)], places[-1] + 1, raw=False, width=width)

    def raw(self, source: str, places: Sequence[int]) -> None:
        """Add HTML from the source, with the places of its characters."""
        if source:
            self.has_html = True
            self._add(source, places, places[-1] + 1, raw=True, width=1)

    def end_block(self) -> None:
        """End the block. Later additions belong to another block."""
        self._blocks.append(self._size)

    def is_raw(self, at: int) -> bool:
        """Return whether the character there was written in the source as HTML."""
        return self._piece(at)[1].raw

    def source_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the source span of a span of the page, which must not be empty."""
        first, piece = self._piece(start)
        begin = piece.places[start - first]
        first, piece = self._piece(end - 1)
        index = end - 1 - first
        return begin, max(
            begin,
            piece.stop if index == len(piece.places) - 1 else piece.places[index] + piece.width,
        )

    def block_end(self, at: int) -> int:
        """Return where on the page the block ends that holds this place."""
        index = bisect_right(self._blocks, at)
        return self._blocks[index] if index < len(self._blocks) else self._size

    def _add(self, text: str, places: Sequence[int], stop: int, *, raw: bool, width: int) -> None:
        self._text.append(text)
        self._pieces.append(_Piece(places, stop, raw, width))
        self._firsts.append(self._size)
        self._size += len(text)
        self._reached = stop

    def _piece(self, at: int) -> tuple[int, _Piece]:
        index = bisect_right(self._firsts, at) - 1
        return self._firsts[index], self._pieces[index]
