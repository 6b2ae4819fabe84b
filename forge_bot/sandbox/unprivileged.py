"""The second backend, and none: a keeper process starts the command.

The command is held by Landlock and seccomp (`walls`) or by nothing. Landlock can only allow, and a
permission for a folder holds for everything below it. So the root of the work tree accepts no new
files: its unprotected entries are allowed one by one. Source:
Documentation/userspace-api/landlock.rst.
"""

import base64
import ctypes
import os
import platform
import struct
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from forge_bot.errors import SandboxFailed
from forge_bot.sandbox import keeper_process, seccomp, setup_network
from forge_bot.sandbox.box import Box, ResourceLimits
from forge_bot.sandbox.bubblewrap import THREADS_EACH
from forge_bot.sandbox.find_program import CannotStart, cannot_start, program
from forge_bot.sandbox.keeper_command import KeeperHandle, under_keeper
from forge_bot.sandbox.read_only_places import remove_new_files, split_around, with_targets
from forge_bot.sandbox.toolchains import ROOTS
from forge_bot.sandbox.visible_files import VisibleFiles, visible_files
from forge_bot.sandbox.watch_process import (
    SHARED_MEMORY,
    ProcessReport,
    WatchLimits,
    shared_memory_room,
    watch,
)
from forge_bot.sentences import say

# Signals and abstract sockets stay inside only since version 6 (Linux 6.12).
_NEEDED_VERSION = 6
_CREATE_RULESET, _VERSION_FLAG = 444, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER, _REMOVE_FILE, _MAKE_FILE = (
    1 << 0,
    1 << 1,
    1 << 2,
    1 << 3,
    1 << 5,
    1 << 8,
)
_MAKE_CHARACTER_DEVICE, _MAKE_BLOCK_DEVICE, _REFER, _TRUNCATE, _DEVICE_CONTROL = (
    1 << 6,
    1 << 11,
    1 << 13,
    1 << 14,
    1 << 15,
)
_ALL = (1 << 16) - 1
_READ = _EXECUTE | _READ_FILE | _READ_FOLDER
_WRITE = _ALL & ~(_MAKE_CHARACTER_DEVICE | _MAKE_BLOCK_DEVICE)
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_CONTROL
_DEVICE = _READ_FILE | _WRITE_FILE | _TRUNCATE | _DEVICE_CONTROL
# Named semaphores and shared memory of this user. Without the right to list them, the names of
# others have to be guessed.
_SHARED_MEMORY_RIGHTS = _READ_FILE | _WRITE_FILE | _REMOVE_FILE | _MAKE_FILE | _REFER | _TRUNCATE
_TCP, _SIGNALS_AND_ABSTRACT_SOCKETS = 3, 3

_READABLE_SYSTEM = ("/proc", "/sys/devices/system", "/run/current-system")
_READABLE_DEVICES = ("/dev/random", "/dev/urandom")
_WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")


def run(
    box: Box, argv: Sequence[str], called_off: Event | None = None, *, walls: bool
) -> tuple[int, ProcessReport | CannotStart]:
    """Run a command under a keeper; return its exit code and the observations about it."""
    if walls:
        _check_machine()
    with ExitStack() as prepared:
        # Landlock limits no sizes.
        bounded = walls and Path(SHARED_MEMORY).is_dir()
        room = shared_memory_room(box.limits.shared_memory_bytes) if bounded else None
        seen, port = prepared.enter_context(visible_files(box)), 0
        there = prepared.enter_context(
            remove_new_files(seen.worktree, box.kept_inside if walls else ())
        )
        if walls and seen.policy is not None:
            server = setup_network.listen_here()
            port = server.getsockname()[1]
            prepared.enter_context(setup_network.serving(server, seen.policy))
            seen = replace(seen, env={**seen.env, **setup_network.variables(port)})
        found = program(argv[0], seen.env, seen.worktree)
        if isinstance(found, CannotStart):
            return found.exit_code, found
        order = {
            "program": found,
            "argv": list(argv),
            "env": seen.env,
            "folder": str(seen.worktree),
            "limits": _limits(box.limits),
            "walls": _walls(box, seen, there, port) if walls else None,
            "own": [f"{folder}/" for folder in (seen.temporary, seen.worktree, *seen.writable)],
        }
        with under_keeper(order) as started:
            watched = watch(
                started.output,
                started.process.pid,
                started.stop,
                WatchLimits(box.limits, called_off, room),
            )
            return _ending(started, argv[0], watched)


