"""Plan a model's edits in memory: each file as it would be, or the problems in words for the model.

A passage has to occur exactly once, letter by letter. The file keeps its line ends and its
encoding.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

from forge_bot.agent.model_answers import Edit, printable
from forge_bot.agent.providers.repository_files import git
from forge_bot.agent.text_files import (
    UNEDITABLE,
    NotText,
    TextFile,
    ambiguous,
    code_points,
    flat,
    inside,
    normalise,
    not_found,
    occurrences,
)
from forge_bot.errors import PathEscapes
from forge_bot.values import Frozen

Read = Callable[[str], bytes | None]

_MOST_BYTES = 2_500_000
_PATH_SHOWN = 200
_SUBMODULE = "160000"
_FENCE = re.compile(r"(`{3,}|~{3,})[^\n`]*\n")
_FENCED = "`new` has the fences of Markdown around the text of the file; leave them out."
_LINE_ENDS = re.compile(r"^\S+\s+w/(crlf|lf)\s", re.MULTILINE)
"""The line ends of a file in the work tree, as `git ls-files --eol` lists them."""

_MOST_LISTED = 50_000
"""The bytes that are read of such a list."""

_LEAST_LINES = 10
"""Lines with text of a file below which nothing counts as most of it."""

_NOTE = re.compile(
    r"\s*(?:(?:#+|//+|/?\*+|<!--|\{/\*|--+|;+|%+|!|'|\"{3}|REM\b|\(\*|\.{2}|…).*|\[.*\]|\(.*\)|\{.*\})\s*"
)
"""A line that is a comment in some language, a note in brackets, or begins with an ellipsis."""

_STANDS_IN = re.compile(
    r"\.{3}|…|\b(?:unchanged|unmodified|untouched|omitted|elided|snip(?:ped)?|truncated|abridged"
    r"|not shown|for brevity|as (?:before|above|is|it was|they (?:are|were))|(?:the|this) same"
    r"|no changes?|rest|remaining|remainder|everything else|all else|other|existing|previous"
    r"|original|continues?|goes? here)\b",
    re.IGNORECASE,
)
"""An ellipsis, or words with which models stand in for lines that they leave out."""

_LONGEST_NOTE = 120


class EditPlan(Frozen):
    """The planned files, None for deleted ones; empty if there is any problem.

    A partial change helps nobody.
    """

    files: tuple[tuple[str, bytes | None], ...] = ()
    problems: tuple[str, ...] = ()


class Folder:
    """Reads files of a work tree for `plan_edits`; refuses those that an edit must not touch."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None if it is missing.

        Of a file that is too large to edit, only enough bytes to show that are returned. Raises
        PathEscapes for links, folders and files of another repository.
        """
        try:
            return self._bytes(path, normalise(path))
        except OSError as error:
            shown, why = printable(path, _PATH_SHOWN), error.strerror
            raise PathEscapes(f"{shown} cannot be read: {why}.") from None

    def text(self, path: str) -> str:
        """Return the text of a file in UTF-8; empty for all else, and for a larger file."""
        try:
            data = self.read(path) or b""
            return data.decode() if len(data) <= _MOST_BYTES and b"\0" not in data else ""
        except (PathEscapes, UnicodeDecodeError):
            return ""

    def _bytes(self, path: str, name: str) -> bytes | None:
        place = self._root / name
        if place.is_symlink() or inside(self._root, path) != self._root.resolve() / name:
            raise PathEscapes(f"{path} is, or lies behind, a symbolic link.")
        if place.is_dir():
            raise PathEscapes(f"{path} is a folder.")
        for parent in [*PurePosixPath(name).parents][-2::-1]:
            self._check_folder(str(parent), path)
        if place.is_file():
            with place.open("rb") as file:
                return file.read(_MOST_BYTES + 1)
        if place.exists():
            raise PathEscapes(f"{path} is not an ordinary file.")
        return None

    def _check_folder(self, name: str, path: str) -> None:
        """Refuse what could never be committed: below a file, or in a nested repository."""
        folder = self._root / name
        if folder.is_file():
            raise PathEscapes(f"{name} is a file, so nothing can lie below it.")
        if not folder.is_dir():
            return
        staged = ("ls-files", "--stage", "-z", "--", f":(literal){name}")
        if (folder / ".git").exists() or (
            not any(folder.iterdir()) and git(self._root, *staged).text.startswith(_SUBMODULE)
        ):
            raise PathEscapes(
                f"{name} is a repository of its own, so {path} cannot be changed from here."
            )

    def line_end_of_kind(self, path: str) -> str:
        """Return the line end of most of the first files of a kind that git carries, if any."""
        kind = f":(glob)**/*{PurePosixPath(path).suffix}"
        listed = git(self._root, "ls-files", "--eol", "--", kind, most=_MOST_LISTED)
        ends = _LINE_ENDS.findall(listed.text)
        return ("\r\n" if ends.count("crlf") * 2 > len(ends) else "\n") if ends else ""


def plan_edits(
    read: Read, edits: Sequence[Edit], line_end: Callable[[str], str] = lambda _: ""
) -> EditPlan:
    """Apply the edits in order, each to the result of the previous ones.

    `read` returns the bytes of a file now, None if there is none, and may raise PathEscapes.
    `line_end` returns the line end of a new file, empty where it keeps its own. Files without a
    change are not in the plan.
    """
    tree = _Tree(read, line_end)
    problems: list[str] = []
    for number, edit in enumerate(edits, 1):
        try:
            tree.apply(edit)
        except (_Problem, PathEscapes) as problem:
            problems.append(
                f"Edit {number}, {edit.operation} {printable(edit.path, _PATH_SHOWN)}: {problem}"
            )
    problems += tree.collisions()
    return EditPlan(problems=tuple(problems)) if problems else EditPlan(files=tree.changed())


class _Problem(Exception):
    """The reason why one edit cannot be applied."""


class _Tree:
    """The files an edit list touches: before the edits, and now."""

    def __init__(self, read: Read, line_end: Callable[[str], str]) -> None:
        self._read = read
        self._line_end = line_end
        self._before: dict[str, bytes | None] = {}
        self._now: dict[str, bytes | None] = {}

    def apply(self, edit: Edit) -> None:
        path = _editable(edit.path)
        if path not in self._before:
            self._before[path] = self._now[path] = self._read(path)
        there = self._now[path]
        _check_contents(there, edit)
        match edit.operation:
            case "write" if there is None:
                if _is_fenced(edit.new):
                    raise _Problem(_FENCED)
                end = self._line_end(path)
                new = flat(edit.new).replace("\n", end) if end else edit.new
                self._now[path] = new.encode("utf-8")
            case "write":
                self._now[path] = _rewritten(_text(there or b""), edit)
            case "delete":
                if there is None:
                    raise _Problem("there is no such file, so it cannot be deleted.")
                self._now[path] = None
            case "replace" | "insert_before" | "insert_after":
                if there is None:
                    raise _Problem("there is no such file; `write` makes a new one.")
                self._now[path] = _change_file(_text(there), edit)
        if len(self._now[path] or b"") > _MOST_BYTES:
            raise _Problem(f"the file would be larger than {_MOST_BYTES:,} bytes.")

    def changed(self) -> tuple[tuple[str, bytes | None], ...]:
        return tuple(
            (path, data) for path, data in sorted(self._now.items()) if data != self._before[path]
        )

    def collisions(self) -> list[str]:
        there = {path for path, data in self._now.items() if data is not None}
        return [
            f"{inner} cannot be written: {outer} would be a file and a folder at once."
            for inner in sorted(there)
            for outer in map(str, PurePosixPath(inner).parents)
            if outer in there
        ]


def _editable(path: str) -> str:
    name = normalise(path)
    if not name or path.endswith("/"):
        raise _Problem("this names no file.")
    if any(part != part.strip() for part in name.split("/")):
        raise _Problem("no part of a path may begin or end with a space.")
    return name


def _check_contents(there: bytes | None, edit: Edit) -> None:
    if edit.operation != "delete" and len(there or b"") > _MOST_BYTES:
        raise _Problem(
            f"the file has more than {_MOST_BYTES:,} bytes, too many to be edited; leave it to a"
            " person."
        )
    if "\0" in edit.new:
        raise _Problem("`new` holds a NUL character, which no text file has.")


def _text(data: bytes) -> TextFile:
    try:
        return TextFile.read(data)
    except NotText as error:
        raise _Problem(f"{error}, {UNEDITABLE}") from None


def _encode(file: TextFile, text: str) -> bytes:
    """Return the bytes of a file with another text."""
    try:
        return file.replace(text=text).data
    except UnicodeEncodeError as error:
        sign = code_points(error.object[error.start])
        raise _Problem(
            f"the file's encoding is {file.encoding}, which has no {sign}; write it another way."
        ) from None


def _rewritten(file: TextFile, edit: Edit) -> bytes:
    old, new = flat(file.text), flat(edit.new)
    if _is_fenced(new) and not _is_fenced(old):
        raise _Problem(_FENCED)
    _check_stand_in(old, new)
    _check_loss(old, new)
    text = new.replace("\n", file.line_end) if file.line_end else edit.new
    return _encode(file, text.removeprefix("\ufeff"))


def _is_fenced(text: str) -> bool:
    """Return whether all of a text stands between two fences of Markdown."""
    stripped = text.strip()
    fence = _FENCE.match(stripped)
    if fence is None or not stripped.endswith("\n" + fence[1]):
        return False
    return stripped.count("\n" + fence[1]) == 1


def _check_loss(old: str, new: str) -> None:
    """Raise _Problem for a whole-file write that loses most lines of the file."""
    lines, come = _filled(old), _filled(new)
    lost = Counter(lines) - Counter(come)
    if len(lines) < _LEAST_LINES or len(come) * 2 >= len(lines) or lost.total() * 2 <= len(lines):
        return
    raise _Problem(
        f"`new` is to be the whole file, and most of the file is not in it:"
        f" {_missing(lines, lost)}. Give the whole text, or change passages by `replace`. If the"
        " lines are to go, delete the file first and write it after that."
    )


def _check_stand_in(old: str, new: str) -> None:
    """Raise _Problem for a new line that stands in for lines of the file: a note that says so, at
    whose place more lines go than come.
    """
    lines, come = _filled(old), _filled(new)
    notes = {line for line in set(come) - set(lines) if _stands_in(line)}
    changes = SequenceMatcher(None, lines, come, autojunk=False).get_opcodes() if notes else ()
    for _, first, last, start, end in changes:
        lost = Counter(lines[first:last]) - Counter(come)
        note = next((line for line in come[start:end] if line in notes), None)
        if note is not None and lost.total() > end - start:
            raise _Problem(
                f"the line `{note.strip()}` stands in for text that would be lost:"
                f" {_missing(lines[first:last], lost)}. Give the text itself, or change only the"
                " passages that change, by `replace`."
            )


def _stands_in(line: str) -> bool:
    note = len(line) <= _LONGEST_NOTE and _NOTE.fullmatch(line)
    return bool(note and _STANDS_IN.search(line))


def _filled(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _missing(lines: list[str], lost: Counter[str]) -> str:
    """Return how many lines are missing, and the first of them."""
    first = next(line for line in lines if line in lost).strip()[:100]
    return f"{lost.total()} of {len(lines)} lines are missing, the first one `{first}`"


def _change_file(file: TextFile, edit: Edit) -> bytes:
    text = (_replace_passage if edit.operation == "replace" else _insert_lines)(file, edit)
    _check_stand_in(flat(file.text), flat(text))
    return _encode(file, text)


def _replace_passage(file: TextFile, edit: Edit) -> str:
    if not edit.old:
        raise _Problem("`old` is empty; `write` makes whole files.")
    if flat(edit.old) == flat(edit.new):
        raise _Problem("`old` and `new` are the same.")
    start, end, line_end = _place(file, edit.old)
    new = flat(edit.new)
    if end == len(file.text) and edit.old.endswith("\n") and not file.text.endswith("\n"):
        new = new.removesuffix("\n")
    return file.text[:start] + new.replace("\n", line_end) + file.text[end:]


def _insert_lines(file: TextFile, edit: Edit) -> str:
    """Return the text with the lines of `new` before or after the lines that hold `old`."""
    old, new = flat(edit.old), flat(edit.new)
    if not old.strip():
        raise _Problem("`old` names no line; quote the lines that the new ones stand beside.")
    if not new:
        raise _Problem("`new` is empty: there are no lines to insert.")
    before = edit.operation == "insert_before"
    if _repeats(old, new, before=before):
        raise _Problem("`new` repeats `old`, which stays; give the new lines alone.")
    start, end, line_end = _place(file, edit.old)
    lines = new.removesuffix("\n").replace("\n", line_end) + line_end
    text = file.text
    if before:
        first = text.rfind("\n", 0, start) + 1
        return text[:first] + lines + text[first:]
    if not (after := text.find("\n", end - 1) + 1):
        return text + line_end + lines.removesuffix(line_end)
    return text[:after] + lines + text[after:]


def _place(file: TextFile, old: str) -> tuple[int, int, str]:
    """Return where the only occurrence of a passage begins and ends, and the line end of what
    stands there.

    A newline that the last line of the file does not have may be quoted: an excerpt cannot show
    that it is missing.
    """
    text, quoted = file.text, flat(old)
    own = file.line_end or "\n"
    for line_end in (own, "\n" if own == "\r\n" else "\r\n"):
        passage = quoted.replace("\n", line_end)
        if passage not in text and text.endswith(passage.removesuffix(line_end)):
            passage = passage.removesuffix(line_end)
        positions = occurrences(text, passage)
        if len(positions) == 1:
            return positions[0], positions[0] + len(passage), line_end
        if positions:
            raise _Problem(ambiguous(text, positions))
    raise _Problem(not_found(flat(text), quoted))


def _repeats(old: str, new: str, *, before: bool) -> bool:
    """Return whether new lines hold the lines beside which they are to stand, next to them."""
    lines, new_lines = old.strip("\n").split("\n"), new.strip("\n").split("\n")
    count = len(lines)
    return lines == (new_lines[-count:] if before else new_lines[:count])
