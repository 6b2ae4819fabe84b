"""The walls of a command that runs without bubblewrap: Landlock, seccomp, and no capabilities.

Loaded by a keeper (`keeper_process.py`) from its own folder, in the child that becomes the command.
It uses only the standard library, and little of that.
"""

from __future__ import annotations

import binascii
import ctypes
import errno
import os
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

_SET_NO_NEW_PRIVS, _CAPBSET_DROP, _CAP_AMBIENT = 38, 24, 47
_CAP_AMBIENT_CLEAR_ALL, _CAPABILITY_VERSION_3 = 4, 0x20080522
_NET_PORT, _CONNECT_TCP = 2, 1 << 1
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT, _PATH_BENEATH = 444, 445, 446, 1
_CAPSET = {"x86_64": 126, "aarch64": 91}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER, _NEW_LISTENER = 1, 1 << 3
_O_PATH = 0o10000000


def put_up(walls: dict[str, Any], line: socket.socket | None) -> None:
    """Put up the walls of an order around this process."""
    _drop_capabilities()
    _checked(_libc().prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _landlock(walls)
    _seccomp(binascii.a2b_base64(walls["seccomp"]), line)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(what: str, number: int, *arguments: Any) -> int:
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return _checked(_libc().syscall(ctypes.c_long(number), *words), what)


def _landlock(order: dict[str, Any]) -> None:
    """Apply Landlock rules. A rule is [path, rights of a folder, rights of a file].

    Source: Documentation/userspace-api/landlock.rst.
    """
    attributes = binascii.a2b_base64(order["attributes"])
    ruleset = _syscall(
        "landlock_create_ruleset", _LANDLOCK_CREATE, ctypes.c_char_p(attributes), len(attributes), 0
    )
    for path, folder_rights, file_rights in order["rules"]:
        try:
            place = os.open(path, _O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        mode = os.fstat(place).st_mode
        if not stat.S_ISLNK(mode):
            rights = folder_rights if stat.S_ISDIR(mode) else file_rights
            rule = struct.pack("<Qi", rights, place)
            _syscall(
                f"landlock_add_rule {path}",
                _LANDLOCK_ADD,
                ruleset,
                _PATH_BENEATH,
                ctypes.c_char_p(rule),
                0,
            )
        os.close(place)
    if port := order.get("port"):
        rule = struct.pack("<QQ", _CONNECT_TCP, port)
        _syscall("landlock_add_rule", _LANDLOCK_ADD, ruleset, _NET_PORT, ctypes.c_char_p(rule), 0)
    _syscall("landlock_restrict_self", _LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _drop_capabilities() -> None:
    """Drop all capabilities of root.

    Otherwise a command started by root could undo the following steps.
    """
    libc = _libc()
    for capability in range(64):
        libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    libc.prctl(_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header, nothing = struct.pack("<Ii", _CAPABILITY_VERSION_3, 0), bytes(24)
    _syscall(
        "capset", _CAPSET[os.uname().machine], ctypes.c_char_p(header), ctypes.c_char_p(nothing)
    )


def _seccomp(program: bytes, line: socket.socket | None) -> None:
    """Load the filter and send the descriptor of its listener through the socket `line`.

    A process inside another keeper's box cannot have a second listener. The kernel then refuses the
    calls that the listener would receive.
    """
    import socket

    if line is None:
        raise OSError(errno.EPERM, "nothing would learn of refused calls")
    instructions = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(
        struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(instructions))
    )
    call = _SECCOMP[os.uname().machine]
    try:
        listener = _syscall("seccomp", call, _SET_MODE_FILTER, _NEW_LISTENER, header)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        _syscall("seccomp", call, _SET_MODE_FILTER, 0, header)
        return
    socket.send_fds(line, [b"listener"], [listener])
    os.close(listener)
