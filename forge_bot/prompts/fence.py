"""Fence untrusted text in a prompt: two delimiters that cannot be written inside it."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from html import escape

from forge_bot.prompts.characters import is_suspect
from forge_bot.prompts.invisible import invisible_spans
from forge_bot.prompts.removals import cut

_NAME = "untrusted-text"
_LONGEST_LABEL = 200
# Characters that look like those of the delimiters: brackets, slashes, and Cyrillic, Greek and
# Armenian letters.
_LOOK_ALIKES = str.maketrans("‹〈⟨❮˂∕⁄⧸еѕхԁтгпυτνսո−", "<<<<<///esxdtrnutvun-")


def fence(text: str, label: str) -> str:
    """Return `text` between `<untrusted-text source="label">` and `</untrusted-text>`.

    If the text itself holds one of these, also in capitals, with spaces or in look-alike letters,
    its `<` is written as `&lt;`; nothing else changes. The label becomes one escaped line of at
    most 200 visible characters.
    """
    pieces: list[str] = []
    reached = 0
    for start in _delimiters(text):
        pieces += [text[reached:start], "&lt;"]
        reached = start + 1
    pieces.append(text[reached:])
    return f'<{_NAME} source="{_one_line(label)}">\n{"".join(pieces)}\n</{_NAME}>'


def _delimiters(text: str) -> Iterator[int]:
    """Yield the places of the `<` of everything that reads like one of the delimiters."""
    # Nearly every text holds none, and this check takes a hundredth of the time of the search.
    if _NAME not in "".join(part.translate(_FOLDS) for part in _NOT_ASCII.split(text)):
        return
    folded: list[str] = []
    places: list[int] = []
    for index, char in enumerate(text):
        letters = _folded(char)
        folded.append(letters)
        places.extend([index] * len(letters))
    plain = "".join(folded)
    at = plain.find(_NAME)
    while at >= 0:
        start = at - 1 if plain[at - 1 : at] != "/" else at - 2
        if start >= 0 and plain[start] == "<":
            yield places[start]
        at = plain.find(_NAME, at + 1)


@cache
def _folded(char: str) -> str:
    """Return the character as a reader sees it: lower case, without style, "" for blanks.

    Invisible characters give "" too.
    """
    if char.isspace() or is_suspect(char):
        return ""
    if unicodedata.category(char) == "Pd":
        return "-"
    return unicodedata.normalize("NFKC", char).casefold().translate(_LOOK_ALIKES).strip()


class _Folds(dict[int, str | None]):
    """`_folded` as a table for str.translate, filled as it is used."""

    def __missing__(self, code: int) -> str | None:
        self[code] = _folded(chr(code)) or None
        return self[code]


_FOLDS = _Folds()
# An ASCII text is translated at once, any other one character by character, so the parts are split.
_NOT_ASCII = re.compile(r"([^\x00-\x7f]+)")


def _one_line(label: str) -> str:
    line = " ".join(label.split())
    seen, _ = cut(line, invisible_spans(line))
    return escape(seen[:_LONGEST_LABEL])