def _check_machine() -> None:
    if platform.system() != "Linux":
        raise SandboxFailed(say("sandbox.unprivileged.not_linux", system=platform.system()))
    if not seccomp.supported():
        raise SandboxFailed(say("sandbox.unprivileged.unknown_machine", machine=platform.machine()))
    found = ctypes.CDLL(None).syscall(
        ctypes.c_long(_CREATE_RULESET), None, ctypes.c_long(0), ctypes.c_long(_VERSION_FLAG)
    )
    if found < _NEEDED_VERSION:
        has = (
            say("sandbox.unprivileged.has_version", version=found)
            if found > 0
            else say("sandbox.unprivileged.has_no_landlock")
        )
        raise SandboxFailed(
            say("sandbox.unprivileged.kernel_too_old", has=has, needed_version=_NEEDED_VERSION)
        )


def _walls(box: Box, seen: VisibleFiles, there: tuple[str, ...], port: int) -> dict[str, Any]:
    private = (*seen.hidden, *seen.replaced)
    protected = with_targets(seen.worktree, (*box.read_only_inside, *there))
    readable = [
        part
        for root in (*ROOTS, *seen.readable, seen.worktree)
        for part in split_around(root, private)
    ]
    parted = [
        folder
        for folder in (seen.worktree, *seen.readable)
        if any(folder in place.parents for place in private)
    ]
    rules = [
        *_rules([*readable, *map(Path, (*_READABLE_SYSTEM, *_READABLE_DEVICES))], _READ),
        # What has a private part can be listed, that part too, whose files cannot be read.
        *_rules(parted, _READ_FOLDER),
        *_rules([*split_around(seen.worktree, protected), *seen.writable, seen.temporary], _WRITE),
        *_rules(map(Path, _WRITABLE_DEVICES), _DEVICE),
        *_rules([Path(SHARED_MEMORY)], _SHARED_MEMORY_RIGHTS),
    ]
    attributes = struct.pack("<QQQ", _ALL, _TCP, _SIGNALS_AND_ABSTRACT_SOCKETS)
    return {
        "attributes": base64.b64encode(attributes).decode(),
        "rules": rules,
        # Landlock knows ports and no addresses.
        "port": port,
        "seccomp": (
            base64.b64encode(seccomp.program(namespaces=False, network=box.network)).decode()
        ),
    }


def _rules(places: Any, rights: int) -> Iterator[tuple[str, int, int]]:
    """Yield rules for the keeper: place, rights if it is a folder, rights if it is a file."""
    yield from ((str(place), rights, rights & _OF_FILES) for place in places)


def _limits(limits: ResourceLimits) -> dict[str, int]:
    """Return the limits for the keeper.

    RLIMIT_NPROC counts every thread of the user, so the limit is added to what runs already. It
    does not apply to root.
    """
    running = sum(_tasks(process) for process in Path("/proc").glob("[0-9]*"))
    return {
        "CORE": 0,
        "FSIZE": limits.file_bytes,
        "NPROC": running + limits.processes * THREADS_EACH,
    }


def _tasks(process: Path) -> int:
    try:
        return (
            len(list((process / "task").iterdir())) if process.stat().st_uid == os.getuid() else 0
        )
    except OSError:
        return 0


def _ending(
    started: KeeperHandle, name: str, watched: ProcessReport
) -> tuple[int, ProcessReport | CannotStart]:
    report = started.report()
    if report.get("stage") == "exec":
        reason = cannot_start(name, report["errno"])
        return reason.exit_code, reason
    if "stage" in report:
        raise SandboxFailed(say("sandbox.unprivileged.landlock_failed", report=report["words"]))
    if "exit_code" not in report and watched.overrun is None:
        raise SandboxFailed(
            watched.kept.text().strip() or say("sandbox.unprivileged.keeper_was_ended")
        )
    return report.get("exit_code", keeper_process.KILLED), replace(
        watched, asked=frozenset(report.get("asked", ()))
    )
