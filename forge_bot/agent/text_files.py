"""Find a passage in a text file, or say why not; change it, and keep every other byte."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher
from functools import cached_property
from heapq import nlargest
from pathlib import Path

from forge_bot.agent.model_feedback import fenced
from forge_bot.values import Frozen

_WORD = re.compile(r"\w+|[^\w\s]")
# Comparing characters is slow, so only the windows that share most words are compared, up to this
# length.
_WINDOWS = 5
_COMPARED = 3_000
_LEAST_ALIKE = 0.4
_SHOWN_LINES = 40
_MOST_LINES_NAMED = 8
_SIGNS_NAMED = 5


class Region(Frozen):
    """Some lines of a text and their similarity to the passage, from 0 to 1."""

    first: int
    last: int
    text: str
    alike: float
    start: int


def occurrences(text: str, passage: str) -> tuple[int, ...]:
    """Return every position of the passage.

    Overlapping ones are included, since they are just as ambiguous.
    """
    found: list[int] = []
    at = text.find(passage) if passage else -1
    while at >= 0:
        found.append(at)
        at = text.find(passage, at + 1)
    return tuple(found)


def line_of(text: str, position: int) -> int:
    """Return the number of the line at a position, from 1."""
    return text.count("\n", 0, position) + 1


def similarity(one: str, other: str) -> float:
    """Return the similarity of two texts from 0 to 1, without surrounding blanks."""
    return SequenceMatcher(
        None, one.strip()[:_COMPARED], other.strip()[:_COMPARED], autojunk=False
    ).ratio()


def closest(text: str, passage: str) -> Region | None:
    """Return the lines most like the passage, as many as it has; None if nothing resembles it."""
    lines = text.split("\n")
    size = max(1, min(len(passage.strip("\n").split("\n")), len(lines)))
    best = max(
        (_region(lines, first, size, passage) for first in _promising(lines, size, passage)),
        key=lambda r: r.alike,
        default=None,
    )
    return best if best and best.alike >= _LEAST_ALIKE else None


def shown_lines(region: Region) -> str:
    """Return the lines of a region, up to a useful number."""
    lines = region.text.split("\n")
    return "\n".join(lines if len(lines) <= _SHOWN_LINES else [*lines[:_SHOWN_LINES], "[…]"])


def _region(lines: list[str], first: int, size: int, passage: str) -> Region:
    window = "\n".join(lines[first : first + size])
    start = sum(len(line) + 1 for line in lines[:first])
    return Region(
        first=first + 1,
        last=first + size,
        text=window,
        alike=similarity(passage, window),
        start=start,
    )


def _promising(lines: list[str], size: int, passage: str) -> list[int]:
    """Return the first lines of the windows that share most words with the passage."""
    goal = Counter(_WORD.findall(passage))
    shared = [Counter(word for word in _WORD.findall(line) if word in goal) for line in lines]
    window = sum(shared[:size], Counter[str]())
    scores: list[tuple[int, int]] = []
    for first in range(len(lines) - size + 1):
        if first:
            window.subtract(shared[first - 1])
            window.update(shared[first + size - 1])
        scores.append((sum(min(window[word], wanted) for word, wanted in goal.items()), -first))
    return [-place for score, place in nlargest(_WINDOWS, scores) if score]


_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_LINE_END = re.compile(r"\r?\n")
_LONGEST_LINE = 10_000
"""The bytes within which a file's first line has to end."""

_DECLARED = re.compile(
    rb"\A(?:(?:[^\n]*\n)?[ \t\f]*(?:\#|//|/\*|;|%|--|<!--)[^\n]*?coding[:=][ \t]*"
    rb"|\s*<\?xml[^>]*encoding=[\"']|\s*<.{0,1000}?<meta[^>]*charset=[\"']?)([-\w.]+)",
    re.DOTALL | re.IGNORECASE,
)
"""A declared encoding: a comment in one of the first two lines (PEP 263), of XML or of HTML."""

_CONTROL = re.compile(rb"[\x80-\x9f]")
"""Bytes that are no characters in Latin-1."""


UNEDITABLE = "which cannot be edited. Leave the file to a person, and say so."
"""The end of a complaint about an edit that no other edit can mend."""


class NotText(Exception):
    """The file is no text in an encoding that is known."""


def _encoding(body: bytes) -> str:
    """Return the encoding of a text: the declared one of bytes that are ASCII or no UTF-8."""
    declared = _DECLARED.match(body)
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        if declared is not None:
            return declared[1].decode("ascii", "replace")
        if _CONTROL.search(body):
            raise NotText("it is not UTF-8 text and declares no encoding") from None
        return "latin-1"
    return declared[1].decode("ascii", "replace") if declared and body.isascii() else "utf-8"


