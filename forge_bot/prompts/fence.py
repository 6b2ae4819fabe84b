"""The fence around strangers' text in a prompt: two delimiters, and no way to write one of them inside."""

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
# Signs that read like the ones the delimiters are made of: brackets, slashes, and Cyrillic, Greek and Armenian letters.
_LOOK_ALIKES = str.maketrans("‹〈⟨❮˂∕⁄⧸еѕхԁтгпυτνսո−", "<<<<<///esxdtrnutvun-")


def fence(text: str, label: str) -> str:
    """`text` between `<untrusted-text source="label">` and `</untrusted-text>`.

    Where the text itself holds one of these, also in capitals, with spaces or in look-alike letters, its `<` is written as
    `&lt;`; nothing else of it changes. The label becomes one line of at most 200 characters, all of them seen, and is escaped.
    """
    pieces: list[str] = []
    reached = 0
    for start in _delimiters(text):
        pieces += [text[reached:start], "&lt;"]
        reached = start + 1
    pieces.append(text[reached:])
    return f'<{_NAME} source="{_one_line(label)}">\n{"".join(pieces)}\n</{_NAME}>'


def _delimiters(text: str) -> Iterator[int]:
    """Places of the `<` of everything that reads like one of the delimiters."""
    # Nearly every text holds none, and to see that takes a hundredth of the time that it takes to say where one is.
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
    """What a reader takes the character for: lower case, without style, "" for blanks and what is not seen."""
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
# A text that is all ASCII is translated at once, any other one character by character: so the parts are taken apart.
_NOT_ASCII = re.compile(r"([^\x00-\x7f]+)")


def _one_line(label: str) -> str:
    line = " ".join(label.split())
    seen, _ = cut(line, invisible_spans(line))
    return escape(seen[:_LONGEST_LABEL])
