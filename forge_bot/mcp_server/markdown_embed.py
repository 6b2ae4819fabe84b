"""Embed documents of others in a page: none ends the page, hides what follows, or looks like our
own words.
"""

from typing import TYPE_CHECKING

from forge_bot.lazy_regex import lazy_regex
from forge_bot.prompts import escape
from forge_bot.prompts.active_markdown import open_fence
from forge_bot.prompts.untrusted import what_is_hidden

if TYPE_CHECKING:
    from markdown_it.token import Token

_BELOW = 3
"""Levels that headings go down: the page's own heading of a document is on this one."""

_LOWEST = 6
_AFTER = "\n\n</details>\n"
_ATX = lazy_regex(r"(?P<blank> {0,3})#{1,6}")


def settled(markdown: str) -> str:
    """The Markdown with its headings below ours and its code closed.

    What would be hidden when it is rendered, or would hide what follows, is shown as code from
    beginning to end.
    """
    if what_is_hidden(markdown):
        return escape.show_source(markdown)
    text = markdown.replace("\r\n", "\n").strip("\n")
    if mark := open_fence(text):
        text = f"{text}\n{mark}"
    tokens = _parsed(f"{text}{_AFTER}")
    # What comes after must be read as a part of its own, of the page itself.
    if (
        not tokens
        or tokens[-1].content.strip() != _AFTER.strip()
        or tokens[-1].level
        or any(_hides(token) for token in tokens[:-1])
    ):
        return escape.fenced(markdown)
    return _lowered(text, tokens)


def patch(text: str) -> str:
    """A difference as code."""
    return escape.show_source(text, "diff")


def beginning(text: str, longest: int) -> str:
    """Return the text, or whole lines of its beginning; part of a line if that is too long."""
    if len(text) <= longest:
        return text
    kept = text[: max(longest, 0)]
    whole = kept[: kept.rfind("\n") + 1]
    return whole if len(whole) > longest // 2 else kept


def _parsed(text: str) -> "list[Token]":
    from markdown_it import MarkdownIt  # needed for questions only

    return (
        MarkdownIt("commonmark", {"maxNesting": 60}).enable(["table", "strikethrough"]).parse(text)
    )


def _hides(token: "Token") -> bool:
    inner = token.children or ()
    return token.type == "html_block" or any(
        each.type == "html_inline" and each.content.startswith("<!--") for each in inner
    )


def _lowered(text: str, tokens: "list[Token]") -> str:
    """Return the text with its top-level headings lowered."""
    lines = text.split("\n")
    for token in reversed(tokens):
        if token.type != "heading_open" or token.level or token.map is None:
            continue
        first, after = token.map
        marks = "#" * min(int(token.tag[1:]) + _BELOW, _LOWEST)
        if token.markup.startswith("#"):
            lines[first] = _ATX.sub(rf"\g<blank>{marks}", lines[first], count=1)
        else:
            words = " ".join(line.strip() for line in lines[first : after - 1])
            lines[first:after] = [f"{marks} {words}"]
    return "\n".join(lines)
