"""Markdown as a flat list of the visible blocks (headings, texts, table rows, code, raw HTML), and
the sections of a document.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from forge_bot.text_format import code_span, one_line
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


_MOST_STEPS = 4_000_000
"""Brackets times characters of a paragraph: the parser looks for the end of each bracket."""
TANGLED = "tangled"
"""The token in place of a paragraph that is not parsed."""


def parse_paragraphs(state: "StateCore") -> None:
    """Parse each paragraph as the library does, except one that would keep it busy for minutes."""
    from markdown_it.token import Token

    for token in state.tokens:
        if token.type == "inline":
            token.children = []
            if token.content.count("[") * len(token.content) > _MOST_STEPS:
                token.children = [Token(TANGLED, "", 0, content=token.content)]
            else:
                state.md.inline.parse(token.content, state.md, state.env, token.children)


@cache
def _parser() -> "MarkdownIt":
    """Return a parser for CommonMark with tables and struck-out words, without two rules.

    A text line above `---` stays a text line: models put rules under paragraphs without a blank
    line and do not mean a heading. `[MAJOR]: leak` is a finding, not the definition of a link.
    """
    from markdown_it import MarkdownIt

    parser = (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .disable(["lheading", "reference"])
    )
    parser.core.ruler.at("inline", parse_paragraphs)
    keep_python_names(parser)
    return parser


def keep_python_names(parser: "MarkdownIt") -> None:
    """Let `__main__` and its kind be words: a file `a/__main__.py` is not emphasised."""
    parser.inline.ruler.before("emphasis", "python_name", _python_name)


def _python_name(state: "StateInline", silent: bool) -> bool:  # the parser's own
    name = _PYTHON_NAME.match(state.src, state.pos)
    if name is None or state.src[: state.pos].endswith("_"):
        return False
    if not silent:
        state.pending += name[0]
    state.pos = name.end()
    return True


_PYTHON_NAME = re.compile(r"__[a-z0-9]+(?:_[a-z0-9]+)*__(?!\w)")
_BREAKS = {"softbreak", "hardbreak"}
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
# Invisible characters: a file of them is empty to a reader.
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad\u200e\u200f"))


class BlockKind(Enum):
    """The kind of a visible block."""

    HEADING = "heading"
    TEXT = "text"
    ROW = "row"
    CODE = "code"
    HTML = "html"
    RULE = "rule"


class InlineSpan(Frozen):
    """A run of characters in one style."""

    text: str
    code: bool = False


class Block(Frozen):
    """One block. It fills the lines from `line` up to `end`, counted from 0. `number` is that of an
    item of a numbered list, which it begins.
    """

    kind: BlockKind
    line: int = 0
    end: int = 0
    level: int = 0
    spans: tuple[InlineSpan, ...] = ()
    cells: tuple[str, ...] = ()
    header: bool = False
    quoted: bool = False
    depth: int = 0
    starts_item: bool = False
    number: str = ""

    @property
    def is_heading(self) -> bool:
        """Return whether it is a heading of the document itself, not of a quote."""
        return self.kind is BlockKind.HEADING and not self.quoted

    @property
    def text(self) -> str:
        """The visible text without markup. Soft and hard breaks are line ends."""
        return "".join(span.text for span in self.spans)

    @property
    def words(self) -> str:
        """The text on one line, with its code as code."""
        return _words(self.spans)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the text, without blank ones."""
        return tuple(line.strip() for line in self.text.split("\n") if line.strip())

    @property
    def empty(self) -> bool:
        """Return whether the block has no visible content."""
        return not (self.text + "".join(self.cells)).translate(_INVISIBLE).strip()


def _words(spans: Sequence[InlineSpan]) -> str:
    return one_line("".join(code_span(span.text) if span.code else span.text for span in spans))


# One artifact is read for its headings, verdict, findings and tasks in turn.
@lru_cache(maxsize=2)
def read_blocks(markdown: str) -> tuple[Block, ...]:
    """Return all blocks in the order of the text, as CommonMark with tables.

    Source: https://spec.commonmark.org/0.31.2/. Struck-out words, comments and pictures are left
    out of the text; code spans are text.
    """
    return tuple(_blocks(_parser().parse(markdown)))


def _blocks(tokens: "Sequence[Token]") -> Iterator[Block]:
    quotes = depth = 0
    fresh = False
    number = ""
    for place, token in enumerate(tokens):
        quotes += token.nesting * token.type.startswith("blockquote")
        depth += token.nesting * token.type.startswith("list_item")
        if token.type == "list_item_open":
            fresh, number = True, token.info
        block = _leaf(token, tokens, place + 1)
        if block is not None:
            line, end = token.map or (0, 0)
            yield block.replace(
                line=line,
                end=end,
                quoted=quotes > 0,
                depth=depth,
                starts_item=fresh and depth > 0,
                number=number if fresh and depth > 0 else "",
            )
            fresh = False


def _leaf(token: "Token", tokens: "Sequence[Token]", after: int) -> Block | None:
    match token.type:
        case "heading_open":
            return Block(
                kind=BlockKind.HEADING, level=int(token.tag[1:]), spans=_spans(tokens[after])
            )
        case "paragraph_open":
            return Block(kind=BlockKind.TEXT, spans=_spans(tokens[after]))
        case "tr_open":
            cells = tuple(_words(_spans(inline)) for inline in _row(tokens, after))
            return Block(kind=BlockKind.ROW, cells=cells, header=tokens[after].type == "th_open")
        case "fence" | "code_block":
            return Block(kind=BlockKind.CODE, spans=(InlineSpan(text=token.content),))
        case "html_block":
            words = _TAG.sub("", _COMMENT.sub("", token.content))
            return Block(kind=BlockKind.HTML, spans=(InlineSpan(text=words),))
        case "hr":
            return Block(kind=BlockKind.RULE)
        case _:
            return None


