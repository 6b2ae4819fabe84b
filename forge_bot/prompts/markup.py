"""Lay out a text's blocks as a page, and find what Markdown itself hides."""

from collections import deque
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from markdown_it.common.utils import mdTrim
from markdown_it.helpers import parseLinkDestination
from markdown_it.token import Token

from forge_bot.prompts.diagrams import undrawn
from forge_bot.prompts.html_page import FRAMES, Page
from forge_bot.prompts.inlines import Inlines, read_inlines
from forge_bot.prompts.markdown_blocks import Blocks, Definition
from forge_bot.prompts.markdown_links import is_plain_word, label_end, spaced_address
from forge_bot.prompts.removals import RemovalKind, RemovedSpan
from forge_bot.prompts.tex_formulas import hidden_in_formula

# The end of an HTML block that is no element. Browsers end it at the first ">"; its author wanted
# to hide all of it.
_SECTIONS = (
    ("<?", "?>", RemovalKind.PROCESSING_INSTRUCTION),
    ("<![CDATA[", "]]>", RemovalKind.CDATA),
)


class _Cell(NamedTuple):
    """The text between two pipes and the offset of each character.

    An escaped pipe in the source is one pipe in the text.
    """

    text: str
    places: list[int]
    start: int
    end: int


_NO_CELL = _Cell("", [], 0, 0)


class Code(NamedTuple):
    """A code block or code span: its span of the source, and its content."""

    start: int
    end: int
    content: str


class Layout(NamedTuple):
    """The page of a text, its code, and the spans that are hidden regardless of the page's HTML."""

    page: Page
    hidden: list[RemovedSpan]
    code: list[Code]


def lay_out(blocks: Blocks) -> Layout:
    """Lay out the blocks of a text."""
    maker = _Maker(blocks)
    for token in blocks.tokens:
        maker.add(token)
    return Layout(maker.page, maker.hidden(), maker.code)


