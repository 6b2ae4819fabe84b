"""Markdown out of Jinja templates of the catalogue: the replies of the bot, in `replies.toml`, and
parts of longer texts, in `parts.toml`.
"""

import os
from collections.abc import Callable, Sequence
from functools import cache

from jinja2 import Environment, FunctionLoader, StrictUndefined

from forge_bot.interaction.number_format import money
from forge_bot.prompts import escape
from forge_bot.sentences import VARIABLE, find_sentence, listed, say
from forge_bot.text_format import code_block, named_once, whole_sentences

_TESTS = 3
"""Tests that are named in a line."""


class Markdown(str):
    """Words that are Markdown already. Any other value in a template is shown as plain words."""

    __slots__ = ()


def render(name: str, /, **values: object) -> Markdown:
    """Return a template with these values in it; empty where there is none of this name."""
    template = _templates(os.environ.get(VARIABLE, "")).get_template(name)
    return Markdown(template.render(values).strip())


@cache
def _templates(_language: str) -> Environment:
    """Return the templates of one language."""
    # The templates are our own; what is Markdown escapes what is put into it.
    templates = Environment(  # noqa: S701
        loader=FunctionLoader(_template),
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    filters: dict[str, Callable[..., str]] = {
        "as_is": Markdown,
        "plain": _markdown(escape.plain),
        "line": _markdown(escape.line),
        "cell": _markdown(escape.cell),
        "code": _markdown(escape.code),
        "code_cell": _markdown(escape.code_cell),
        "codes": _markdown(_codes),
        "block": _markdown(code_block),
        "fenced": _markdown(escape.fenced),
        "row": _markdown(listed),
        "source": _markdown(escape.show_source),
        "tests": _markdown(_tests),
        "whole": _markdown(_whole),
        "money": _markdown(money),
    }
    templates.filters.update(filters)
    return templates


def _template(name: str) -> str:
    try:
        return str(find_sentence(name)[1])
    except KeyError:
        return ""


def _markdown(escaped: Callable[..., str]) -> Callable[..., Markdown]:
    return lambda *given: Markdown(escaped(*given))


def _harmless(value: object) -> str:
    return value if isinstance(value, Markdown) else escape.plain(str(value))


def _codes(names: Sequence[str], row: str = "words.and", most: int = 5) -> str:
    """Return the first names as code, and how many more there are."""
    return listed([escape.code(name, 100) for name in names], row, most)


def _tests(names: Sequence[str]) -> str:
    """Return the first names of tests as code, and how many more there are."""
    more = say("words.and_more", count=len(names) - _TESTS) if len(names) > _TESTS else ""
    return ", ".join(escape.code(named_once(name), 80) for name in names[:_TESTS]) + more


def _whole(text: str, most: int = 600) -> str:
    return escape.line(whole_sentences(text, most), 1_000)
