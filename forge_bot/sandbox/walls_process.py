"""A small process that puts up walls around itself and then becomes a command, where no process
namespace holds it: Landlock, a filter of system calls, no capabilities, limits.

It runs as a separate script (`python -I -S walls_process.py FD`), and uses only the standard
library: its work before exec would be unsafe in a program with threads. Its order is JSON on stdin.
A failure is answered in JSON on the descriptor FD, which closes by itself if nothing fails.
"""

import base64
import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import stat
import struct
import sys
from pathlib import Path
from typing import Any

_SET_NO_NEW_PRIVS = 38
_CAPBSET_DROP, _CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91}
_SECCOMP, _SET_MODE_FILTER = {"x86_64": 317, "aarch64": 277}, 1
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PATH_BENEATH, _NET_PORT, _CONNECT_TCP = 1, 2, 1 << 1
_O_PATH = 0o10000000
_TROUBLE = 125


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _syscall(what: str, number: int, *arguments: Any) -> int:
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = _libc().syscall(ctypes.c_long(number), *words)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _put_up(walls: dict[str, Any]) -> None:
    """Put up Landlock and the filter of system calls around this process, without capabilities.

    With capabilities a command that was started by root could undo them.
    """
    for capability in range(64):
        _libc().prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    _libc().prctl(_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    machine, header = os.uname().machine, struct.pack("<Ii", _CAPABILITY_VERSION_3, 0)
    _syscall("capset", _CAPSET[machine], ctypes.c_char_p(header), ctypes.c_char_p(bytes(24)))
    _libc().prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _landlock(walls)
    instructions = base64.b64decode(walls["seccomp"])
    place = ctypes.create_string_buffer(instructions, len(instructions))
    program = struct.pack("<HxxxxxxQ", len(instructions) // 8, ctypes.addressof(place))
    _syscall("seccomp", _SECCOMP[machine], _SET_MODE_FILTER, 0, ctypes.c_char_p(program))


def _landlock(walls: dict[str, Any]) -> None:
    """Apply Landlock rules. A rule is [path, rights of a folder, rights of a file].

    Source: Documentation/userspace-api/landlock.rst.
    """
    attributes = struct.pack("<QQQ", *walls["attributes"])
    given = (ctypes.c_char_p(attributes), len(attributes), 0)
    ruleset = _syscall("landlock_create_ruleset", _LANDLOCK_CREATE, *given)

    def add(what: str, kind: int, rule: bytes) -> None:
        place = ctypes.c_char_p(rule)
        _syscall(f"landlock_add_rule {what}", _LANDLOCK_ADD, ruleset, kind, place, 0)

    for path, folder_rights, file_rights in walls["rules"]:
        try:
            place = os.open(path, _O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        mode = os.fstat(place).st_mode
        if not stat.S_ISLNK(mode):
            rights = folder_rights if stat.S_ISDIR(mode) else file_rights
            add(path, _PATH_BENEATH, struct.pack("<Qi", rights, place))
        os.close(place)
    if port := walls["port"]:
        add(f"port {port}", _NET_PORT, struct.pack("<QQ", _CONNECT_TCP, port))
    _syscall("landlock_restrict_self", _LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _exec(argv: list[str], env: dict[str, str]) -> None:
    # This process exists to start the project's command; no shell is involved.
    try:
        os.execvpe(argv[0], argv, env)  # noqa: S606
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        # The shell runs a script without a first line that names its interpreter, as execvp(3)
        # does.
        os.execve("/bin/sh", ["sh", "-c", 'exec "$@"', "sh", *argv], env)  # noqa: S606


def main() -> int:
    """Carry out the order on stdin: become the command."""
    answer, order, stage = int(sys.argv[1]), json.load(sys.stdin), "walls"
    os.set_inheritable(answer, False)
    try:
        os.setsid()
        # Python ignores them, and exec keeps ignored signals ignored.
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        size, hard = order["file_bytes"], resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        size = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        # When memory is short, the kernel ends the boxed command before the user's own processes.
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
        if order["walls"]:
            _put_up(order["walls"])
        stage = "exec"
        os.chdir(order["folder"])
        _exec(order["argv"], order["env"])
    except OSError as error:
        report = {"stage": stage, "errno": error.errno or errno.EPERM, "words": str(error)}
        os.write(answer, json.dumps(report).encode())
    return _TROUBLE


if __name__ == "__main__":
    sys.exit(main())
