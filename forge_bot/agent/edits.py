"""Plan a model's edits in memory:

each file as it would be, or the problems in words for the model.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from forge_bot.agent.lost_lines import FENCED, is_fenced, loss_problem, placeholder_problem
from forge_bot.agent.model_answers import Edit
from forge_bot.agent.model_feedback import printable
from forge_bot.agent.paths import inside, normalise
from forge_bot.agent.providers.git_read_only import git
from forge_bot.agent.text_files import (
    UNEDITABLE,
    NotText,
    TextFile,
    ambiguous,
    code_points,
    first_line_end,
    flat,
    is_applied,
    not_found,
    occurrences,
)
from forge_bot.errors import PathEscapes
from forge_bot.sentences import say
from forge_bot.values import Frozen

Read = Callable[[str], bytes | None]

_MOST_BYTES = 2_500_000
_PATH_SHOWN = 200
_SUBMODULE = "160000"
_FILES_BESIDE = 10
"""Files of a kind that tell the line end of a new one."""

_LONGEST_PART = 255
"""The maximum bytes of one name: the limit of ext4, APFS and NTFS, and of most others."""

_LONGEST_PATH = 1_000
"""The maximum bytes of a path inside the repository.

Systems allow 1,024 to 4,096 for the whole path.
"""

# Source: "Naming Files, Paths, and Namespaces", Win32 documentation. An extension changes nothing:
# aux.c is the device, too.
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?", re.IGNORECASE
)
_NOT_ON_WINDOWS = frozenset('<>:"|?*')


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
        PathEscapes for links, folders, files of another repository, and names that differ from
        another file's only in upper and lower case.
        """
        place = self._root / normalise(path)
        if place.is_symlink() or inside(self._root, path) != self._root.resolve() / normalise(path):
            raise PathEscapes(say("agent.edits.behind_a_link", path=path))
        if place.is_dir():
            raise PathEscapes(say("agent.edits.is_a_folder", path=path))
        self._refuse_foreign(normalise(path))
        if place.is_file():
            return _beginning(place, path)
        if place.exists():
            raise PathEscapes(say("agent.edits.not_an_ordinary_file", path=path))
        self._refuse_double(normalise(path))
        return None

    def line_end_beside(self, path: str) -> str:
        """Return the line end of a new file: CRLF if all files of its kind have it in the nearest
        folder that holds any, LF if not; empty if there are none.
        """
        new = PurePosixPath(path)
        for parent in new.parents:
            folder = self._root / parent
            files = sorted(folder.iterdir()) if folder.is_dir() else []
            same = [each for each in files if each.suffix == new.suffix and not each.is_symlink()]
            if ends := {first_line_end(each) for each in same[:_FILES_BESIDE]} - {""}:
                return "\r\n" if ends == {"\r\n"} else "\n"
        return ""

    def _refuse_foreign(self, path: str) -> None:
        """Refuse files in a submodule or a nested repository:

        they could never be committed here.
        """
        parts = path.split("/")[:-1]
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[:count])
            folder = self._root / name
            if not folder.is_dir():
                return
            if (folder / ".git").exists() or (
                not any(folder.iterdir()) and self._is_submodule(name)
            ):
                raise PathEscapes(say("agent.edits.in_a_nested_repository", name=name, path=path))

    def _is_submodule(self, name: str) -> bool:
        return git(
            self._root, "ls-files", "--stage", "-z", "--", f":(literal){name}"
        ).text.startswith(_SUBMODULE)

    def _refuse_double(self, path: str) -> None:
        here = self._root
        for part in path.split("/"):
            if here.is_file():
                raise PathEscapes(
                    say("agent.edits.below_a_file", file=here.relative_to(self._root))
                )
            if not here.is_dir():
                return
            same = [
                item.name
                for item in here.iterdir()
                if item.name != part and _one_case(item.name) == _one_case(part)
            ]
            if same and not (here / part).exists():
                raise PathEscapes(
                    say(
                        "agent.edits.differs_only_in_case",
                        path=path,
                        other=here.relative_to(self._root) / same[0],
                    )
                )
            here /= part


