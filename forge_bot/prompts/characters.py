"""Character classes that decide whether an invisible character is needed.

They are emoji, joining scripts and invisible letters. Facts are from the Unicode Character Database
16 (emoji-data, DerivedCoreProperties, Scripts); ranges are inclusive, in hex.
"""

import unicodedata
from bisect import bisect_right
from functools import cache

ZWNJ, ZWJ = "\u200c", "\u200d"
_VIRAMA = 9  # canonical combining class
KEYCAP = "\u20e3"
TEXT_STYLE, EMOJI_STYLE = "\ufe0e", "\ufe0f"
BLACK_FLAG = "\U0001f3f4"

# The flags that Unicode recommends to be built of tags: England, Scotland, Wales. Other tag
# sequences can carry any bytes.
FLAG_TAGS = tuple(
    "".join(chr(0xE0000 + ord(c)) for c in name) + "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
)

_EMOJI = (
    "A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 23CF 23E9-23F3 23F8-23FA 24C2"
    " 25AA-25AB 25B6 25C0 25FB-25FE 2600-2604 260E 2611 2614-2615 2618 261D 2620 2622-2623 2626"
    " 262A 262E-262F 2638-263A 2640 2642 2648-2653 265F-2660 2663 2665-2666 2668 267B 267E-267F"
    " 2692-2697 2699 269B-269C 26A0-26A1 26A7 26AA-26AB 26B0-26B1 26BD-26BE 26C4-26C5 26C8"
    " 26CE-26CF 26D1 26D3-26D4 26E9-26EA 26F0-26F5 26F7-26FA 26FD 2702 2705 2708-270D 270F 2712"
    " 2714 2716 271D 2721 2728 2733-2734 2744 2747 274C 274E 2753-2755 2757 2763-2764 2795-2797"
    " 27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D 3297 3299 1F000-1FAFF"
)
# Scripts whose letters change shape at U+200C and U+200D: Arabic and related scripts, the Indic
# family, Mongolian.
_JOINING = (
    "600-8FF 900-DFF E80-FFF 1000-109F 1700-17DD 1800-18AF 1900-1CFF A800-A82F A840-A8FF A930-A9DF"
    " A9E0-A9FF AA60-AA7F AAE0-AAF6 ABC0-ABFF FB50-FDFF FE70-FEFC 10A00-10A5F 10AC0-10AFF"
    " 10D00-10D3F 11000-11FFF 1E900-1E95F"
)
_MONGOLIAN = "1820-18AA"
_HIEROGLYPHS = "13000-1342F 13460-143FA"
_BRAILLE = "2801-28FF"
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


EMOJI = _Ranges(_EMOJI)
MONGOLIAN = _Ranges(_MONGOLIAN)
MONGOLIAN_CONTROLS = _Ranges("180B-180F")
HIEROGLYPHS = _Ranges(_HIEROGLYPHS)
HIEROGLYPH_CONTROLS = _Ranges("13430-1343F")
BRAILLE = _Ranges(_BRAILLE)
TAGS = _Ranges("E0020-E007F")
_JOINING_SET, _UNSEEN_SET, _DRAWN_SET, _NO_CHARACTER_SET = (
    _Ranges(r) for r in (_JOINING, _UNSEEN, _DRAWN, _NO_CHARACTERS)
)


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
    return (
        category in {"Cc", "Cs", "Co"}
        or char in _UNSEEN_SET
        or char in HIEROGLYPH_CONTROLS
        or char in _NO_CHARACTER_SET
    )


def joins(char: str) -> bool:
    """Return whether U+200C and U+200D change the shape of the letter or mark."""
    return char in _JOINING_SET and unicodedata.category(char)[0] in "LM"


def is_virama(char: str) -> bool:
    """Return whether the sign removes a vowel (canonical combining class 9).

    A joiner after it chooses the visible form.
    """
    return unicodedata.combining(char) == _VIRAMA
