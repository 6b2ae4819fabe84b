r"""Find parts of a TeX formula that MathJax does not draw, or draws in white on white.

GitHub draws `$…$`, `$$…$$`, `` $`…`$ `` and code blocks of the language `math`. The parts are
comments, the arguments of commands that draw nothing (`\phantom`, `\label`, definitions), text in a
colour that looks like white, and text in a background colour of GitHub's dark themes. Black is no
such colour: it is what formulas are drawn in.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from forge_bot.lazy_regex import lazy_regex
from forge_bot.prompts.removals import RemovalKind, RemovedSpan

# The number of arguments of a command that are not drawn; the command itself is removed too.
_UNDRAWN = {
    "phantom": 1, "hphantom": 1, "vphantom": 1, "label": 1, "require": 1, "cssId": 1, "class": 1,
    "newcommand": 2, "renewcommand": 2, "providecommand": 2, "def": 1, "definecolor": 3,
    "newenvironment": 3,
}  # fmt: skip
_COLOURS = frozenset({"color", "textcolor"})
_WHITE_NAMES = """
    white whitesmoke ghostwhite snow ivory floralwhite mintcream azure aliceblue seashell honeydew
    oldlace lavenderblush linen transparent
"""
_WHITES = frozenset(_WHITE_NAMES.split())
_COMMAND = lazy_regex(r"\\(?:[A-Za-z]+\*?|.|\Z)", re.DOTALL)
_HEX = lazy_regex(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})")
_NUMBER = lazy_regex(r"\d*\.?\d+")
_CLOSINGS = {
    "$$": lazy_regex(r"\$\$"),
    "`$": lazy_regex(r"`\$"),
    "$": lazy_regex(r"(?<![\\ \t\n])\$"),
}
_NEARLY_WHITE = 0.88
"""The share of full light above which a colour counts as white, for red, green and blue alike."""


_DARK_PAGES = ((13, 17, 23), (22, 27, 34), (33, 40, 48), (34, 39, 46), (45, 51, 59))
"""The backgrounds of GitHub's dark themes, as red, green and blue of 255: of pages, boxes and
code."""
_SAME_COLOUR = 5
"""The difference of each part up to which a colour cannot be told from a background."""


class Formula(NamedTuple):
    """A formula in a text: the offsets of the content between its delimiters, and its end."""

    start: int
    end: int
    after: int


class Formulas:
    """The formulas of one text.

    Each closing delimiter is searched once, so the time grows with the length of the text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, tuple[int, int]] = {}

    def at(self, place: int) -> Formula | None:
        """Return the formula whose first `$` is at a place, or None when the sign is only a sign.

        As on GitHub, no word touches the outside of a delimiter: `$5 and $6` and `$HOME/$USER` are
        no formulas.
        """
        text = self._text
        if text[place - 1 : place].isalnum() or text.endswith(("\\", "$"), 0, place):
            return None
        mark = next((mark for mark in ("$$", "$`") if text.startswith(mark, place)), "$")
        start = place + len(mark)
        if mark == "$" and text[start : start + 1].isspace():
            return None
        end = self._closing(mark[::-1], start + 1)
        if end < 0 or (mark == "$" and text[end + 1 : end + 2].isalnum()):
            return None
        return Formula(start, end, end + len(mark))

    def _closing(self, mark: str, at: int) -> int:
        """Return the first place of a closing delimiter from a place on, or -1."""
        asked, found = self._found.get(mark, (0, 0))
        if not asked <= at or 0 <= found < at or not asked:
            match = _CLOSINGS[mark].search(self._text, at)
            found = match.start() if match else -1
            self._found[mark] = (at, found)
        return found


def hidden_in_formula(text: str, start: int, end: int) -> list[RemovedSpan]:
    """Return the invisible spans of a formula that is given by its offsets in the text."""
    return [
        RemovedSpan(first, stop, RemovalKind.FORMULA)
        for first, stop in _Reader(text, start, end).spans()
        if stop > first
    ]


