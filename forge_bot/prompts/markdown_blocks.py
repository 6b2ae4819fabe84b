"""Blocks of Markdown with the place of each line's content, which markdown-it does not keep.

The parser is markdown-it's; it also records for each line where its content begins after quote
marks and list markers. It has footnotes as on GitHub and a limit on nesting. Every address counts
as valid: a definition is hidden because of its form.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.parser_block import RuleFuncBlockType
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from forge_bot.text_format import names

# Quotes count one level, list items two. Nobody writes deeper; parsing time grows with lines times
# levels.
DEEPEST = 24

_LEAVES = names("table code fence hr reference html_block heading lheading paragraph")
_BEGINNINGS = frozenset("`~>*-_+#<[0123456789")
_RULER_BEGINNINGS = frozenset("|-:")
_CAN_INTERRUPT = ("paragraph", "reference", "blockquote", "list")


@dataclass(frozen=True)
class Definition:
    """A link reference definition:

    its label, its lines (end excluded), and whether it is the first.
    """

    label: str
    first_line: int
    end_line: int
    counts: bool


@dataclass(frozen=True)
class Blocks:
    """A text read block by block.

    `starts` and `ends` bound each line's content, after its quote marks and list markers.
    """

    text: str
    tokens: tuple[Token, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    definitions: tuple[Definition, ...]


class Reader(MarkdownIt):
    """markdown-it with every link valid and none rewritten."""

    # The library chose this name.
    def validateLink(self, url: str) -> bool:  # noqa: N802
        del url
        return True

    # The library chose this name.
    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    # The library chose this name.
    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link


@cache
def reader() -> Reader:
    """Return the one parser. Parsing does not change it."""
    parser = Reader("commonmark", {"maxNesting": DEEPEST + 10}).enable("table")
    ruler = parser.block.ruler
    for rule in ruler.__rules__:
        if rule.name in _LEAVES:
            rule.fn = _noting_lines(rule.fn)
    ruler.before("table", "too_deep", _too_deep)
    ruler.before("reference", "footnote", _footnote, {"alt": list(_CAN_INTERRUPT)})
    _ask_once_what_interrupts(parser)
    parser.core.ruler.enableOnly(["block"])
    return cast("Reader", parser)


def _ask_once_what_interrupts(parser: MarkdownIt) -> None:
    """Check the first character before the rules that may interrupt a block.

    markdown-it applies each of them to each line at each level of quotes, which is most of its time
    on hostile text.
    """
    ruler = parser.block.ruler
    for chain in _CAN_INTERRUPT:
        rules = [rule for rule in ruler.__rules__ if chain in rule.alt]
        for rule in rules:
            rule.alt = [
                other for other in rule.alt if other != chain
            ]  # a new list: the library owns the old one
        ruler.push(
            f"interrupts_{chain}", _interrupting([rule.fn for rule in rules]), {"alt": [chain]}
        )


def _interrupting(rules: list[RuleFuncBlockType]) -> RuleFuncBlockType:
    def interrupting(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        return (
            silent
            and _may_begin(state, start_line)
            and any(rule(state, start_line, end_line, True) for rule in rules)
        )

    return interrupting


def _may_begin(state: StateBlock, line: int) -> bool:
    """Return whether the line may begin a block.

    It may not if it begins like words, and the next one not like the delimiter row of a table.
    """
    first = state.bMarks[line] + state.tShift[line]
    below = state.bMarks[line + 1] + state.tShift[line + 1]
    return (
        state.src[first : first + 1] in _BEGINNINGS
        or state.src[below : below + 1] in _RULER_BEGINNINGS
    )


def read_blocks(text: str) -> Blocks:
    """Return the blocks of a text whose line ends are all newlines."""
    ends: list[int] = []
    at = text.find("\n")
    while at >= 0:
        ends.append(at)
        at = text.find("\n", at + 1)
    ends.append(len(text))
    starts = [0, *(end + 1 for end in ends[:-1])]
    env: dict[str, Any] = {"starts": starts}
    tokens = reader().parse(text, env)
    return Blocks(text, tuple(tokens), tuple(starts), tuple(ends), tuple(_definitions(env)))


def footnote_key(label: str) -> str:
    """Return the key that all spellings of a footnote label share."""
    return normalizeReference(label)


def _definitions(env: dict[str, Any]) -> list[Definition]:
    first = [
        Definition(label, *found["map"], counts=True)
        for label, found in env.get("references", {}).items()
    ]
    again = [
        Definition(found["label"], *found["map"], counts=False)
        for found in env.get("duplicate_refs", [])
    ]
    return first + again


def _noting_lines(rule: RuleFuncBlockType) -> RuleFuncBlockType:
    def noting(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        found = rule(state, start_line, end_line, silent)
        if found and not silent:
            _note_lines(state, start_line, state.line)
        return found

    return noting


def _note_lines(state: StateBlock, first: int, end: int) -> None:
    starts: list[int] = state.env["starts"]
    for line in range(first, end):
        starts[line] = state.bMarks[line] + state.tShift[line]


def _too_deep(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Keep lines below the deepest level together unread, so that they can be removed whole."""
    if silent or state.level < DEEPEST:
        return False
    line = start_line + 1
    while line < end_line and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent):
        line += 1
    _note_lines(state, start_line, line)
    token = state.push("too_deep", "", 0)
    token.map = [start_line, line]
    state.line = line
    return True


def _footnote(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Read `[^label]: text` with the text indented by four below it.

    Source: cmark-gfm; not in the GFM specification.
    """
    start = state.bMarks[start_line] + state.tShift[start_line]
    if state.is_code_block(start_line) or not state.src.startswith("[^", start):
        return False
    close = state.src.find("]", start, state.eMarks[start_line])
    label = state.src[start + 2 : close]
    if (
        close < 0
        or not label
        or label.split() != [label]
        or not state.src.startswith(":", close + 1)
    ):
        return False
    if silent:
        return True
    token = state.push("footnote_open", "li", 1)
    token.meta = {"label": footnote_key(label), "written": label, "start": start}
    _read_footnote(state, start_line, end_line, close + 2)
    token.map = [start_line, state.line]
    state.push("footnote_close", "li", -1)
    return True


def _read_footnote(state: StateBlock, line: int, end_line: int, at: int) -> None:
    """Read the content from `at` on as nested blocks, as markdown-it does inside a list item."""
    kept = (state.bMarks[line], state.tShift[line], state.sCount[line], state.parentType)
    while at < state.eMarks[line] and state.src[at] in " \t":
        at += 1
    state.blkIndent += 4
    state.bMarks[line], state.tShift[line], state.sCount[line], state.parentType = (
        at,
        0,
        state.blkIndent,
        "footnote",
    )
    state.md.block.tokenize(state, line, end_line)
    state.blkIndent -= 4
    state.bMarks[line], state.tShift[line], state.sCount[line], state.parentType = kept