def plan_edits(
    read: Read, edits: Sequence[Edit], line_end: Callable[[str], str] = lambda _: ""
) -> EditPlan:
    """Apply the edits in order, each to the result of the previous ones.

    `read` returns the bytes of a file now, None if there is none, and may raise PathEscapes.
    `line_end` returns the line end of a new file, empty where it keeps its own. An edit that is
    already applied changes nothing. Files without a change are not in the plan.
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
        _refuse_contents(there, edit)
        match edit.operation:
            case "write":
                if there is None and (fault := _name_problem(path)):
                    raise _Problem(fault)
                self._now[path] = (
                    self._made(path, edit.new) if there is None else _rewritten(_text(there), edit)
                )
            case "delete":
                if there is None:
                    raise _Problem("there is no such file, so it cannot be deleted.")
                self._now[path] = None
            case "replace" | "insert_before" | "insert_after":
                if there is None:
                    raise _Problem("there is no such file; `write` makes a new one.")
                self._now[path] = _changed(_text(there), edit)
        if len(self._now[path] or b"") > _MOST_BYTES:
            raise _Problem(f"the file would be larger than {_MOST_BYTES:,} bytes.")

    def _made(self, path: str, new: str) -> bytes:
        """Return a new file with the line ends of the files beside it, its own if there are none of
        its kind.
        """
        if is_fenced(new):
            raise _Problem(FENCED)
        end = self._line_end(path)
        return (flat(new).replace("\n", end) if end else new).encode("utf-8")

    def changed(self) -> tuple[tuple[str, bytes | None], ...]:
        return tuple(
            (path, data) for path, data in sorted(self._now.items()) if data != self._before[path]
        )

    def collisions(self) -> list[str]:
        there = {path for path, data in self._now.items() if data is not None}
        found = [
            f"{inner} cannot be written: {outer} would be a file and a folder at once."
            for inner in sorted(there)
            for outer in map(str, PurePosixPath(inner).parents)
            if outer in there
        ]
        seen: dict[str, str] = {}
        for path in sorted(there):
            other = seen.setdefault(_one_case(path), path)
            if other != path:
                found.append(
                    f"{other} and {path} differ only in upper and lower case; some file systems"
                    " take them for one file."
                )
        return found


def _editable(path: str) -> str:
    """Return the path of a file that could exist on every system."""
    name = normalise(path)
    if not name or path.endswith("/"):
        raise _Problem("this names no file.")
    if "\\" in name:
        raise _Problem("folders in a path are separated by forward slashes.")
    if any(part != part.strip() or part.endswith(".") for part in name.split("/")):
        raise _Problem("no part of a path may begin or end with a space, or end with a dot.")
    if fault := _too_long(name):
        raise _Problem(fault)
    return name


def _refuse_contents(there: bytes | None, edit: Edit) -> None:
    if edit.operation != "delete" and len(there or b"") > _MOST_BYTES:
        raise _Problem(
            f"the file has more than {_MOST_BYTES:,} bytes, too many to be edited; leave it to a"
            " person."
        )
    if "\0" in edit.new:
        raise _Problem("`new` holds a NUL character, which no text file has.")


def _beginning(place: Path, path: str) -> bytes:
    try:
        with place.open("rb") as file:
            return file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise PathEscapes(
            say("agent.edits.cannot_be_read", path=path, strerror=error.strerror)
        ) from None


def _text(data: bytes) -> TextFile:
    try:
        return TextFile.read(data)
    except NotText as error:
        raise _Problem(f"{error}, {UNEDITABLE}") from None


def _bytes(file: TextFile) -> bytes:
    try:
        return file.data
    except UnicodeEncodeError as error:
        sign = code_points(error.object[error.start])
        raise _Problem(
            f"the file's encoding is {file.encoding}, which has no {sign}; write it another way."
        ) from None


def _rewritten(file: TextFile, edit: Edit) -> bytes:
    new = flat(edit.new)
    if lost := placeholder_problem(file.flat, new) or loss_problem(file.flat, new):
        raise _Problem(lost)
    return _bytes(file.rewritten(edit.new))


def _changed(file: TextFile, edit: Edit) -> bytes:
    changed = (_replaced if edit.operation == "replace" else _inserted)(file, edit)
    if lost := placeholder_problem(file.flat, changed.flat):
        raise _Problem(lost)
    return _bytes(changed)


def _replaced(file: TextFile, edit: Edit) -> TextFile:
    old, new = flat(edit.old), flat(edit.new)
    if not old:
        raise _Problem("`old` is empty; `write` makes whole files.")
    if old == new:
        raise _Problem("`old` and `new` are the same.")
    if _ends_without_newline(file.flat, old):
        old, new = old.removesuffix("\n"), new.removesuffix("\n")
    found = occurrences(file.flat, old)
    if is_applied(file.flat, old, new, found):
        return file
    if len(found) == 1:
        return file.replaced(found[0], found[0] + len(old), new)
    raise _Problem(ambiguous(file.flat, found) if found else not_found(file.flat, old))


def _inserted(file: TextFile, edit: Edit) -> TextFile:
    """Return the file with the lines of `new` before or after the lines that hold `old`."""
    old, new = flat(edit.old), flat(edit.new)
    if not old.strip():
        raise _Problem("`old` names no line; quote the lines that the new ones stand beside.")
    if not new:
        raise _Problem("`new` is empty: there are no lines to insert.")
    text, before = file.flat, edit.operation == "insert_before"
    if _repeats(old, new, before=before):
        raise _Problem("`new` repeats `old`, which stays; give the new lines alone.")
    if _ends_without_newline(text, old):
        old = old.removesuffix("\n")
    found = occurrences(text, old)
    ended = text + "\n"  # so that a last line without an end is one like all others
    places = [
        (ended.rfind("\n", 0, at) + 1, ended.index("\n", at + len(old) - 1) + 1) for at in found
    ]
    for start, end in places:
        lines = ended[start:end]
        both = _beside(lines, new, before=before)
        if is_applied(ended, lines, both, occurrences(ended, lines)):
            return file
        if len(places) == 1:
            within = min(end, len(text))
            return file.replaced(start, within, both if within == end else both[:-1])
    raise _Problem(ambiguous(text, found) if found else not_found(text, old))


def _ends_without_newline(text: str, old: str) -> bool:
    """Return whether `old` quotes the end of a text with a newline that is not there: an excerpt
    cannot show that its last line has none.
    """
    return old.endswith("\n") and old not in text and text.endswith(old.removesuffix("\n"))


def _repeats(old: str, new: str, *, before: bool) -> bool:
    """Return whether new lines hold the lines beside which they are to stand, next to them."""
    lines, new_lines = old.strip("\n").split("\n"), new.strip("\n").split("\n")
    count = len(lines)
    return lines == (new_lines[-count:] if before else new_lines[:count])


def _beside(lines: str, new: str, *, before: bool) -> str:
    """Return the lines with the new ones before or after them."""
    added = new.removesuffix("\n") + "\n"
    return added + lines if before else lines + added


def _one_case(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _name_problem(path: str) -> str:
    """Return why no new file should have this path, so that every system can clone the repository.

    It is in words for the model; empty if a file may have it.
    """
    for part in path.split("/"):
        if _DEVICE.fullmatch(part):
            return f"Windows keeps the name {part} for a device; choose another one."
        if signs := sorted(_NOT_ON_WINDOWS & set(part)):
            return (
                f"the name {part} has {' '.join(signs)}, which file names on Windows cannot have."
            )
    return ""


def _too_long(path: str) -> str:
    """Return why no system would accept this path; empty if it is short enough."""
    if any(len(part.encode("utf-8", "replace")) > _LONGEST_PART for part in path.split("/")):
        return f"a name in this path is longer than {_LONGEST_PART} bytes."
    if len(path.encode("utf-8", "replace")) > _LONGEST_PATH:
        return f"this path is longer than {_LONGEST_PATH:,} bytes."
    return ""
