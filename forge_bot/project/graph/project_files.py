"""The files of a project by git's ids: as committed, or as they lie in the work tree."""

import gc
import hashlib
import os
import stat
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from forge_bot.errors import GitFailed
from forge_bot.git import GitObject, Repository, blob_id
from forge_bot.project.file_list import Listing

LINK = "120000"
SUBMODULE = "160000"
MANIFESTS = frozenset(
    {"pyproject.toml", "setup.cfg", "package.json", "tsconfig.json", "jsconfig.json", "go.mod"}
)
"""Names of files that decide how imports are resolved."""
_SPECIAL = frozenset({LINK, SUBMODULE})
_LARGEST = 20_000_000
"""Bytes of a changed file that is hashed; of a larger one size and time stand for its contents."""


@contextmanager
def collecting_paused() -> Generator[None]:
    """Pause the search for circular garbage while thousands of values are made that all stay: it
    would look through all of them again and again.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
            # What was made is old from here on, and is not looked through at the next allocation.
            gc.collect(1)


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
        return ProjectFiles(
            repository,
            {path: FileEntry(*known) for path, known in repository.blobs_at(ref).items()},
        )

    @staticmethod
    def here(repository: Repository) -> "ProjectFiles":
        """Return the tracked and new files of the work tree."""
        known, changed = repository.blobs_here()
        with collecting_paused():
            entries = {path: FileEntry(*each) for path, each in known.items()}
        for path in changed:
            entries.pop(path, None)
            if (entry := _on_disk(repository.root / path)) is not None:
                entries[path] = entry
        return ProjectFiles(repository, entries)

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same names and contents."""
        digest = hashlib.sha256()
        for path, entry in self.entries.items():
            digest.update(f"{entry.mode} {entry.blob} {path}\0".encode(errors="surrogateescape"))
        return digest.hexdigest()

    @cached_property
    def structure(self) -> str:
        """A text that changes with the possible meaning of imports: names, links and manifests."""
        return "\0".join(
            f"{path}{entry.mode}{entry.blob}"
            if entry.mode in _SPECIAL or path.rpartition("/")[2] in MANIFESTS
            else path
            for path, entry in self.entries.items()
        )

    def blob(self, path: str) -> str:
        """Return git's id of a file's contents; empty when there is none."""
        return self.entries[path].blob if path in self.entries else ""

    def listing(self) -> Listing:
        """Return the files as a list with a reader of text."""
        return Listing(tuple(self.entries), self.text)

    def contents(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield the contents of files; None for one that this clone does not have."""
        stored = [path for path in paths if self.entries[path].data is None]
        yield from ((path, data) for path in paths if (data := self.entries[path].data) is not None)
        reader = self._repository.objects_by_id()
        found = reader.read([self.entries[path].blob for path in stored])
        yield from zip(stored, map(_data, found), strict=True)

    def text(self, path: str) -> str:
        """Return the text of a file; empty when there is none."""
        data = next(self.contents((path,)))[1] if path in self.entries else None
        return (data or b"").decode("utf-8", "replace")


def committed_texts(repository: Repository, paths: Sequence[str]) -> dict[str, str]:
    """Return texts of the existing files on the default branch, at origin if there is one."""
    name = repository.default_branch() if paths else None
    if name is None:
        return {}
    try:
        found = repository.read_many(f"refs/remotes/origin/{name}", paths)
    except GitFailed:
        found = repository.read_many(name, paths)
    return {path: data.decode("utf-8", "replace") for path, data in found.items()}


def _data(found: GitObject | None) -> bytes | None:
    return None if found is None else found.data


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
