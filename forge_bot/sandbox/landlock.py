"""The second backend, for machines that refuse user namespaces, and none: a keeper process starts
the command, holds it by Landlock and a filter of system calls or by nothing, and ends all of its
processes.

Landlock can only allow, and a permission for a folder holds for everything below it. So the root of
the work tree accepts no new files: its unprotected entries are allowed one by one. Source:
Documentation/userspace-api/landlock.rst.
"""

import base64
import ctypes
import json
import os
import platform
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from forge_bot.errors import SandboxFailed
from forge_bot.sandbox import seccomp, setup_network
from forge_bot.sandbox.box import SHARED_MEMORY, Box, CannotStart, ProcessReport, start_kept, watch
from forge_bot.sandbox.helper_processes import script
from forge_bot.sandbox.toolchains import ROOTS
from forge_bot.sandbox.visible_files import (
    VisibleFiles,
    remove_new_files,
    split_around,
    visible_files,
    with_targets,
)

# Signals and abstract sockets stay inside only since version 6 (Linux 6.12).
_NEEDED_VERSION = 6
_CREATE_RULESET, _VERSION_FLAG = 444, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_CHARACTER_DEVICE, _MAKE_FILE, _MAKE_BLOCK_DEVICE = (
    1 << 5,
    1 << 6,
    1 << 8,
    1 << 11,
)
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
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
_BY_SIGNAL = 128


def run(
    box: Box, argv: Sequence[str], called_off: Event | None = None, *, walls: bool
) -> tuple[int, ProcessReport]:
    """Run a command under a keeper; return its exit code and the observations about it. Raises
    CannotStart.
    """
    if walls:
        _check_machine()
    with ExitStack() as prepared:
        seen, port = prepared.enter_context(visible_files(box)), 0
        there = prepared.enter_context(
            remove_new_files(seen.worktree, box.kept_inside if walls else ())
        )
        if walls and seen.policy is not None:
            server = socket.create_server(("127.0.0.1", 0), backlog=128)
            port = server.getsockname()[1]
            prepared.enter_context(setup_network.proxy(server, seen.policy))
            seen = replace(seen, env={**seen.env, **setup_network.variables(port)})
        order = {
            "argv": list(argv),
            "env": seen.env,
            "folder": str(seen.worktree),
            "file_bytes": box.limits.file_bytes,
            "walls": _walls(box, seen, there, port) if walls else None,
        }
        code, watched, report = _run_under_keeper(order, box, called_off)
    if report.get("stage") == "exec":
        raise CannotStart(argv[0], report["errno"])
    if report:
        raise SandboxFailed(f"Landlock could not be set up: {report['words']}")
    return code if code >= 0 else _BY_SIGNAL - code, watched


def _run_under_keeper(
    order: dict[str, Any], box: Box, called_off: Event | None
) -> tuple[int, ProcessReport, dict[str, Any]]:
    """Run a command under a keeper; return its exit code, what was seen, and why it could not be
    started. None of its processes is left afterwards.
    """
    answer, answer_end = os.pipe()
    with os.fdopen(answer, "rb") as answers:
        try:
            process = start_kept(script("wall", answer_end), (answer_end,), subprocess.PIPE)
        finally:
            os.close(answer_end)
        with process:
            assert process.stdin is not None  # noqa: S101 - pipes, as asked for above
            assert process.stdout is not None  # noqa: S101
            try:
                with process.stdin as order_file:
                    order_file.write(json.dumps(order).encode())
                output = process.stdout.fileno()
                watched = watch(output, process.pid, process.terminate, box.limits, called_off)
            finally:
                process.terminate()
        return process.returncode, watched, json.loads(answers.read() or b"{}")


def _check_machine() -> None:
    if platform.system() != "Linux":
        raise SandboxFailed(f"Landlock is a part of Linux, and this is {platform.system()}.")
    if not seccomp.supported():
        raise SandboxFailed(f"the system calls of {platform.machine()} are not known here.")
    version = ctypes.CDLL(None).syscall(
        ctypes.c_long(_CREATE_RULESET), None, ctypes.c_long(0), ctypes.c_long(_VERSION_FLAG)
    )
    if version < _NEEDED_VERSION:
        has = f"has version {version}" if version > 0 else "has no Landlock"
        raise SandboxFailed(
            f"the kernel {has}; version {_NEEDED_VERSION} (Linux 6.12) is needed, so that "
            "signals stay inside."
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
    program = seccomp.program(namespaces=False, network=box.network)
    return {
        "attributes": (_ALL, _TCP, _SIGNALS_AND_ABSTRACT_SOCKETS),
        "rules": rules,
        # Landlock knows ports and no addresses.
        "port": port,
        "seccomp": base64.b64encode(program).decode(),
    }


def _rules(places: Any, rights: int) -> Iterator[tuple[str, int, int]]:
    """Yield rules for the keeper: place, rights if it is a folder, rights if it is a file."""
    yield from ((str(place), rights, rights & _OF_FILES) for place in places)
