"""The sentences that people read, in the language that `FORGE_BOT_LANGUAGE` names.

They are data: `templates/sentences/LANGUAGE/TOPIC.toml`, and `commands.md`, the list of commands
that people read as a page too. What a language lacks is said in English.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pathlib import Path

    from forge_bot.errors import ForgeError

ENGLISH = "en"
VARIABLE = "FORGE_BOT_LANGUAGE"
_PAGES = frozenset({"commands"})
"""The topics whose sentences stand in a table of Markdown."""


def say(name: str, /, **values: object) -> str:
    """Return a sentence with its values: `say("replies.no_run.detail", label="forge")`.

    The first part of a name is its file. A sentence with several forms takes that for `count`.
    """
    language, sentence = find_sentence(name)
    if not isinstance(sentence, str):
        sentence = sentence[_form_of(language)(values["count"])]
    return sentence.format(**values)


def find_sentence(name: str) -> tuple[str, str | list[str]]:
    """Return the language of a sentence, and the sentence as it is written there."""
    topic, _, key = name.partition(".")
    spoken = os.environ.get(VARIABLE) or ENGLISH
    language = spoken if key in read_topic(spoken, topic) else ENGLISH
    return language, read_topic(language, topic)[key]


def hint_of(error: "ForgeError") -> str:
    """Return the sentence on the way out of an error: its own, or that of its class."""
    return error.own_hint or (say(error.hint_name) if error.hint_name else "")


def listed(names: Sequence[str], row: str = "words.and", most: int | None = None) -> str:
    """Return names in a row; with `most`, the first of them and how many more there are."""
    shown = list(names[:most])
    if len(names) > len(shown):
        shown.append(say("words.more", count=len(names) - len(shown)))
    if len(shown) < 2:  # noqa: PLR2004 - a row
        return "".join(shown)
    return say(row, before=", ".join(shown[:-1]), last=shown[-1])


def check_language(environ: Mapping[str, str] = os.environ) -> None:
    """Raise UnknownLanguage if the language that is set has no folder."""
    spoken = environ.get(VARIABLE)
    if spoken and spoken not in (known := languages()):
        # The help of the command line says sentences, and needs no error.
        from forge_bot.errors import UnknownLanguage

        raise UnknownLanguage(
            f"{VARIABLE} is {spoken!r}, and there are sentences in: {', '.join(known)}."
        )


def languages() -> list[str]:
    """Return the codes of the languages that have sentences."""
    return sorted(file.parent.name for file in _folder().glob("*/language.toml"))


@cache
def read_topic(language: str, topic: str) -> dict[str, str | list[str]]:
    """Return the sentences of one file by name; none where a language does not have it."""
    file = _folder() / language / f"{topic}.{'md' if topic in _PAGES else 'toml'}"
    if not file.is_file():
        return {}
    text = file.read_text("utf-8")
    return dict(_rows(text) if topic in _PAGES else _entries(text))


def _folder() -> "Path":
    # What never goes wrong says nothing.
    from forge_bot.resources import templates

    return templates() / "sentences"


def _rows(page: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each command in a table of Markdown, and what stands in the cell behind."""
    import re

    for row in re.finditer(r"^\| `/(\w+).*?` \| (.+) \|$", page, re.MULTILINE):
        yield row[1], row[2]


def _entries(text: str) -> Iterator[tuple[str, str | list[str]]]:
    import tomllib

    return _named(tomllib.loads(text))


def _named(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, str | list[str]]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _named(cast("dict[str, Any]", value), f"{before}{key}.")
        else:
            yield f"{before}{key}", value


@cache
def _form_of(language: str) -> Callable[[Any], int]:
    """Return which form a language takes for a number, from its rule as gettext writes it."""
    from gettext import c2py

    return c2py(str(read_topic(language, "language")["plural"]))
