"""The files of a repository, as a listing that can be asked: no disk, no git, only what it was given."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from posixpath import basename, dirname

# Folders whose content others wrote, or that a tool made; nothing in them says how this project is worked on.
_FOREIGN = frozenset(
    {"node_modules", "vendor", "third_party", "site-packages", ".venv", "venv", "dist", "build", "target", ".git", ".tox", ".nox"}
)
# Projects in these folders are there to be looked at, not to be built.
_SPECIMENS = re.compile(r"(?:.*[-_])?(?:fixtures|testdata|examples?|samples?|templates?)_*")
_DEEPEST_PROJECT = 3


class Listing:
    """Paths relative to the repository's root with `/` between folders, and a reader for their text."""

    def __init__(self, files: Sequence[str], read: Callable[[str], str | None]) -> None:
        self.files = tuple(sorted({path.removeprefix("./") for path in files if path}))
        self._known = frozenset(self.files)
        self._folders = frozenset(folder for path in self.files for folder in above(path))
        self._read = read
        self._texts: dict[str, str] = {}

    def has(self, path: str) -> bool:
        """Whether a file of that path is listed."""
        return path in self._known

    def has_folder(self, path: str) -> bool:
        """Whether any file lies below that folder."""
        return path in self._folders

    def first(self, folder: str, names: Sequence[str]) -> str | None:
        """Path of the first of these names that lies in the folder."""
        return next((path for name in names if self.has(path := join(folder, name))), None)

    def text(self, path: str | None) -> str:
        """Text of a listed file; empty when it is not listed or cannot be read."""
        if path is None or path not in self._known:
            return ""
        if path not in self._texts:
            self._texts[path] = (self._read(path) or "").removeprefix("\ufeff")
        return self._texts[path]

    def below(self, folder: str) -> tuple[str, ...]:
        """All files in a folder and the folders in it; the root is the empty string."""
        return tuple(path for path in self.files if path.startswith(folder + "/")) if folder else self.files

    def own(self, folder: str = "") -> tuple[str, ...]:
        """As `below`, without what others wrote and without specimens."""
        start = len(folder) + 1 if folder else 0
        return tuple(path for path in self.below(folder) if not any(_is_strange(part) for part in path[start:].split("/")[:-1]))

    def projects(self, names: Collection[str]) -> tuple[str, ...]:
        """The topmost folders below the root that hold a file of one of these names, sorted; never the root itself."""
        holders = {dirname(path) for path in self.own() if basename(path) in names}
        near = {folder for folder in holders if folder and folder.count("/") < _DEEPEST_PROJECT}
        return tuple(sorted(folder for folder in near if not near.intersection(above(folder))))


@lru_cache(maxsize=10_000)
def _is_strange(folder: str) -> bool:
    return folder in _FOREIGN or bool(_SPECIMENS.fullmatch(folder))


def join(folder: str, name: str) -> str:
    """Path of a name in a folder; the root is the empty string."""
    return f"{folder}/{name}" if folder else name


def above(path: str) -> tuple[str, ...]:
    """All folders above a path, without the root."""
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[: depth + 1]) for depth in range(len(parts)))
