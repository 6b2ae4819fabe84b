r"""Find parts of a TeX formula that MathJax does not draw, or draws in white on white.

GitHub draws `$…$`, `$$…$$`, `` $`…`$ `` and code blocks of the language `math`. The parts are
comments, the arguments of commands that draw nothing (`\phantom`, `\label`, definitions), text in a
colour that looks like white, and text in a background colour of GitHub's dark themes. Black is no
such colour: it is what formulas are drawn in, though a black box hides them. Text behind a step of
many letters (`\kern-99em`) is not on the page, and a command or colour that the text itself defines
can be any of these.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from forge_bot.prompts.removals import RemovalKind, RemovedSpan

# The number of arguments of a command that are not drawn; the command itself is removed too.
_UNDRAWN = {
    "phantom": 1, "hphantom": 1, "vphantom": 1, "label": 1, "require": 1, "cssId": 1, "class": 1,
    "newcommand": 2, "renewcommand": 2, "providecommand": 2, "def": 1, "definecolor": 3,
    "newenvironment": 3, "mathchoice": 4, "mathtip": 2, "texttip": 2, "toggle": 2, "mmlToken": 2,
    "href": 1, "style": 2, "data": 1, "enclose": 1, "unicode": 1,
}  # fmt: skip
_STEPS = frozenset({
    "Space", "hskip", "hspace", "kern", "lower", "mkern", "moveleft", "moveright", "mskip",
    "mspace", "raise", "raisebox", "skew",
})  # fmt: skip
_LENGTH = re.compile(r"[\s{\[]*[-+]?\s*(?P<number>\d*[.,]?\d+)\s*(?P<unit>[a-z]{2})?")
_EMS = {
    "cm": 2.8, "ex": 0.5, "in": 7.2, "mm": 0.28, "mu": 1 / 18, "pc": 1.2, "pt": 0.1, "px": 0.06,
}  # fmt: skip
_FARTHEST = 20
"""The step, in widths of a letter, behind which a text is taken to be off its place."""
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|def|let)(?![a-z])\*?\s*(?:\{\s*)?\\"
    r"(?P<name>[A-Za-z]{1,80}|.)"
)
_DEFINED_COLOUR = re.compile(
    r"\\definecolor\s*\{(?P<name>[^{}]{1,80})\}\s*\{(?P<model>[^{}]{1,20})\}"
    r"\s*\{(?P<colour>[^{}]{1,80})\}"
)
_BODY = 200
"""The characters behind the name of a definition in which a command that hides makes it one."""
_BOXES = {"colorbox": 1, "fcolorbox": 2}
"""Commands that draw text in a box, with the number of their colours."""
_LAPS = frozenset({"llap", "mathllap", "mathrlap", "rlap"})
"""Commands that draw text over what stands beside it."""
_LOOKED_AT = 400
"""The characters of an argument that are looked at, since arguments can stand in each other."""
_LONGEST_LAP = 12
"""The letters that a text over another may have; one of more makes both unreadable."""
_TANGLED = re.compile(
    r"\\csname\b|\\arraystretch\b[\s{}]*(?:-|\d{2}|0?\.[0-4])|(?:\\!\s*){40}"
    r"|\\begin\{(?:d?array|subarray)\}\s*(?:\[\w\]\s*)?"
    r"\{[lcrpmbw|:@*!<>=+.\d\s-]{0,80}(?![lcrpmbw])[A-Za-z]"
)
"""What makes it impossible to say where the rest of a formula is drawn."""
_COVER = re.compile(r"\\rule\b|[\u2580-\u259f\u25a0\u25ac\u25ae]")
_BACKWARDS = re.compile(
    r"\\(?:math)?[clr]lap\b|\\(?:hskip|hspace|m?kern|mskip|mspace|moveleft)\s*\{?\s*-|\\!"
)
"""Signs that something is drawn, and that a text beside it may stand under it."""
_NEARLY_BLACK = 0.12
_COLOURS = frozenset({"color", "textcolor"})
_HIDING = frozenset((*_UNDRAWN, *_STEPS, *_BOXES, *_COLOURS)) - {"def", "newcommand", "label"}
_WHITE_NAMES = """
    white whitesmoke ghostwhite snow ivory floralwhite mintcream azure aliceblue seashell honeydew
    oldlace lavenderblush linen transparent