class _Reader:
    def __init__(self, text: str, start: int, end: int) -> None:
        self._text = text
        self._end = end
        self._at = start

    def spans(self) -> Iterator[tuple[int, int]]:
        while self._at < self._end:
            start, sign = self._at, self._text[self._at]
            if sign == "%":
                stop = self._text.find("\n", start, self._end)
                self._at = stop if stop >= 0 else self._end
                yield start, self._at
            elif sign == "\\":
                command = _COMMAND.match(self._text, start, self._end)
                self._at = command.end() if command else start + 1
                if command and self._is_unseen(command[0][1:].rstrip("*")):
                    yield start, self._at
            else:
                self._at += 1

    def _is_unseen(self, name: str) -> bool:
        """Return whether the current command and its arguments are invisible.

        If so, move past it.
        """
        if name in _UNDRAWN:
            for _ in range(_UNDRAWN[name]):
                self._skip_argument()
            return True
        if name not in _COLOURS:
            return False
        model = self._argument("[", "]")
        colour = self._argument("{", "}")
        if not _is_unseen_colour(model, colour):
            return False
        self._at = self._past_space()
        if self._text.startswith("{", self._at, self._end):
            self._argument("{", "}")
        else:
            self._at = self._group_end(self._at, "{", "}")
        return True

    def _skip_argument(self) -> None:
        r"""Skip `[…]`, `\name` and signs up to the next braces, and these."""
        while (at := self._past_space()) < self._end and self._text[at] == "[":
            self._argument("[", "]")
        if command := _COMMAND.match(self._text, at, self._end):
            self._at = self._past_parameters(command.end())
        self._argument("{", "}")

    def _past_parameters(self, at: int) -> int:
        """Skip `#1#2` after the name in a definition."""
        while at < self._end and self._text[at] in "#123456789 ":
            at += 1
        return at

    def _argument(self, opening: str, closing: str) -> str:
        """Read the argument between these signs if it comes next."""
        at = self._past_space()
        if not self._text.startswith(opening, at, self._end):
            return ""
        stop = self._group_end(at + 1, opening, closing)
        self._at = min(stop + 1, self._end)
        return self._text[at + 1 : stop]

    def _group_end(self, at: int, opening: str, closing: str) -> int:
        """Return the place of the sign that closes the group open at `at`.

        Return the end of the formula if there is none.
        """
        depth = 0
        while at < self._end:
            sign = self._text[at]
            if sign == closing and not depth:
                return at
            depth += (sign == opening) - (sign == closing)
            at += 2 if sign == "\\" else 1
        return self._end

    def _past_space(self) -> int:
        at = self._at
        while at < self._end and self._text[at].isspace():
            at += 1
        return at


def _is_unseen_colour(model: str, colour: str) -> bool:
    """Return whether text in the colour cannot be told from a page of a light or a dark theme."""
    colour = "".join(colour.casefold().split())
    if colour in _WHITES:
        return True
    shares = _shares(model.strip(), colour)
    if not shares:
        return False
    if all(share >= _NEARLY_WHITE for share in shares):
        return True
    parts = [round(share * 255) for share in (shares * 3)[:3]]
    return any(
        all(abs(part - other) <= _SAME_COLOUR for part, other in zip(parts, page, strict=True))
        for page in _DARK_PAGES
    )


def _shares(model: str, colour: str) -> list[float]:
    """Return the shares of full light of a colour's parts; nothing for one that is only a name."""
    if _HEX.fullmatch(colour):
        width = len(colour) // 3
        return [
            int(colour[1 + width * place :][:width] * (3 - width), 16) / 255 for place in range(3)
        ]
    if not model and not colour.startswith("rgb"):
        return []
    full = 1 if model in {"rgb", "gray"} else 255
    return [float(number) / full for number in _NUMBER.findall(colour)[:3]]


def drawing_comments(text: str, start: int, end: int) -> Iterator[RemovedSpan]:
    """Yield the comments of a Mermaid diagram between these offsets: lines that begin with `%%`."""
    for found in re.compile(r"^[ \t]*(%%.*)$", re.MULTILINE).finditer(text, start, end):
        yield RemovedSpan(found.start(1), found.end(1), RemovalKind.DIAGRAM_COMMENT)