class TextFile(Frozen):
    """A text with its own line ends and its own encoding.

    `flat` is the same text with every CRLF as LF, which is how models see and quote it.
    """

    text: str
    bom: bool = False
    encoding: str = "utf-8"

    @classmethod
    def read(cls, data: bytes) -> "TextFile":
        """Return the text in `data`. Raises NotText for binary files and unknown encodings."""
        bom = data.startswith(_BOM)
        body = data[len(_BOM) :] if bom else data
        if data.startswith(_UTF_16):
            raise NotText("it is UTF-16 text")
        if b"\0" in body:
            raise NotText("it is a binary file")
        encoding = "utf-8" if bom else _encoding(body)
        try:
            text = body.decode(encoding)
            exact = text.encode(encoding) == body
        except (UnicodeError, LookupError):
            exact, text = False, ""
        if not exact:
            raise NotText(f"it cannot be read as {encoding}, which it has to be")
        return cls(text=text, bom=bom, encoding=encoding)

    @property
    def data(self) -> bytes:
        """Return the bytes of the file. Raises UnicodeEncodeError."""
        return (_BOM if self.bom else b"") + self.text.encode(self.encoding)

    @cached_property
    def flat(self) -> str:
        """The text as models see it."""
        return flat(self.text)

    @cached_property
    def _dropped(self) -> list[int]:
        """Return the places in `flat` where a line end was CRLF."""
        return [match.start() - count for count, match in enumerate(re.finditer("\r\n", self.text))]

    def replaced(self, start: int, end: int, new: str) -> "TextFile":
        """Return the file with `new` in place of `flat[start:end]`.

        The first lines of `new` get the line ends of the replaced ones. Further lines get that of
        the last replaced one, or of most of the file.
        """
        first, last = (at + bisect_left(self._dropped, at) for at in (start, end))
        there = _LINE_END.findall(self.text[first:last]) or [self._line_end(self.text) or "\n"]
        lines = flat(new).split("\n")
        ends = [*there, *there[-1:] * len(lines)]
        kept = "".join(line + end for line, end in zip(lines[:-1], ends, strict=False)) + lines[-1]
        return self._with(self.text[:first] + kept + self.text[last:])

    def rewritten(self, new: str) -> "TextFile":
        """Return a new text with the line ends and the byte order mark of this file."""
        ends = self._line_end(self.text)
        kept = flat(new).replace("\n", ends) if ends else new
        return self._with(kept.removeprefix("\ufeff"))

    def _with(self, text: str) -> "TextFile":
        return TextFile(text=text, bom=self.bom, encoding=self.encoding)

    @staticmethod
    def _line_end(text: str) -> str:
        """Return the most frequent line end in `text`; empty if it has none."""
        crlf = text.count("\r\n")
        if "\n" not in text:
            return ""
        return "\r\n" if crlf * 2 > text.count("\n") else "\n"


def flat(text: str) -> str:
    """Return the text with every CRLF as LF."""
    return text.replace("\r\n", "\n")


def first_line_end(place: Path) -> str:
    """Return the end of the first line of an ordinary file; empty if it has none."""
    try:
        if not place.is_file():
            return ""
        with place.open("rb") as file:
            first = file.readline(_LONGEST_LINE)
    except OSError:
        return ""
    return "\r\n" if first.endswith(b"\r\n") else "\n" if first.endswith(b"\n") else ""


def is_applied(text: str, old: str, new: str, found: tuple[int, ...]) -> bool:
    """Return whether this edit was made before.

    Then `new` occurs in the text once, `old` occurs only inside it, and no other place resembles
    `old` more than `new` does. The last part tells a repeated edit from one that misquotes the
    file.
    """
    places = occurrences(text, new)
    if len(places) != 1:
        return False
    start, end = places[0], places[0] + len(new)
    if any(at < start or at + len(old) > end for at in found):
        return False
    if found:
        return True
    nearest = closest(text, old)
    there = nearest is None or (nearest.start < end and nearest.start + len(nearest.text) > start)
    return there or (nearest is not None and nearest.alike <= similarity(old, new))


def ambiguous(text: str, found: tuple[int, ...]) -> str:
    """Return the complaint about a passage that occurs several times."""
    lines = [str(line_of(text, at)) for at in found[:_MOST_LINES_NAMED]]
    more = " and more" if len(found) > _MOST_LINES_NAMED else ""
    return (
        f"`old` occurs {len(found)} times, at lines {', '.join(lines)}{more}. Quote more of the"
        " lines around the one you mean."
    )


def not_found(text: str, old: str) -> str:
    """Return the complaint about a passage that does not occur, with the nearest lines."""
    nearest = closest(text, old)
    if nearest is None:
        return (
            "`old` does not occur in the file, and nothing in it resembles it. Read the file again."
        )
    place = f"Lines {nearest.first}-{nearest.last} come nearest ({nearest.alike:.0%} alike)"
    return (
        f"`old` does not occur in the file. {place}; quote them exactly as they"
        f" stand:\n{fenced(shown_lines(nearest))}{_unseen(nearest.text, old)}"
    )


def code_points(text: str) -> str:
    """Return the code points of some characters, each with its name."""
    return ", ".join(f"U+{ord(sign):04X} {unicodedata.name(sign, '').lower()}" for sign in text)


def _unseen(text: str, old: str) -> str:
    """Return the differences beyond visible ASCII between lines and their quotation; empty if there
    are none.
    """
    told: dict[str, None] = {}
    for line, quoted in zip(text.split("\n"), old.strip("\n").split("\n"), strict=False):
        compared = SequenceMatcher(None, line[:_COMPARED], quoted[:_COMPARED], autojunk=False)
        for operation, first, last, start, end in compared.get_opcodes():
            signs = line[first:last], quoted[start:end]
            if operation != "equal" and not all(map(_is_plain, signs)):
                there, here = (code_points(part[:_SIGNS_NAMED]) or "nothing" for part in signs)
                told[f"The file has {there} where `old` has {here}."] = None
    return "".join(f"\n{sentence}" for sentence in list(told)[:_SIGNS_NAMED])


def _is_plain(text: str) -> bool:
    """Return whether a reader can tell these characters from all others."""
    return text.isascii() and text.isprintable()
