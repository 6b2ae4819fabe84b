"""Markdown as a flat list of the blocks a reader sees: headings, texts, table rows, code, raw HTML."""

import re
from collections.abc import Iterator, Sequence
from enum import Enum

from markdown_it import MarkdownIt
from markdown_it.token import Token

from forge_bot.engine.values import Frozen

# Two rules of CommonMark are off. A text line above `---` stays a text line: models put rules under paragraphs without a
# blank line, and nobody means a heading by it. And `[MAJOR]: leak` is a finding, not the definition of a link.
_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["lheading", "reference"])

_BREAKS = {"softbreak", "hardbreak"}
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
# Characters that show nothing: a file of them is empty to a reader.
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad\u200e\u200f"))


class Kind(Enum):
    """What sort of block a reader sees."""

    HEADING = "heading"
    TEXT = "text"
    ROW = "row"
    CODE = "code"
    HTML = "html"
    RULE = "rule"


class Span(Frozen):
    """A run of characters in one style."""

    text: str
    strong: bool = False


class Block(Frozen):
    """One block, with where it stands: it fills the lines from `line` up to `end`, counted from 0."""

    kind: Kind
    line: int = 0
    end: int = 0
    level: int = 0
    spans: tuple[Span, ...] = ()
    cells: tuple[str, ...] = ()
    header: bool = False
    fence: str | None = None
    quoted: bool = False
    depth: int = 0
    starts_item: bool = False

    @property
    def text(self) -> str:
        """What a reader sees, without markup; soft and hard breaks are line ends."""
        return "".join(span.text for span in self.spans)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the text, without blank ones."""
        return tuple(line.strip() for line in self.text.split("\n") if line.strip())

    @property
    def bold_lead(self) -> str:
        """The bold words a text starts with; empty if it starts otherwise."""
        spans = [span for span in self.spans if span.text.strip()]
        lead = next((place for place, span in enumerate(spans) if not span.strong), len(spans))
        return "".join(span.text for span in spans[:lead]).strip()

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it for a reader."""
        return not (self.text + "".join(self.cells)).translate(_INVISIBLE).strip()


def read_blocks(markdown: str) -> tuple[Block, ...]:
    """All blocks in the order of the text, as CommonMark with tables sees them (https://spec.commonmark.org/0.31.2/).

    Struck-out words, comments and pictures are left out of the text; code spans are text.
    """
    return tuple(_blocks(_PARSER.parse(markdown)))


def one_line(text: str) -> str:
    """The text with every run of white space made one blank."""
    return " ".join(text.translate(_INVISIBLE).split())


def _blocks(tokens: Sequence[Token]) -> Iterator[Block]:
    quotes = depth = 0
    fresh = False
    for place, token in enumerate(tokens):
        quotes += token.nesting * token.type.startswith("blockquote")
        depth += token.nesting * token.type.startswith("list_item")
        fresh = fresh or token.type == "list_item_open"
        block = _leaf(token, tokens, place + 1)
        if block is not None:
            line, end = token.map or (0, 0)
            where = {"line": line, "end": end, "quoted": quotes > 0, "depth": depth, "starts_item": fresh and depth > 0}
            yield block.model_copy(update=where)
            fresh = False


def _leaf(token: Token, tokens: Sequence[Token], after: int) -> Block | None:
    """The block that begins with this token, if one does."""
    match token.type:
        case "heading_open":
            return Block(kind=Kind.HEADING, level=int(token.tag[1:]), spans=_spans(tokens[after]))
        case "paragraph_open":
            return Block(kind=Kind.TEXT, spans=_spans(tokens[after]))
        case "tr_open":
            cells = tuple("".join(span.text for span in _spans(inline)).strip() for inline in _row(tokens, after))
            return Block(kind=Kind.ROW, cells=cells, header=tokens[after].type == "th_open")
        case "fence":
            return Block(kind=Kind.CODE, spans=(Span(text=token.content),), fence=token.info)
        case "code_block":
            return Block(kind=Kind.CODE, spans=(Span(text=token.content),))
        case "html_block":
            return Block(kind=Kind.HTML, spans=(Span(text=_TAG.sub("", _COMMENT.sub("", token.content))),))
        case "hr":
            return Block(kind=Kind.RULE)
        case _:
            return None


def _row(tokens: Sequence[Token], start: int) -> Iterator[Token]:
    for token in tokens[start:]:
        if token.type == "tr_close":
            return
        if token.type == "inline":
            yield token


def _spans(inline: Token) -> tuple[Span, ...]:
    spans: list[Span] = []
    strong = struck = 0
    for child in inline.children or ():
        strong += child.nesting * child.type.startswith("strong")
        struck += child.nesting * (child.type in {"s_open", "s_close"})
        text = "\n" if child.type in _BREAKS or _is_break(child) else child.content
        if struck or child.type in {"html_inline", "image"} and text != "\n":
            continue
        if text:
            spans.append(Span(text=text, strong=strong > 0))
    return tuple(spans)


def _is_break(child: Token) -> bool:
    return child.type == "html_inline" and child.content.lower().startswith("<br")
