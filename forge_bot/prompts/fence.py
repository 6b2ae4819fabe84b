"""The fence around strangers' text in a prompt: two delimiters, and no way to write one of them inside."""

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


def _one_line(label: str) -> str:
    line = " ".join(label.split())
    seen, _ = cut(line, invisible_spans(line))
    return escape(seen[:_LONGEST_LABEL])
