"""The index of a work tree, read from the file in which git keeps it (gitformat-index(5))."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.git.own_files import INDEX
from forge_bot.git.tree_entries import ListedEntry

SECOND = 1_000_000_000
"""Nanoseconds."""

_HEADER = struct.Struct(">4sLL")
_SIGNATURE, _PLAIN_VERSION = b"DIRC", 2
"""Version 3 is written only where an entry has flags that are not read here, version 4 shortens
names."""

_STAT, _MODE, _FLAGS = 40, 24, 2
_LENGTH = 0xFFF
_ALIGNED = 8
_LEFT_ALONE, _STAGE = 0x8000, 0x3000
"""Flags of a file that git was told not to look at, and of one in a conflict."""

_REPOSITORY = 0o160000


class _Entry(NamedTuple):
    name: bytes
    flags: int
    mode: int
    oid: bytes
    end: int


class WrittenFile(NamedTuple):
    """A file as git saw it when it put it into the index: nanoseconds of its last change and of the
    last change of its content, and the lower 32 bits of the others.
    """

    name: bytes
    changed: int
    written: int
    inode: int
    size: int


class NotPlain(Exception):
    """Raised for an index that only git can read: of another version, split, or in a conflict."""


class IndexFile:
    """Reads entries of the index as they are now, faster than git lists a few of 20,000 files."""

    def __init__(self, own: Path, digits: int, data: bytes | None = None) -> None:
        self._data = (own / INDEX).read_bytes() if data is None else data
        self._oid = digits // 2
        if len(self._data) < _HEADER.size or any(own.glob("sharedindex.*")):
            raise NotPlain
        signature, version, self.count = _HEADER.unpack_from(self._data)
        if signature != _SIGNATURE or version != _PLAIN_VERSION:
            raise NotPlain

    def under(self, paths: Sequence[str]) -> dict[str, ListedEntry]:
        """Return the entries at paths and below them. Raises NotPlain where one of them is in a
        conflict, or has another flag.
        """
        return {
            entry.name.decode(errors="surrogateescape"): ListedEntry(
                f"{entry.mode:06o}", entry.oid.hex()
            )
            for path in paths
            for entry in self._under(path.encode(errors="surrogateescape"))
        }

    def written_since(self, second: int) -> list[WrittenFile]:
        """Return the files whose content was written in this second or later. Raises NotPlain for a
        conflict.
        """
        data, found = self._data, list[WrittenFile]()
        read = struct.Struct(f">10L{self._oid}xH").unpack_from
        at, name_at = _HEADER.size, _STAT + self._oid + _FLAGS
        for _ in range(self.count):
            row = read(data, at)
            flags, start = row[10], at + name_at
            end = start + (flags & _LENGTH)
            if flags & _LENGTH == _LENGTH:
                end = data.index(b"\0", start)
            if flags & _STAGE or data[end]:
                raise NotPlain
            if row[2] >= second and row[6] != _REPOSITORY and not flags & _LEFT_ALONE:
                changed, written = row[0] * SECOND + row[1], row[2] * SECOND + row[3]
                found.append(WrittenFile(data[start:end], changed, written, row[5], row[9]))
            at += -(-(end + 1 - at) // _ALIGNED) * _ALIGNED
        return found

    def _under(self, path: bytes) -> Iterator[_Entry]:
        if (one := self._first(path + b"\0")) is not None:
            yield one
        entry = self._first(path + b"/")
        # Entries are sorted by name, so those of a folder are adjacent.
        while entry is not None and entry.name.startswith(path + b"/"):
            if entry.flags & ~_LENGTH:
                raise NotPlain
            yield entry
            entry = self._entry(entry.end)

    def _first(self, start: bytes) -> _Entry | None:
        """Return the first entry whose name, with the zero byte after it, begins like this."""
        place, before = self._data.find(start), _STAT + self._oid + _FLAGS
        while place >= 0:
            at = place - before
            found = self._entry(at) if (at - _HEADER.size) % _ALIGNED == 0 else None
            if found is not None and (found.name + b"\0").startswith(start):
                if found.flags & ~_LENGTH:
                    raise NotPlain
                return found
            place = self._data.find(start, place + 1)
        return None

    def _entry(self, at: int) -> _Entry | None:
        """Return the entry at this offset, if it is one: its flags have the length of its name."""
        name_at = at + _STAT + self._oid + _FLAGS
        end = self._data.find(b"\0", name_at)
        if at < _HEADER.size or end < 0:
            return None
        oid_at = at + _STAT
        mode = int.from_bytes(self._data[at + _MODE : at + _MODE + 4], "big")
        flags = int.from_bytes(self._data[name_at - _FLAGS : name_at], "big")
        if flags & _LENGTH != min(end - name_at, _LENGTH):
            return None
        size = end - at + 1
        return _Entry(
            self._data[name_at:end],
            flags,
            mode,
            self._data[oid_at : oid_at + self._oid],
            at + -(-size // _ALIGNED) * _ALIGNED,
        )
