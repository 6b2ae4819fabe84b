"""Change a text file in one place and keep every other byte."""

import re
from bisect import bisect_left
from functools import cached_property
from pathlib import Path

from forge_bot.values import Frozen

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(r"\r?\n")
_LONGEST_LINE = 10_000
"""The bytes within which a file's first line has to end."""


class NotText(Exception):
    """The file is no UTF-8 text."""


class TextFile(Frozen):
    """A text with its own line ends.

    `flat` is the same text with every CRLF as LF, which is how models see and quote it.
    """

    text: str
    bom: bool = False

    @classmethod
    def read(cls, data: bytes) -> "TextFile":
        """Return the text in `data`. Raises NotText for binary files and other encodings."""
        bom = data.startswith(_BOM)
        body = data[len(_BOM) :] if bom else data
        if b"\0" in body:
            raise NotText("it is a binary file")
        try:
            return cls(text=body.decode("utf-8"), bom=bom)
        except UnicodeDecodeError:
            raise NotText("it is not UTF-8 text") from None

    @property
    def data(self) -> bytes:
        """Return the bytes of the file."""
        return (_BOM if self.bom else b"") + self.text.encode("utf-8")

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
        return TextFile(text=self.text[:first] + kept + self.text[last:], bom=self.bom)

    def rewritten(self, new: str) -> "TextFile":
        """Return a new text with the line ends and the byte order mark of this file."""
        ends = self._line_end(self.text)
        kept = flat(new).replace("\n", ends) if ends else new
        return TextFile(text=kept.removeprefix("\ufeff"), bom=self.bom)

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
