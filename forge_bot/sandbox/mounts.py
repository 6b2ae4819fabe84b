"""The file system of a box as options of bubblewrap. The mounts are the whole promise.

Source of the options: bwrap(1) of bubblewrap 0.8 and later.
"""

import os
import stat
from operator import attrgetter
from pathlib import Path

from forge_bot.sandbox.box import SHARED_MEMORY
from forge_bot.sandbox.read_only_places import Protected
from forge_bot.sandbox.toolchains import ROOTS, is_within
from forge_bot.sandbox.visible_files import VisibleFiles

# Places inside the box, not on this machine.
TEMPORARY = "/tmp"  # noqa: S108
_TEMPORARY_TOO = "/var/tmp"  # noqa: S108
_PROC = "/proc"
_RUN_BYTES = 2**24
# Build tools read the number of processors from the first; NixOS keeps its programs behind the
# second.
_MACHINE = tuple(map(Path, ("/sys/devices/system", "/run/current-system")))


def mounts(seen: VisibleFiles, holes: Protected, shared_memory_bytes: int) -> list[str]:
    """Return the mounts from an empty file system.

    They are the system to read, temporary folders, the places the box names, and the protected
    places.
    """
    words = ["--size", str(_RUN_BYTES), "--tmpfs", "/run"]
    for root in (*ROOTS, *_MACHINE):
        if root.is_symlink():
            words += ["--symlink", str(root.readlink()), str(root)]
        elif root.exists():
            words += _bind("--ro-bind", root)
    words += ["--proc", _PROC, *_kernel(), "--dev", "/dev"]
    words += [
        "--size",
        str(shared_memory_bytes),
        "--perms",
        "1777",
        "--tmpfs",
        SHARED_MEMORY,
        "--remount-ro",
        "/dev",
    ]
    for place in (TEMPORARY, _TEMPORARY_TOO):
        words += ["--bind", str(seen.temporary), place]
    words += _list_mounts(seen, holes)
    for private in seen.hidden:
        empty = (
            _nothing_at(private) if private.is_dir() else ["--ro-bind", os.devnull, str(private)]
        )
        words += empty
    for private, copy in seen.replaced.items():
        words += ["--ro-bind", str(copy), str(private)]
    return [*words, "--remount-ro", "/"]


def _kernel() -> list[str]:
    """Return mounts that make the kernel's interfaces in /proc read-only.

    They belong to root, and the kernel treats root inside a box as root. Source: proc(5). Through
    /proc/sys/kernel/core_pattern alone the kernel starts a program outside of every box.
    """
    words: list[str] = []
    for place in sorted(os.scandir(_PROC), key=attrgetter("name")) if os.geteuid() == 0 else ():
        # Most names are numbers of processes.
        if place.name.isdigit() or place.is_symlink():
            continue
        if place.is_dir():
            words += ["--ro-bind", place.path, place.path]
        elif not place.stat().st_mode & stat.S_IROTH:
            words += ["--ro-bind", os.devnull, place.path]
        elif place.stat().st_mode & stat.S_IWUSR:
            words += ["--ro-bind", place.path, place.path]
    return words


def environment(seen: VisibleFiles) -> list[str]:
    """Return the options for the variables.

    bwrap itself runs without them: it is outside the box.
    """
    return [word for name, value in seen.env.items() for word in ("--setenv", name, value)]


def _list_mounts(seen: VisibleFiles, holes: Protected) -> list[str]:
    """Return the mounts that a box names, outer folders first.

    So the most specific mount of a place comes last.
    """
    changeable = (seen.worktree, *seen.writable)
    wanted = [(place, _bind("--bind", place)) for place in (*changeable, *holes.pinned)]
    for place in seen.readable:
        inside_changeable = any(
            place.is_relative_to(folder) and place != folder for folder in changeable
        )
        if inside_changeable or not is_within(place, (*ROOTS, *changeable)):
            wanted.append((place, _bind("--ro-bind", place)))
    wanted += [(place, _bind("--ro-bind", place)) for place in holes.locked]
    return [
        word for _, words in sorted(wanted, key=lambda pair: len(pair[0].parts)) for word in words
    ]


def _bind(option: str, place: Path) -> list[str]:
    return [option, str(place), str(place)]


def _nothing_at(place: Path) -> list[str]:
    return ["--perms", "0555", "--tmpfs", str(place), "--remount-ro", str(place)]
