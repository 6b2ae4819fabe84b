"""Find invisible characters that have no effect where they are.

Removed: controls except newline and tab, format characters (zero-width, bidirectional, soft hyphen,
tags, musical …), variation selectors, fillers, private use, lone surrogates, code points that are
no characters. Only the character is removed: of a terminal's colour sequence the escape is removed
and `[31m`, which GitHub shows, stays.

Kept, because the visible text depends on them:
- U+200C and U+200D between letters of a joining script (Persian, Hindi …); U+200D between emoji;
- one U+FE0F or U+FE0E after an emoji, or before the keycap sign;
- Mongolian variation selectors and vowel separators after Mongolian letters.

Direction marks are removed; letters of right-to-left scripts stay and keep their order. Facts are
from the Unicode Character Database 16.
"""

import re
import unicodedata
from functools import cache

_ZWNJ, _ZWJ, _KEYCAP = "\u200c", "\u200d", "\u20e3"
_STYLES = ("\ufe0e", "\ufe0f")
_EMOJI_BELOW = "©®‼⁉ℹ〰〽"
_JOINING = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0e80-\u0fff\u1000-\u109f\u1700-\u17dd\u1800-\u18af\u1900-\u1cff"
    "\ua800-\ua82f\ua840-\ua8ff\ua930-\ua9df\ua9e0-\ua9ff\uaa60-\uaa7f\uaae0-\uaaf6\uabc0-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010a5f\U00010ac0-\U00010aff\U00010d00-\U00010d3f"
    "\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
"""Scripts whose letters change shape at U+200C and U+200D: Arabic and related scripts, the Indic
family, Mongolian."""
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2028\u2029\u2065\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\ufff0-\ufff8\U0001d159\U000e0000-\U000e0fff]"
)
"""Invisible although Unicode does not call them format characters: fillers, grapheme joiners,
inherent vowels, variation selectors, the blank braille cell, the null notehead, and code points
that are reserved to stay invisible."""


def without_unseen(text: str) -> tuple[str, list[int]]:
    """Return the text without the invisible characters that have no effect, and the line of each. A
    removal can leave another character without effect, so the text is read until none is left.
    """
    removed: list[int] = []
    while places := invisible_characters(text):
        line, kept = 1, list[str]()
        for place, char in enumerate(text):
            if place in places:
                removed.append(line)
            else:
                kept.append(char)
            line += char == "\n"
        text = "".join(kept)
    return text, removed


def invisible_characters(text: str) -> frozenset[int]:
    """Return the place of each invisible character without an effect, in linear time."""
    # A text has few different characters, so each of them is looked at once.
    suspects = {char for char in set(text) if is_suspect(char)}
    places: set[int] = set()
    left = "\n"
    for index, char in enumerate(text) if suspects else ():
        if char not in suspects or _is_needed(left, char, text[index + 1 : index + 2]):
            left = char
        else:
            places.add(index)
    return frozenset(places)


def _is_needed(left: str, char: str, right: str) -> bool:
    """Return whether an invisible character has an effect between the shown characters beside
    it.
    """
    if "\u180b" <= char <= "\u180f":
        return "\u1820" <= left <= "\u18aa"
    if char in _STYLES:
        return _is_emoji(left) or (left in "0123456789#*" and right == _KEYCAP)
    if char == _ZWJ and _is_emoji(right):
        return _is_emoji(left) or left in _STYLES
    return char in {_ZWJ, _ZWNJ} and _joins(left) and _joins(right)


def _is_emoji(char: str) -> bool:
    arrow_or_picture = char >= "\u2000" and unicodedata.category(char) in {"So", "Sm", "Sk"}
    return char != "" and (char in _EMOJI_BELOW or arrow_or_picture)


def _joins(char: str) -> bool:
    """Return whether U+200C and U+200D change the shape of the letter or mark."""
    return _JOINING.match(char) is not None and unicodedata.category(char)[0] in "LM"


@cache
def is_suspect(char: str) -> bool:
    """Return whether the character is not drawn, or is drawn as a box.

    It may still be needed where it is.
    """
    if " " <= char <= "~" or char in "\n\t":
        return False
    code = ord(char)
    is_no_character = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF  # noqa: PLR2004
    hidden = unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co"}
    return hidden or is_no_character or _UNSEEN.match(char) is not None