class _Maker:
    def __init__(self, blocks: Blocks) -> None:
        self.page = Page()
        self.code: list[Code] = []
        self._blocks = blocks
        self._hidden: list[RemovedSpan] = []
        self._labels = {definition.label for definition in blocks.definitions}
        self._notes = {
            token.meta["label"] for token in blocks.tokens if token.type == "footnote_open"
        }
        self._used_labels: set[str] = set()
        self._used_notes: set[str] = set()
        self._row: deque[_Cell] = deque()
        self._columns = 0
        self._hashes = ""

    def add(self, token: Token) -> None:
        match token.type:
            case "inline":
                self._add_inline(token)
            case "html_block":
                self._add_html(token)
            case "fence" | "code_block":
                self._add_code(token)
            case "too_deep":
                self._hide(*self._stretch(token), RemovalKind.TOO_DEEP)
            case "hr":
                self.page.render("<hr />")
            case _:
                self._add_tag(token)

    def hidden(self) -> list[RemovedSpan]:
        """Return all hidden spans.

        All blocks must be laid out before, so that all uses of labels are known.
        """
        definitions = chain.from_iterable(
            self._definition_spans(definition) for definition in self._blocks.definitions
        )
        return [*self._hidden, *definitions, *self._footnote_spans()]

    def _add_tag(self, token: Token) -> None:
        match token.type:
            case "table_open" | "table_close":
                self._columns = 0
            case "tr_open":
                self._row = deque(_read_row(self._blocks.text, *self._stretch(token)))
            case "th_open":
                self._columns += 1
            case "tr_close":
                self._hide_surplus()
            case "heading_open":
                self._hashes = token.markup if token.markup.startswith("#") else ""
            case "heading_close":
                self._hashes = ""
            case _:
                pass
        if token.tag in FRAMES and not token.hidden:
            slash, attributes = (
                ("/", "") if token.nesting < 0 else ("", ' x=""' if token.attrs else "")
            )
            self.page.render(f"<{slash}{FRAMES[token.tag]}{attributes}>")

    def _add_inline(self, token: Token) -> None:
        if self._columns:
            text, places, *_ = self._row.popleft() if self._row else _NO_CELL
        elif self._hashes:
            start = self._blocks.text.find(
                token.content, self._stretch(token)[0] + len(self._hashes)
            )
            text, places = token.content, list(range(start, start + len(token.content)))
        else:
            text, places = self._lines(token)
        inlines = read_inlines(text, self._labels, self._notes)
        self._used_labels |= inlines.labels
        self._used_notes |= inlines.footnotes
        for start, end, kind in inlines.hidden:
            self._hide(places[start], places[end - 1] + 1, kind)
        for start, end, label in inlines.notes:
            if not is_plain_word(label):
                self._hide(places[start], places[end - 1] + 1, RemovalKind.FOOTNOTE_LABEL)
        self.code += [
            Code(places[start], places[end - 1] + 1, text[start:end]) for start, end in inlines.code
        ]
        self._lay_inlines(text, places, inlines)
        self.page.end_block()

    def _lay_inlines(self, text: str, places: Sequence[int], inlines: Inlines) -> None:
        reached = 0
        markup = [(start, end, "") for start, end in inlines.markup]
        for start, end, html in sorted(
            [*markup, *((at, at, html) for at, html in inlines.rendered)]
        ):
            self.page.words(text[reached:start], places[reached:start])
            if html:
                self.page.render(html)
            self.page.raw(text[start:end], places[start:end])
            reached = end
        self.page.words(text[reached:], places[reached:])

    def _add_html(self, token: Token) -> None:
        text, places = self._lines(token)
        text += "\n"
        places.append(places[-1] + 1 if places else self._stretch(token)[1])
        for opening, closing, kind in _SECTIONS:
            if text.startswith(opening) and (end := text.find(closing, len(opening))) >= 0:
                self._hide(places[0], places[end + len(closing) - 1] + 1, kind)
        self.page.raw(text, places)
        self.page.end_block()

    def _add_code(self, token: Token) -> None:
        info = token.info.strip()
        self.page.render('<pre lang="">' if info else "<pre>")
        self.page.words(*self._lines(token))
        self.page.render("</pre>")
        first_line = (token.map or (0, 0))[0]
        start = (
            self._blocks.ends[first_line]
            if token.type == "fence"
            else self._blocks.starts[first_line]
        )
        self.code.append(Code(start, self._stretch(token)[1], token.content))
        if not info:
            return
        self._add_drawing(token, info.split(maxsplit=1)[0].casefold())
        start = self._blocks.text.find(info, self._stretch(token)[0] + len(token.markup))
        language = info.split(maxsplit=1)[0]
        kept = (
            len(language)
            if is_plain_word(language)
            and all(char.isalnum() or char in "+#.-_,:{}" for char in language)
            else 0
        )
        if len(info) > kept:
            self._hide(start + kept, start + len(info), RemovalKind.FENCE_INFO)

    def _add_drawing(self, token: Token, language: str) -> None:
        """Hide what GitHub does not draw of a formula or diagram in a code block."""
        if language not in {"math", "mermaid"}:
            return
        text, places = self._lines(token)
        start, end = text.find("\n") + 1, len(text)
        if start and text.rpartition("\n")[2].strip().startswith(token.markup):
            end = text.rfind("\n")
        found = (
            hidden_in_formula(text, start, end) if language == "math" else undrawn(text, start, end)
        )
        for first, stop, kind in found if 0 < start < end else ():
            self._hide(places[first], places[stop - 1] + 1, kind)

    def _hide_surplus(self) -> None:
        """Hide cells beyond the header's columns, which are not shown."""
        if any(cell.text.strip() for cell in self._row):
            self._hide(self._row[0].start, self._row[-1].end, RemovalKind.TABLE_CELL)
        self._row.clear()

    def _definition_spans(self, definition: Definition) -> list[RemovedSpan]:
        """Return a definition that no link uses.

        Of other definitions return the title, and an address that is made of words.
        """
        text, places = self._joined(definition.first_line, definition.end_line)
        if not definition.counts or definition.label not in self._used_labels:
            return [RemovedSpan(places[0], places[-1] + 1, RemovalKind.LINK_REFERENCE_DEFINITION)]
        start = label_end(text, 0) + 2
        while text[start : start + 1].isspace():
            start += 1
        end = parseLinkDestination(text, start, len(text)).pos
        title = text[end:].strip()
        spans: list[RemovedSpan] = []
        if len(title) > len('""'):
            first, last = text.index(title, end), len(text.rstrip()) - 1
            # Without any title, a quotation on the next line would become the title.
            keep_quotes = self._begins_like_title(definition.end_line)
            spans.append(
                RemovedSpan(
                    places[first] + 1 if keep_quotes else places[end],
                    places[last] + (not keep_quotes),
                    RemovalKind.LINK_TITLE,
                )
            )
        return spans + [
            RemovedSpan(places[span.start], places[span.end], span.kind)
            for span in spaced_address(text, start, end)
        ]

    def _begins_like_title(self, line: int) -> bool:
        return line < len(self._blocks.starts) and self._blocks.text.startswith(
            ('"', "'", "("), self._blocks.starts[line]
        )

    def _footnote_spans(self) -> list[RemovedSpan]:
        """Return footnotes without a reference and repeated ones, which are not shown."""
        spans: list[RemovedSpan] = []
        seen: set[str] = set()
        for token in self._blocks.tokens:
            if token.type != "footnote_open":
                continue
            label, start = token.meta["label"], token.meta["start"]
            if label in seen or label not in self._used_notes:
                length = len(self._blocks.text[start : self._stretch(token)[1]].rstrip())
                spans.append(RemovedSpan(start, start + length, RemovalKind.FOOTNOTE))
            elif not is_plain_word(token.meta["written"]):
                spans.append(
                    RemovedSpan(
                        start,
                        start + len("[^]:") + len(token.meta["written"]),
                        RemovalKind.FOOTNOTE_LABEL,
                    )
                )
            seen.add(label)
        return spans

    def _lines(self, token: Token) -> tuple[str, list[int]]:
        first, end = token.map or (0, 0)
        return self._joined(first, end)

    def _joined(self, first: int, end: int) -> tuple[str, list[int]]:
        """Return the content of these lines, joined by newlines, with each character's place."""
        places: list[int] = []
        for line in range(first, end):
            places.extend(range(self._blocks.starts[line], self._blocks.ends[line] + 1))
        places = places[:-1]
        text = "\n".join(
            self._blocks.text[self._blocks.starts[line] : self._blocks.ends[line]]
            for line in range(first, end)
        )
        return text, places

    def _stretch(self, token: Token) -> tuple[int, int]:
        first, end = token.map or (0, 1)
        return self._blocks.starts[first], self._blocks.ends[end - 1]

    def _hide(self, start: int, end: int, kind: RemovalKind) -> None:
        if end > start:
            self._hidden.append(RemovedSpan(start, end, kind))


def _read_row(source: str, start: int, end: int) -> list[_Cell]:
    """Return the cells of the row between two offsets of the source, as markdown-it splits them.

    Source: GFM specification, 4.10.
    """
    row = mdTrim(source[start:end])
    start = source.find(row, start)
    pipes = [
        index for index, char in enumerate(row) if char == "|" and row[index - 1 : index] != "\\"
    ]
    edges = [-1, *pipes, len(row)]
    bounds = [(left + 1, right) for left, right in pairwise(edges)]
    if bounds and bounds[0][0] == bounds[0][1]:
        del bounds[0]
    if bounds and bounds[-1][0] == bounds[-1][1]:
        del bounds[-1]
    return [_cell_between(row, left, right, start) for left, right in bounds]


def _cell_between(row: str, left: int, right: int, start: int) -> _Cell:
    kept = [
        index
        for index in range(left, right)
        if not (row[index] == "\\" and row[index + 1 : index + 2] == "|" and index + 1 < right)
    ]
    return _Cell(
        "".join(row[index] for index in kept),
        [start + index for index in kept],
        start + left,
        start + right,
    )
