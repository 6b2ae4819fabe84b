"""Keep the paths that a model names inside the work tree; read a text file in its own encoding, and
find a passage in it or say why it is not there.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

from forge_bot.agent.model_answers import fenced
from forge_bot.errors import PathEscapes
from forge_bot.values import Frozen

# Names by which file systems of other machines also reach git's own folder.
_GITS_OWN = frozenset({".git", "git~1"})


def inside(root: Path, path: str) -> Path:
    """Return the real place of `path` below `root`, links followed.

    Raises PathEscapes if it leads anywhere else.
    """
    wanted, place = normalise(path), root.resolve()
    # Path.resolve raises before Python 3.13 for links that lead to each other.
    real = Path(os.path.realpath(place / wanted))
    if not real.is_relative_to(place):
        raise PathEscapes(f"{path} leads out of the repository.")
    if is_git_folder(real.relative_to(place).parts):
        raise PathEscapes(f"{path} is git's own.")
    return real


def normalise(path: str) -> str:
    """Return `path` without detours, from the root; empty for the root itself.

    Only the text is checked. Raises PathEscapes.
    """
    if any(not char.isprintable() for char in path):
        raise PathEscapes(f"{path!r} has characters that no path should have.")
    pure = PurePosixPath(path)
    if pure.is_absolute() or "\\" in path or path.startswith("~"):
        raise PathEscapes(
            f"{path} is not a path from the root of the repository, such as src/app.py."
        )
    if ".." in pure.parts:
        raise PathEscapes(f"{path} leads out of the repository.")
    if is_git_folder(pure.parts):
        raise PathEscapes(f"{path} is git's own.")
    return "" if str(pure) == "." else str(pure)


def is_git_folder(parts: tuple[str, ...]) -> bool:
    """Return whether any part is git's folder on any file system."""
    return any(part.casefold().rstrip(". ") in _GITS_OWN for part in parts)


def expand_braces(glob: str) -> Iterator[str]:
    """Yield the globs of one with braces, which git does not know: `*.{py,toml}` becomes `*.py` and
    `*.toml`.
    """
    choice = _CHOICE.search(glob)
    if choice is None:
        yield glob
        return
    for part in choice[1].split(","):
        yield from expand_braces(f"{glob[: choice.start()]}{part}{glob[choice.end() :]}")


_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")


_WORD = re.compile(r"\w+|[^\w\s]")
_LEAST_ALIKE = 0.4
_SHOWN_LINES = 40
_MOST_LINES_NAMED = 8
_SIGNS_NAMED = 5
_COMPARED = 3_000

_DECLARED = re.compile(
    rb"\A(?:[^\n]*\n)?[ \t\f]*(?:#|//|/\*|;|%|--|<!--|<\?xml)[^\n]*?coding[:=][ \t\"']*([-\w.]+)",
    re.IGNORECASE,
)
"""An encoding that a comment in one of the first two lines declares, or XML."""

_CONTROL = re.compile(rb"[\x80-\x9f]")
"""Bytes that are no characters in Latin-1."""

UNEDITABLE = "which cannot be edited. Leave the file to a person, and say so."
"""The end of a complaint about an edit that no other edit can mend."""


class NotText(Exception):
    """The file is no text in an encoding that is known."""


class TextFile(Frozen):
    """A text with its own line ends and its own encoding. Models see and quote it with LF."""

    text: str
    bom: bool = False
    encoding: str = "utf-8"

    @classmethod
    def read(cls, data: bytes) -> "TextFile":
        """Return the text in `data`. Raises NotText for binary files and unknown encodings."""
        if b"\0" in data:
            raise NotText("it is a binary file")
        encoding = _encoding(data)
        try:
            text = data.decode(encoding)
            exact = text.encode(encoding) == data
        except (UnicodeError, LookupError):
            exact, text = False, ""
        if not exact:
            raise NotText(f"it cannot be read as {encoding}, which it has to be")
        bom = text.startswith("\ufeff")
        return cls(text=text.removeprefix("\ufeff"), bom=bom, encoding=encoding)

    @property
    def data(self) -> bytes:
        """Return the bytes of the file. Raises UnicodeEncodeError."""
        return ("\ufeff" * self.bom + self.text).encode(self.encoding)

    @property
    def line_end(self) -> str:
        """Return the line end of most lines; empty if there is only one line."""
        if "\n" not in self.text:
            return ""
        return "\r\n" if self.text.count("\r\n") * 2 > self.text.count("\n") else "\n"