def _row(tokens: "Sequence[Token]", start: int) -> "Iterator[Token]":
    place = start
    while tokens[place].type != "tr_close":
        if tokens[place].type == "inline":
            yield tokens[place]
        place += 1


def _spans(inline: "Token") -> tuple[InlineSpan, ...]:
    spans: list[InlineSpan] = []
    struck = 0
    for child in inline.children or ():
        struck += child.nesting * (child.type in {"s_open", "s_close"})
        text = _text(child)
        if text and not struck:
            spans.append(InlineSpan(text=text, code=child.type == "code_inline"))
    return tuple(spans)


def _text(child: "Token") -> str:
    """Return the visible text of an inline token; tags and pictures have none."""
    if child.type in _BREAKS or (
        child.type == "html_inline" and child.content.lower().startswith("<br")
    ):
        return "\n"
    return "" if child.type in {"html_inline", "image"} else child.content


LONGEST_SECTION = 4_000
"""Characters of a section that another document repeats."""

CAUSE, DEVIATIONS = "Root Cause or Integration Points", "Deviations"
"""The headings of sections that a pull request repeats."""

_LEVEL = 2
"""The level of headings that begin a section; one of a document's title ends there too."""
_NONE = re.compile(r"(?:none|no deviations?)\b", re.IGNORECASE)


def read_section(markdown: str, heading: str) -> str:
    """Return the text below a heading, up to the next one that ends its section; "" without one.

    A text is left out if it has more than `LONGEST_SECTION` characters, or if its open blocks would
    include the text behind it.
    """
    for start, end in _named(markdown, heading):
        text = "\n".join(split_lines(markdown)[start.end : end]).strip()
        return text if len(text) <= LONGEST_SECTION and closes_its_blocks(text) else ""
    return ""


def without_section(markdown: str, heading: str) -> str:
    """Return the document without the sections under a heading of that name."""
    lines = split_lines(markdown)
    for start, end in reversed([*_named(markdown, heading)]):
        del lines[start.line : end]
    return "\n".join(lines)


def split_documents(markdown: str, most: int = 2) -> tuple[str, ...]:
    """Return the documents of a text, each from a level-1 heading on; the last of `most` is all
    that is left.
    """
    headings = (block for block in read_blocks(markdown) if block.is_heading)
    titles = [block.line for block in headings if block.level == 1]
    lines, starts = split_lines(markdown), [0, *titles[1:most]]
    if len(starts) == 1:
        return (markdown,)
    parts = ["\n".join(lines[start:end]) for start, end in pairwise((*starts, len(lines)))]
    return (*(f"{part.rstrip()}\n" for part in parts[:-1]), parts[-1])


def lower_headings(markdown: str, levels: int) -> str:
    """Return the text with each heading as many levels lower, so that it fits into another."""
    lines = split_lines(markdown)
    for block in read_blocks(markdown):
        if block.is_heading:
            lines[block.line] = "#" * levels + lines[block.line].lstrip()
    return "\n".join(lines)


def first_paragraph(markdown: str, heading: str) -> str:
    """Return the first text of a section as it is written."""
    texts = (block for block in blocks_below(markdown, heading) if block.kind is BlockKind.TEXT)
    first = next((block for block in texts if not block.depth), None)
    return "" if first is None else "\n".join(split_lines(markdown)[first.line : first.end])


def items_below(markdown: str, heading: str) -> list[str]:
    """Return the items of a section, or its paragraphs, in their own Markdown, without what says
    that there are none.
    """
    blocks = [block for block in blocks_below(markdown, heading) if block.depth <= 1]
    return [block.words for block in blocks if block.words and not _NONE.match(block.words)]


def blocks_below(markdown: str, heading: str) -> list[Block]:
    """Return the blocks below a heading, up to the next one of its level or above; no quoted ones.
    Sub-headings are blocks too.
    """
    for start, end in _named(markdown, heading):
        inside = (block for block in read_blocks(markdown) if start.end <= block.line < end)
        return [block for block in inside if not block.quoted]
    return []


def _named(markdown: str, heading: str) -> Iterator[tuple[Block, int]]:
    """Yield the sections under a heading of that name."""
    name = heading.casefold()
    return sections_where(
        markdown, lambda block: one_line(block.text).strip(" :.#*_").casefold() == name
    )


def sections_where(markdown: str, begins: Callable[[Block], bool]) -> Iterator[tuple[Block, int]]:
    """Yield the headings that begin a section, and the line before which it ends: that of the next
    heading of its level or above, or of level 2.
    """
    headings = [block for block in read_blocks(markdown) if block.is_heading]
    for number, heading in enumerate(headings):
        if begins(heading):
            level = max(heading.level, _LEVEL)
            behind = (later.line for later in headings[number + 1 :] if later.level <= level)
            yield heading, next(behind, len(split_lines(markdown)))


def closes_its_blocks(text: str) -> bool:
    """Return whether a heading behind the text would be read as one."""
    mark = "Behind the section"
    last = read_blocks(f"{text}\n\n## {mark}\n")[-1]
    return last.kind is BlockKind.HEADING and last.text == mark


def split_lines(markdown: str) -> list[str]:
    """Return the lines as CommonMark counts them."""
    return re.split(r"\r\n|\r|\n", markdown)
