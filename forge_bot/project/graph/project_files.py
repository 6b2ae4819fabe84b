"""The files of a project by git's ids: as committed, or as they lie in the work tree."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.git import Repository, blob_id
from forge_bot.project.file_list import Listing

LINK = "120000"
SUBMODULE = "160000"
_MANIFESTS = frozenset(
    {"pyproject.toml", "setup.cfg", "package.json", "tsconfig.json", "jsconfig.json", "go.mod"}
)
"""Names of files that decide how imports are resolved."""
_LARGEST = 20_000_000
"""Bytes of a changed file that is hashed; of a larger one size and time stand for its contents."""


class FileEntry(NamedTuple):
    """A file: its mode, the id of its contents, and the contents if git does not have them yet."""

    mode: str
    blob: str
    data: bytes | None = None


class ProjectFiles:
    """The files of a repository at a commit, or as they lie in the work tree."""

    def __init__(self, repository: Repository, entries: Mapping[str, FileEntry]) -> None:
        self._repository = repository
        self.entries = dict(sorted(entries.items()))

    @staticmethod
    def committed(repository: Repository, ref: str) -> "ProjectFiles":
        """Return the files of a commit. Raises GitFailed for an unknown one."""
        listed = repository.blobs_at(ref)
        return ProjectFiles(repository, {path: FileEntry(*row) for path, row in listed.items()})

    @staticmethod
    def here(repository: Repository) -> "ProjectFiles":
        """Return the tracked and new files of the work tree."""
        listed, changed = repository.blobs_here()
        entries = {path: FileEntry(*row) for path, row in listed.items()}
        for path in changed:
            entries.pop(path, None)
            if (entry := _on_disk(repository.root / path)) is not None:
                entries[path] = entry
        return ProjectFiles(repository, entries)

    def blob(self, path: str) -> str:
        """Return git's id of a file's contents; empty when there is none."""
        return self.entries[path].blob if path in self.entries else ""

    def listing(self) -> Listing:
        """Return the files as a list with a reader of text. The manifests are read at once."""
        manifests = [path for path in self.entries if path.rpartition("/")[2] in _MANIFESTS]
        texts = {path: _decode(data) for path, data in self.contents(manifests)}
        return Listing(
            tuple(self.entries), lambda path: texts[path] if path in texts else self.text(path)
        )

    def contents(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield the contents of files; None for one that this clone does not have."""
        stored = [path for path in paths if self.entries[path].data is None]
        yield from ((path, data) for path in paths if (data := self.entries[path].data) is not None)
        blobs = [self.entries[path].blob for path in stored]
        objects = self._repository.read_objects(blobs, fetching=False)
        for path, known in zip(stored, objects, strict=True):
            yield path, None if known is None else known.data

    def text(self, path: str) -> str:
        """Return the text of a file; empty when there is none."""
        return _decode(next(self.contents((path,)))[1]) if path in self.entries else ""


def _decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _on_disk(path: Path) -> FileEntry | None:
    """Return the content of a file on disk; for a link its target. Return None for a folder and for
    a missing file.
    """
    try:
        about = path.lstat()
        if stat.S_ISLNK(about.st_mode):
            target = os.fsencode(path.readlink())
            return FileEntry(LINK, blob_id(target), target)
        if not stat.S_ISREG(about.st_mode):
            return None
        if about.st_size > _LARGEST:
            return FileEntry("100644", f"{about.st_size}-{about.st_mtime_ns}", b"\0" * _LARGEST)
        data = path.read_bytes()
    except OSError:
        return None
    return FileEntry("100644", blob_id(data), data)
