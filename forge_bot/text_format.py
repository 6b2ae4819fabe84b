"""Parts of sentences: numbers with their nouns, money, cut texts, code; and tables of names."""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal

from forge_bot.gate.arguments import Amount

_VARIATION_SELECTOR = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Printable characters by Unicode's rules that are invisible and can carry a hidden text."""

_CENT = Decimal("0.01")
_SENTENCE_END = re.compile(r"[.!?;][”\")`]*(?=\s+[^a-z\s])|;(?=\s)")
_INSTALLED = re.compile(r"\{env\}(?:/[\w.-]+)*?/bin/")
_TWICE = re.compile(r"\b(\w+) \(([\w.]+\.\1)\)")


def several(count: int, word: str) -> str:
    """A number and its noun: `1 file`, `3 files`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def gist(text: str, most: int) -> str:
    """Return the beginning of a text in one line of at most `most` characters, in whole words where
    it has any, and with an ellipsis.
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    room = line[: most - 2]
    return f"{room.rpartition(' ')[0] or room} …"


def whole_sentences(text: str, most: int) -> str:
    """Return the first sentences of a text in one line, as many as fit into `most` characters and
    at least one, with an ellipsis where some are left out.
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    ends = [match.end() for match in _SENTENCE_END.finditer(line)]
    end = next((end for end in reversed(ends) if end <= most), next(iter(ends), len(line)))
    return line if end >= len(line) else f"{line[:end]} …"


def named_once(text: str) -> str:
    """The text with tests of unittest by their dotted name alone: from Python 3.11 on it prints
    `test_x (tests.test_a.A.test_x)`.
    """
    return _TWICE.sub(r"\2", text)


def command_line(argv: Iterable[str]) -> str:
    """Return a command as people type it, without the folder of the environment's programs."""
    return without_environment(" ".join(argv))


def without_environment(text: str) -> str:
    """Return the text with programs of the environment by their names: `{env}/bin/python` is
    `python`.
    """
    return _INSTALLED.sub("", text)


def cut(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis, of at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


_SPACE = re.compile(r"(?<!`)(`++)(?:[^`\s]| )++\1(?!`)|\s+")


def single_spaced(text: str) -> str:
    """Return the text on one line, with one space for each white space outside of code."""
    return _SPACE.sub(lambda found: found[0] if found[1] else " ", text).strip()


def one_line(text: str) -> str:
    """Return the text on one line, without invisible characters."""
    line = single_spaced(text if text.isascii() else _VARIATION_SELECTOR.sub("", text))
    if line.isprintable():
        return line
    drawn = (sign for sign in line if not unicodedata.category(sign).startswith("C"))
    return single_spaced("".join(drawn))


def short_line(text: str, most: int = 300) -> str:
    """Return the text on one line of at most `most` characters, without invisible characters."""
    return cut(one_line(text), most)


def money(amount: Decimal | None) -> str:
    """US dollars; a small sum keeps its first digits, and an unknown one is not nothing."""
    if amount is None:
        return "price unknown"
    return f"${amount:,.2f}" if amount >= _CENT or amount == 0 else f"${amount:.4f}"


def limits(amount: Amount) -> str:
    """The most that an amount allows, for people."""
    dollars = money(amount.dollars) if amount.dollars is not None else ""
    most = f"{amount.tokens:,} tokens" if amount.tokens is not None else ""
    return " and ".join(filter(None, (dollars, most)))


def code_block(text: str, language: str = "text", least: int = 3) -> str:
    """Return the text between fences that nothing in it closes."""
    fence = ticks_around(text, least)
    return f"{fence}{language}\n{text}\n{fence}"


def ticks_around(text: str, least: int = 1) -> str:
    """Return more backticks than stand in a row in the text."""
    return "`" * max(least, *(len(run) + 1 for run in re.findall("`+", text)), least)


def code_span(text: str) -> str:
    """Return the text as code in a line of Markdown, whatever it holds: a blank on both sides is
    not part of the code.
    """
    ticks = ticks_around(text)
    apart = not text or "`" in (text[0], text[-1]) or re.fullmatch(r" .* ", text) is not None
    blank = " " if apart else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"


def names(table: str) -> tuple[str, ...]:
    """Return the names in a table, which are parted by blanks and ends of lines."""
    return tuple(table.split())
