"""Find invisible characters that have no effect where they are.

Removed: controls except newline and tab, format characters (zero-width, bidirectional, soft hyphen,
tags, musical …), variation selectors, fillers, private use, lone surrogates, code points that are
no characters. Only the character is removed: of a terminal's colour sequence the escape is removed
and `[31m`, which GitHub shows, stays.

Kept, because the visible text depends on them:
- U+200C and U+200D between letters of a joining script (Persian, Hindi …), or after a virama;
  U+200D between emoji;
- one U+FE0F or U+FE0E after an emoji, and after a digit, # or * only when the keycap sign
  follows;
- Mongolian variation selectors and vowel separators after Mongolian letters.

Direction marks are removed; letters of right-to-left scripts stay and keep their order. Facts are
from the Unicode Character Database 16; ranges are inclusive, in hex.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from functools import cache

from forge_bot.prompts.removals import RemovalKind

_KINDS = {"Cc": RemovalKind.CONTROL_CHARACTER, "Co": RemovalKind.PRIVATE_USE_CHARACTER}
_ZWNJ, _ZWJ, _KEYCAP = "\u200c", "\u200d", "\u20e3"
_STYLES = ("\ufe0e", "\ufe0f")
_EMOJI_BELOW = "©®‼⁉ℹ〰〽"
_VIRAMA = 9  # canonical combining class
# Scripts whose letters change shape at U+200C and U+200D: Arabic and related scripts, the Indic
# family, Mongolian.
_JOINING = (
    "600-8FF 900-DFF E80-FFF 1000-109F 1700-17DD 1800-18AF 1900-1CFF A800-A82F A840-A8FF A930-A9DF"
    " A9E0-A9FF AA60-AA7F AAE0-AAF6 ABC0-ABFF FB50-FDFF FE70-FEFC 10A00-10A5F 10AC0-10AFF"
    " 10D00-10D3F 11000-11FFF 1E900-1E95F"
)
# Invisible although Unicode does not call them format characters: fillers, grapheme joiners,
# inherent vowels, variation selectors, the blank braille cell, the null notehead, and code points
# that are reserved to stay invisible.
_UNSEEN = (
    "34F 115F-1160 17B4-17B5 180B-180F 2028-2029 2065 2800 3164 FE00-FE0F FFA0 FFF0-FFF8 1D159"
    " E0000-E0FFF"
)
# Visible format characters: signs before or around numbers in Arabic, Syriac and Kaithi.
_DRAWN = "600-605 6DD 70F 890-891 8E2 110BD 110CD"
# These code points are no characters and never will be.
_NO_CHARACTERS = "FDD0-FDEF " + " ".join(f"{plane:X}FFFE-{plane:X}FFFF" for plane in range(17))


class _Ranges:
    """A set of code points, written as ranges."""

    def __init__(self, written: str) -> None:
        pairs = sorted(
            (int(first, 16), int(last or first, 16))
            for first, _, last in (part.partition("-") for part in written.split())
        )
        self._firsts = [first for first, _ in pairs]
        self._lasts = [last for _, last in pairs]

    def __contains__(self, char: str) -> bool:
        index = bisect_right(self._firsts, ord(char)) - 1
        return index >= 0 and ord(char) <= self._lasts[index]


_JOINING_SET, _UNSEEN_SET, _DRAWN_SET, _NO_CHARACTER_SET = (
    _Ranges(written) for written in (_JOINING, _UNSEEN, _DRAWN, _NO_CHARACTERS)
)


def without_unseen(text: str) -> tuple[str, list[tuple[RemovalKind, int]]]:
    """Return the text without the invisible characters that have no effect, and the kind and line
    of each. A removal can leave another character without effect, so the text is read until none is
    left.
    """
    removed: list[tuple[RemovalKind, int]] = []
    while places := invisible_characters(text):
        ends = [place for place, char in enumerate(text) if char == "\n"]
        removed += [(kind, bisect_left(ends, place) + 1) for place, kind in places.items()]
        text = "".join(char for place, char in enumerate(text) if place not in places)
    return text, removed


def invisible_characters(text: str) -> dict[int, RemovalKind]:
    """Return the place and kind of each invisible character without an effect, in linear time."""
    # A text has few different characters, so each of them is looked at once.
    suspects = {char for char in set(text) if is_suspect(char)}
    places: dict[int, RemovalKind] = {}
    drawn = left = "\n"
    for index, char in enumerate(text) if suspects else ():
        if char not in suspects:
            drawn = left = char
        elif _is_needed(drawn, left, char, text[index + 1 : index + 2]):
            left = char
        else:
            kind = _KINDS.get(unicodedata.category(char), RemovalKind.INVISIBLE_CHARACTER)
            places[index] = kind
    return places


def _is_needed(drawn: str, left: str, char: str, right: str) -> bool:
    """Return whether an invisible character has an effect: behind `left`, which is `drawn` or what
    follows that, and before `right`.
    """
    if "\u180b" <= char <= "\u180f":
        return "\u1820" <= left <= "\u18aa"
    if char in _STYLES:
        return _is_emoji(left) or (left in "0123456789#*" and right == _KEYCAP)
    if char == _ZWJ and right and _is_emoji(right) and _is_emoji(drawn):
        return left == drawn or left in _STYLES
    if char in {_ZWJ, _ZWNJ}:
        return _joins(left) and (
            unicodedata.combining(left) == _VIRAMA or (right != "" and _joins(right))
        )
    return False


def _is_emoji(char: str) -> bool:
    arrow_or_picture = char >= "\u2000" and unicodedata.category(char) in {"So", "Sm", "Sk"}
    return char in _EMOJI_BELOW or arrow_or_picture


def _joins(char: str) -> bool:
    """Return whether U+200C and U+200D change the shape of the letter or mark."""
    return char in _JOINING_SET and unicodedata.category(char)[0] in "LM"


@cache
def is_suspect(char: str) -> bool:
    """Return whether the character is not drawn, or is drawn as a box.

    It may still be needed where it is.
    """
    if " " <= char <= "~" or char in "\n\t":
        return False
    category = unicodedata.category(char)
    if category == "Cf":
        return char not in _DRAWN_SET
    return category in {"Cc", "Cs", "Co"} or char in _UNSEEN_SET or char in _NO_CHARACTER_SET