"""
_WHITES = frozenset(_WHITE_NAMES.split())
_COMMAND = re.compile(r"\\(?:[A-Za-z]+\*?|.|\Z)", re.DOTALL)
_HEX_WITH_ALPHA = re.compile(r"#(?:[0-9a-f]{4}|[0-9a-f]{8})")
_FAINTEST = 0.3
"""The share of its full strength below which a colour is taken to be transparent."""
_COLOUR_OF = re.compile(r"\\(?:text)?color\s*\{([^{}]*)\}")
_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})")
_NUMBER = re.compile(r"\d*\.?\d+")
_CLOSINGS = {
    "$$": re.compile(r"\$\$"),
    "`$": re.compile(r"`\$"),
    "$": re.compile(r"(?<![\\ \t\n])\$"),
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
    covered = _COVER.search(text, start, end) and _BACKWARDS.search(text, start, end)
    if covered or _TANGLED.search(text, start, end):
        return [RemovedSpan(start, end, RemovalKind.FORMULA)]
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
        if name in _UNDRAWN and (name != "unicode" or self._text.startswith("[", self._at)):
            for _ in range(_UNDRAWN[name]):
                self._skip_argument()
            return True
        if name in _BOXES:
            return self._is_unseen_box(_BOXES[name])
        if name == "bbox":
            return self._is_dark_frame()
        if name in _LAPS:
            letters = sum(sign.isalpha() for sign in _COMMAND.sub("", self._beginning()))
            if letters > _LONGEST_LAP:
                self._argument("{", "}")
            return letters > _LONGEST_LAP
        if name in _COLOURS:
            model = self._argument("[", "]")
            colour = self._argument("{", "}")
            named = colour.strip() in _defined(self._text)
            if not (named or is_unseen_colour(model, colour)):
                return False
        elif self._is_far(name):
            self._at = self._group_end(self._at, "{", "}")
            return True
        elif name not in _defined(self._text):
            return False
        self._at = self._past_space()
        if self._text.startswith("{", self._at, self._end):
            self._argument("{", "}")
        else:
            self._at = self._group_end(self._at, "{", "}")
        return True

    def _is_far(self, name: str) -> bool:
        """Return whether the command makes a step that leads off the place of its formula."""
        ends_row = name in {"\\", "cr"} and self._text.startswith("[", self._at)
        if name not in _STEPS and not ends_row:
            return False
        step = _LENGTH.match(self._text, self._at, min(self._end, self._at + 80))
        if step is None:
            return False
        # A length in braces is an argument of its own; what follows it stands off its place.
        self._at = step.end() + self._text.startswith("}", step.end())
        number = float(step["number"].replace(",", "."))
        return number * _EMS.get(step["unit"] or "", 1) > _FARTHEST

    def _is_unseen_box(self, colours: int) -> bool:
        """Return whether a box is as black as what is drawn in it."""
        model = self._argument("[", "]")
        given = [self._argument("{", "}") for _ in range(colours)][-1:]
        shares = [_shares(model.strip(), "".join(each.casefold().split())) for each in given]
        black = given == ["black"] or any(
            each and all(share <= _NEARLY_BLACK for share in each) for each in shares
        )
        named = any(each.strip() in _defined(self._text) for each in given)
        inside = {colour.strip() for colour in _COLOUR_OF.findall(self._beginning())}
        unseen = black or named or any(each.strip() in inside for each in given)
        if unseen:
            self._argument("{", "}")
        return unseen

    def _is_dark_frame(self) -> bool:
        """Return whether a frame has a background that may be as dark as what is drawn in it."""
        at, given = self._at, self._argument("[", "]")
        parts = ["".join(part.casefold().split()) for part in given.split(",")]
        dark = any(
            part == "black" or "background" in part or part.startswith(("#", "rgb"))
            for part in parts
        )
        if dark:
            self._argument("{", "}")
        else:
            self._at = at
        return dark

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

    def _beginning(self) -> str:
        """Return the beginning of the argument in braces that comes next, without moving past
        it.
        """
        at = self._past_space()
        if not self._text.startswith("{", at, self._end):
            return ""
        return self._text[at + 1 : self._group_end(at + 1, "{", "}", at + _LOOKED_AT)]

    def _group_end(self, at: int, opening: str, closing: str, before: int | None = None) -> int:
        """Return the place of the sign that closes the group open at `at`.

        Return the end of the formula, or a place `before` it, if there is none.
        """
        depth = 0
        end = self._end if before is None else min(before, self._end)
        while at < end:
            sign = self._text[at]
            if sign == closing and not depth:
                return at
            depth += (sign == opening) - (sign == closing)
            at += 2 if sign == "\\" else 1
        return end

    def _past_space(self) -> int:
        at = self._at
        while at < self._end and self._text[at].isspace():
            at += 1
        return at


@lru_cache(maxsize=4)
def _defined(text: str) -> frozenset[str]:
    """Return the commands and colours by which a text may hide others: a definition holds in all
    its formulas.
    """
    names = {
        found["name"]: text[found.end() : found.end() + _BODY]
        for found in _DEFINITION.finditer(text)
    }
    hides = any(
        command[1:].rstrip("*") in _HIDING
        for body in names.values()
        for command in _COMMAND.findall(body)
    )
    colours = (
        found["name"].strip()
        for found in _DEFINED_COLOUR.finditer(text)
        if is_unseen_colour(found["model"], found["colour"])
    )
    return frozenset((*colours, *(names if hides else ())))


def is_unseen_colour(model: str, colour: str) -> bool:
    """Return whether text in the colour cannot be told from a page of a light or a dark theme."""
    colour = "".join(colour.casefold().split())
    if colour in _WHITES:
        return True
    if _HEX_WITH_ALPHA.fullmatch(colour):
        width = len(colour) // 4
        faint = int(colour[-width:] * (3 - width), 16) / 255 < _FAINTEST
        return faint or is_unseen_colour(model, colour[:-width])
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
