"""Read a comment as Markdown: its author's own lines, and the commands on them.

The comment is rendered with a mark before each line, and the page is read as a browser reads it. A
line counts if its mark is text inside paragraphs and list items that Markdown made, and inside of
nothing else: no quotation, code, heading, table, link, emphasis or element of HTML.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from typing import Any, cast

from markdown_it import MarkdownIt
from markdown_it.token import Token

from forge_bot.bot.quoted_email import mail_begins
from forge_bot.gate.grammar import Command
from forge_bot.gate.parse_comment import (
    PREFIX,
    CommentText,
    command_lines,
    may_hold_command,
    parse_lines,
    split_lines,
)
from forge_bot.gate.written_command import Mistyped

MOST_HTML = 1_000
"""Tags, comments and blocks of HTML in one comment that is read. One with more says nothing:
browsers take time that grows with the square of their number."""

_SPEAKING = {"paragraph_open", "bullet_list_open", "ordered_list_open", "list_item_open"}
# The line above a name, as mail programs write it. Markdown would make a heading of what stands
# above it.
_SIGNATURE = re.compile(r"--[ ]?")
# A definition of a link or a footnote, of which nothing, or nothing in this place, is shown.
_DEFINES = re.compile(r"\[[^\n]*\]:")


def parse_comment(
    body: str, prefix: str = PREFIX, *, bare: bool = True
) -> tuple[Command | Mistyped, ...]:
    """Return the commands of a comment in the order of their lines, with those that were meant as
    such and are none. A comment that carries the bot's own mark says nothing.
    """
    if not may_hold_command(body, prefix):
        return ()
    lines = split_lines(body)
    every = CommentText(lines, frozenset(range(len(lines))), len(lines))
    asked = command_lines(every, prefix, bare=bare)
    return parse_lines(read_text(lines, asked), prefix, bare=bare) if asked else ()


def read_text(lines: Sequence[str], asked: Sequence[int]) -> CommentText:
    """Return which of the lines that are asked about speak."""
    mark = next(each for each in map("line{}of".format, count()) if not _holds(lines, each))
    marked = [
        "\\-- " if _SIGNATURE.fullmatch(line) else line.replace("\x00", "\ufffd") for line in lines
    ]
    for number in asked:
        blanks = len(lines[number]) - len(lines[number].lstrip(" "))
        # Behind the sign, so that the line stays what it is to Markdown.
        place = blanks + 1
        marked[number] = f"{lines[number][:place]}{mark}{number}z{lines[number][place:]}"
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    environment: dict[str, Any] = {}
    tokens = reader.parse("\n".join(marked), environment)
    own = {number for token in _paragraphs(tokens, environment) for number in range(*token)}
    mail = mail_begins(lines, own.__contains__)
    end = len(lines) if mail is None else mail
    if sum(_html_in(token) for token in tokens) > MOST_HTML:
        return CommentText(tuple(lines), frozenset(), end)
    for token in tokens:
        if token.type in _SPEAKING:
            token.attrSet("class", mark)
    page = cast("str", reader.renderer.render(tokens, reader.options, environment))
    shown = {
        int(number) for text in _spoken(page, mark) for number in re.findall(rf"{mark}(\d+)z", text)
    }
    return CommentText(tuple(lines), frozenset(each for each in shown & own if each < end), end)


def _holds(lines: Sequence[str], mark: str) -> bool:
    return any(mark in line for line in lines)


def _paragraphs(tokens: Sequence[Token], environment: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield first line and end of each paragraph that is not quoted and defines nothing."""
    defined = {
        each["map"][1]
        for each in (
            *environment.get("references", {}).values(),
            *environment.get("duplicate_refs", ()),
        )
    }
    quotes = 0
    for before, token in pairwise(tokens):
        quotes += {"blockquote_open": 1, "blockquote_close": -1}.get(before.type, 0)
        if before.type != "paragraph_open" or quotes or token.map is None:
            continue
        first, end = token.map
        if first not in defined and not _DEFINES.match(token.content):
            yield first, end


def _html_in(token: Token) -> int:
    if token.type == "html_block":
        return token.content.count("<")
    return sum(child.type == "html_inline" for child in token.children or ())


def _spoken(page: str, mark: str) -> Iterator[str]:
    """Yield the text that lies in nothing but elements with the mark."""
    import html5lib  # it takes long to load

    parse = cast("Any", html5lib).parseFragment
    waiting: list[Any] = list(parse(page, treebuilder="etree", namespaceHTMLElements=False))
    while waiting:
        element = waiting.pop()
        if element.get("class") != mark:
            continue
        yield element.text or ""
        for child in element:
            waiting.append(child)
            yield child.tail or ""
