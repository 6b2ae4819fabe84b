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
- the tags of the flags of England, Scotland and Wales;
- Mongolian variation selectors and vowel separators after Mongolian letters, hieroglyph joiners
  after hieroglyphs, and the blank braille cell in a line with other braille.

Variation selectors of CJK ideographs (U+E0100 to U+E01EF) are removed although some names use them:
240 per letter carry any invisible text, and the letter itself stays. Direction marks are removed;
letters of right-to-left scripts stay and keep their order.
"""

import unicodedata

from forge_bot.prompts import characters as chars
from forge_bot.prompts.removals import RemovalKind

_KINDS = {"Cc": RemovalKind.CONTROL_CHARACTER, "Co": RemovalKind.PRIVATE_USE_CHARACTER}


def without_unseen(text: str) -> tuple[str, list[tuple[RemovalKind, int]]]:
    """Return the text without the invisible characters that have no effect, and the kind and line
    of each. A removal can leave another character without effect, so the text is read until none is
    left.
    """
    removed: list[tuple[RemovalKind, int]] = []
    while places := invisible_characters(text):
        removed += [(kind, text.count("\n", 0, place) + 1) for place, kind in places.items()]
        text = "".join(char for place, char in enumerate(text) if place not in places)
    return text, removed


def invisible_characters(text: str) -> dict[int, RemovalKind]:
    """Return the place and kind of each invisible character without an effect, in linear time."""
    # A text has few different characters, so each of them is looked at once.
    suspects = {char for char in set(text) if chars.is_suspect(char)}
    return _Reader(text, suspects).places() if suspects else {}


class _Reader:
    """One pass over the suspects of a text, with the decisions about earlier ones."""

    def __init__(self, text: str, suspects: set[str]) -> None:
        self._text = text
        self._suspects = suspects
        self._flag_end = 0
        self._line_end = -1
        self._line_has_dots = False

    def places(self) -> dict[int, RemovalKind]:
        places: dict[int, RemovalKind] = {}
        dropped = -1  # the last dropped character
        seen = -1  # the last kept character before it
        for index in [index for index, char in enumerate(self._text) if char in self._suspects]:
            before = seen if dropped == index - 1 else index - 1
            if not self._is_needed(before, index):
                places[index] = _KINDS.get(
                    unicodedata.category(self._text[index]), RemovalKind.INVISIBLE_CHARACTER
                )
                dropped, seen = index, before
        return places

    def _is_needed(self, before: int, index: int) -> bool:
        """Return whether the character at `index`, after the one at `before`, has an effect."""
        char = self._text[index]
        left = self._text[before] if before >= 0 else "\n"
        right = self._text[index + 1] if index + 1 < len(self._text) else "\n"
        if char in (chars.EMOJI_STYLE, chars.TEXT_STYLE):
            return left in chars.EMOJI or (left in "0123456789#*" and right == chars.KEYCAP)
        if char in (chars.ZWJ, chars.ZWNJ):
            return self._joiner_is_needed(before, char, right)
        if char in chars.TAGS:
            return self._is_of_a_flag(left, index)
        if char in chars.MONGOLIAN_CONTROLS:
            return left in chars.MONGOLIAN
        if char in chars.HIEROGLYPH_CONTROLS:
            return left in chars.HIEROGLYPHS
        return char == "\u2800" and self._stands_with_dots(index)

    def _joiner_is_needed(self, before: int, char: str, right: str) -> bool:
        left = self._text[before] if before >= 0 else "\n"
        if chars.joins(left):
            return chars.is_virama(left) or chars.joins(right)
        if char == chars.ZWJ and right in chars.EMOJI:
            base = self._text[before - 1] if left == chars.EMOJI_STYLE and before > 0 else left
            return base in chars.EMOJI
        return False

    def _is_of_a_flag(self, left: str, index: int) -> bool:
        if index >= self._flag_end and left == chars.BLACK_FLAG:
            self._flag_end = next(
                (
                    index + len(tags)
                    for tags in chars.FLAG_TAGS
                    if self._text.startswith(tags, index)
                ),
                0,
            )
        return index < self._flag_end

    def _stands_with_dots(self, index: int) -> bool:
        """Return whether a braille cell with dots is in the line.

        There the blank cell is a space, or part of a picture.
        """
        if index > self._line_end:
            start = self._text.rfind("\n", 0, index) + 1
            end = self._text.find("\n", index)
            self._line_end = end if end >= 0 else len(self._text)
            self._line_has_dots = any(
                char in chars.BRAILLE for char in self._text[start : self._line_end]
            )
        return self._line_has_dots
