"""Find Markdown that would act on GitHub. It is the parser's check of what `escape` produces."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from forge_bot.artifacts.markdown import TANGLED, parse_paragraphs
from forge_bot.forge import points_at_thread

_MENTION = re.compile(r"(?<![A-Za-z0-9_])@[A-Za-z0-9]")
_REFERENCE = re.compile(r"#\d|\bGH-\d", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_DRAWN = re.compile(r"(?:mermaid|math|geojson|topojson|stl)\b", re.IGNORECASE)
_AFTER = "\n\n</details>\n"


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 60}).enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", parse_paragraphs)
    return parser


def active_markup(markdown: str) -> tuple[str, ...]:
    """Return everything in a document that would act outside its code; the aim is none."""
    env: dict[str, Any] = {}
    tokens = _parser().parse(markdown + _AFTER, env)
    active = [f"definition: {label}" for label in env.get("references", {})]
    if not tokens or tokens[-1].type != "html_block" or tokens[-1].level:
        active.append("a block that does not end")
    active += [item for token in tokens[:-1] for item in _find_in_block(token)]
    return tuple(active)


def active_markup_in_line(markdown: str) -> tuple[str, ...]:
    """Return everything in a line of words that would act."""
    return tuple(
        item for token in _parser().parseInline(markdown) for item in _find_in_block(token)
    )


def _find_in_block(token: Token) -> Iterator[str]:
    if token.type == "html_block":
        yield f"HTML: {token.content}"
    elif token.type == "fence" and _DRAWN.match(token.info.strip()):
        yield f"drawing: {token.info}"
    elif token.children:
        yield from _find_in_line(token.children)


def _find_in_line(tokens: list[Token]) -> Iterator[str]:
    words: list[str] = []
    for token in tokens:
        if token.type == "text":
            words.append(token.content)
            continue
        yield from _find_in_words("".join(words))
        words = []
        if token.type == TANGLED:
            yield TANGLED
        elif token.type == "image" or (
            token.type == "html_inline" and not _BREAK.fullmatch(token.content)
        ):
            yield f"{token.type}: {token.content}"
        elif token.type == "link_open" and points_at_thread(str(token.attrGet("href") or "")):
            yield f"address: {token.attrGet('href')}"
    yield from _find_in_words("".join(words))


def _find_in_words(words: str) -> Iterator[str]:
    yield from (f"mention: {word}" for word in _MENTION.findall(words))
    yield from (f"reference: {word}" for word in _REFERENCE.findall(words))
    yield from (f"address: {word}" for word in _ADDRESS.findall(words) if points_at_thread(word))
