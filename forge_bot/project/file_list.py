"""The files of a repository as a queryable list. No disk, no git, only its input."""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache

from forge_bot.text_format import names

# Folders with third-party or generated content; they do not show how this project works.
_FOREIGN = frozenset(
    names("""
        node_modules vendor third_party site-packages .venv venv dist build target .git .tox .nox
        """)
)
# Projects in these folders are samples, not meant to be built.
_SPECIMENS = re.compile(r"(?:.*[-_])?(?:fixtures|testdata|examples?|samples?|templates?)_*")
_DEEPEST_PROJECT = 3


class Listing:
    """Paths relative to the repository's root with `/` between folders, and a text reader."""

    def __init__(self, files: Sequence[str], read: Callable[[str], str | None]) -> None:
        self.files = tuple(sorted({path.removeprefix("./") for path in files if path}))
        self._known = frozenset(self.files)
        holders = {path.rpartition("/")[0] for path in self.files}
        self._folders = frozenset(place for folder in holders for place in above(f"{folder}/"))
        self._read = read
        self._texts: dict[str, str] = {}
        self._own: dict[str, tuple[str, ...]] = {}

    def has(self, path: str) -> bool:
        return path in self._known

    def has_folder(self, path: str) -> bool:
        return path in self._folders

    def starts_with(self, sign: str) -> bool:
        """Return whether any path begins with these letters."""
        place = bisect_left(self.files, sign)
        return any(path.startswith(sign) for path in self.files[place : place + 1])

    def first(self, folder: str, names: Sequence[str]) -> str | None:
        return next((path for name in names if self.has(path := join(folder, name))), None)

    def text(self, path: str | None) -> str:
        """Return the text of a listed file; empty when it is not listed or cannot be read."""
        if path is None or path not in self._known:
            return ""
        if path not in self._texts:
            self._texts[path] = (self._read(path) or "").removeprefix("\ufeff")
        return self._texts[path]

    def below(self, folder: str) -> tuple[str, ...]:
        """Return all files in a folder and its subfolders. The root is the empty string."""
        if not folder:
            return self.files
        # The letter after a slash is a zero.
        return self.files[
            bisect_left(self.files, f"{folder}/") : bisect_left(self.files, f"{folder}0")
        ]

    def own(self, folder: str = "") -> tuple[str, ...]:
        """Return the files of `below` without third-party files and samples."""
        if folder not in self._own:
            start = len(folder) + 1 if folder else 0
            strange: dict[str, bool] = {}
            for path in self.below(folder):
                holder = path[start:].rpartition("/")[0]
                if holder not in strange:
                    strange[holder] = any(map(_is_strange, holder.split("/")))
            self._own[folder] = tuple(
                path for path in self.below(folder) if not strange[path[start:].rpartition("/")[0]]
            )
        return self._own[folder]

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """The folders that have a file of a name, without third-party files and samples."""
        holders: dict[str, list[str]] = {}
        for path in self.own():
            folder, _, name = path.rpartition("/")
            holders.setdefault(name, []).append(folder)
        return holders

    def projects(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the topmost folders below the root with a file of one of these names, sorted.

        The root itself is never included.
        """
        holders = {folder for name in names for folder in self._by_name.get(name, ())}
        near = {folder for folder in holders if folder and folder.count("/") < _DEEPEST_PROJECT}
        return tuple(sorted(folder for folder in near if not near.intersection(above(folder))))


@lru_cache(maxsize=10_000)
def _is_strange(folder: str) -> bool:
    return folder in _FOREIGN or bool(_SPECIMENS.fullmatch(folder))


def join(folder: str, name: str) -> str:
    """Return the path of a name in a folder; the root is the empty string."""
    return f"{folder}/{name}" if folder else name


def above(path: str) -> tuple[str, ...]:
    """Return all folders above a path, without the root."""
    folder, slash, _ = path.rpartition("/")
    return _with_above(folder) if slash else ()


@lru_cache(maxsize=10_000)
def _with_above(folder: str) -> tuple[str, ...]:
    parts = folder.split("/")
    return tuple("/".join(parts[: depth + 1]) for depth in range(len(parts)))