def _encoding(data: bytes) -> str:
    """Return the encoding of a text: the declared one of bytes that are ASCII or no UTF-8. Raises
    NotText.
    """
    declared = _DECLARED.match(data)
    name = declared[1].decode("ascii", "replace") if declared else ""
    try:
        data.decode()
    except UnicodeDecodeError:
        if not name and _CONTROL.search(data):
            raise NotText("it is not UTF-8 text and declares no encoding") from None
        return name or "latin-1"
    return name if name and data.isascii() else "utf-8"


def flat(text: str) -> str:
    return text.replace("\r\n", "\n")


def occurrences(text: str, passage: str) -> tuple[int, ...]:
    """Return every position of the passage, overlapping ones included: they are as ambiguous."""
    return tuple(match.start() for match in re.finditer(f"(?={re.escape(passage)})", text))


def ambiguous(text: str, positions: tuple[int, ...]) -> str:
    """Return the complaint about a passage that occurs several times."""
    lines = [str(text.count("\n", 0, at) + 1) for at in positions[:_MOST_LINES_NAMED]]
    more = " and more" if len(positions) > _MOST_LINES_NAMED else ""
    return (
        f"`old` occurs {len(positions)} times, at lines {', '.join(lines)}{more}. Quote more of the"
        " lines around the one you mean."
    )


def not_found(text: str, old: str) -> str:
    """Return the complaint about a passage that does not occur, with the nearest lines."""
    lines, size = text.split("\n"), len(old.strip("\n").split("\n"))
    first = _nearest(lines, size, old)
    if first is None:
        return (
            "`old` does not occur in the file, and nothing in it resembles it. Read the file again."
        )
    nearest = lines[first : first + size]
    shown = nearest if size <= _SHOWN_LINES else [*nearest[:_SHOWN_LINES], "[…]"]
    unseen = _name_unseen(nearest, old)
    return (
        f"`old` does not occur in the file. Lines {first + 1}-{first + len(nearest)} come nearest;"
        f" quote them exactly as they stand:\n{fenced(chr(10).join(shown))}{unseen}"
    )


def _nearest(lines: list[str], size: int, passage: str) -> int | None:
    """Return the first of the lines that share most words with the passage; None if too few."""
    wanted = Counter(_WORD.findall(passage))
    shared = [Counter(word for word in _WORD.findall(line) if word in wanted) for line in lines]
    window, best, place = Counter[str](), _LEAST_ALIKE * wanted.total(), None
    for last, words in enumerate(shared):
        window.update(words)
        if last >= size:
            window.subtract(shared[last - size])
        score = sum(min(window[word], count) for word, count in wanted.items())
        if score > best:
            best, place = score, max(last - size + 1, 0)
    return place


def _name_unseen(lines: list[str], old: str) -> str:
    """Return the differences beyond visible ASCII between lines and their quotation."""
    sentences: dict[str, None] = {}
    for line, quoted in zip(lines, old.strip("\n").split("\n"), strict=False):
        compared = SequenceMatcher(None, line[:_COMPARED], quoted[:_COMPARED], autojunk=False)
        for operation, first, last, start, end in compared.get_opcodes():
            signs = line[first:last], quoted[start:end]
            plain = all(part.isascii() and part.isprintable() for part in signs)
            if operation != "equal" and not plain:
                there, here = (code_points(part[:_SIGNS_NAMED]) or "nothing" for part in signs)
                sentences[f"The file has {there} where `old` has {here}."] = None
    return "".join(f"\n{sentence}" for sentence in list(sentences)[:_SIGNS_NAMED])


def code_points(text: str) -> str:
    """Return the code points of some characters, each with its name."""
    return ", ".join(f"U+{ord(sign):04X} {unicodedata.name(sign, '').lower()}" for sign in text)
