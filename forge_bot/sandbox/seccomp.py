"""System calls that a boxed command does not get, as a filter the kernel runs: a pure function from what is wanted to bytes.

The program is classic BPF over `struct seccomp_data` (number at 0, architecture at 4, low halves of the arguments from 16 on,
8 bytes apart). Source: Documentation/userspace-api/seccomp_filter.rst; numbers from asm/unistd_64.h and asm-generic/unistd.h.
"""

import errno
import platform
import struct
from dataclasses import dataclass

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_X32 = 0x40000000
_NEW_USER_NAMESPACE = 0x10000000
_TYPE_MASK, _DATAGRAM = 0xF, 2

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16

# The kernel's most attacked or least contained doors: keys are not kept apart by namespaces, io_uring opens sockets past
# this filter, the others watch or extend the kernel itself.
_NEVER = (
    ("io_uring_setup", 425, 425),
    ("io_uring_enter", 426, 426),
    ("io_uring_register", 427, 427),
    ("bpf", 321, 280),
    ("perf_event_open", 298, 241),
    ("userfaultfd", 323, 282),
    ("add_key", 248, 217),
    ("request_key", 249, 218),
    ("keyctl", 250, 219),
    ("kexec_load", 246, 104),
    ("open_by_handle_at", 304, 265),
    ("setns", 308, 268),
)
# Shared memory, semaphores and queues of the user's other programs; a namespace keeps them apart, Landlock does not.
_SHARED = (("shmget", 29, 194), ("shmat", 30, 196), ("semget", 64, 190), ("msgget", 68, 186), ("mq_open", 240, 180))

_Instruction = tuple[int, int, int, int]


@dataclass(frozen=True)
class _Machine:
    audit: int
    column: int
    socket: int
    socketpair: int
    connect: int
    clone: int
    unshare: int
    clone3: int = 435


_MACHINES = {
    "x86_64": _Machine(audit=0xC000003E, column=1, socket=41, socketpair=53, connect=42, clone=56, unshare=272),
    "aarch64": _Machine(audit=0xC00000B7, column=2, socket=198, socketpair=199, connect=203, clone=220, unshare=97),
}


def supported(machine: str = "") -> bool:
    """Whether the numbers of this processor's system calls are known."""
    return (machine or platform.machine()) in _MACHINES


def program(*, namespaces: bool, network: bool, machine: str = "") -> bytes:
    """The filter for one command.

    namespaces: the command has a network, process and IPC namespace of its own, so sockets inside are harmless.
    network: it may reach the internet; then it gets no socket that could reach a local service by path or abstract name.
    """
    here = _MACHINES[machine or platform.machine()]
    denied = [row[here.column] for row in (*_NEVER, *(() if namespaces else _SHARED))]
    if not namespaces and not network:
        denied.append(here.connect)
    rules = _head(here)
    for number in denied:
        rules += [(_EQUAL, 0, 1, number), _deny(errno.EPERM)]
    # clone3 hides its flags behind a pointer; without it the C library falls back to clone, whose flags can be read.
    rules += [(_EQUAL, 0, 1, here.clone3), _deny(errno.ENOSYS)]
    for number in (here.clone, here.unshare):
        rules += [(_EQUAL, 0, 4, number), _argument(0), (_ANY_BIT, 0, 1, _NEW_USER_NAMESPACE), _deny(errno.EPERM), _allow()]
    rules += _sockets(here, namespaces=namespaces, network=network)
    return b"".join(struct.pack("<HBBI", *rule) for rule in (*rules, _allow()))


def _head(here: _Machine) -> list[_Instruction]:
    rules = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, here.audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    return [*rules, (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)] if here.column == 1 else rules


def _sockets(here: _Machine, *, namespaces: bool, network: bool) -> list[_Instruction]:
    """Which families of sockets can be made. AF_VSOCK and the like are never kept apart by a network namespace."""
    if network:
        families = (_INET, _INET6, _NETLINK)
    elif namespaces:
        families = (_UNIX, _INET, _INET6, _NETLINK)
    else:
        families = (_UNIX,)
    # A datagram socket can be pointed at any address with each message, so outside namespaces it is not made at all.
    streams_only = network or not namespaces
    no_datagrams = [_argument(1), (_AND, 0, 0, _TYPE_MASK), (_EQUAL, 0, 1, _DATAGRAM), _deny(errno.EPERM)]
    body = [_argument(0)]
    for left, family in zip(range(len(families) - 1, -1, -1), families, strict=True):
        body.append((_EQUAL, left + 1, 0, family))
    body.append(_deny(errno.EPERM))
    body += [*(no_datagrams if streams_only and not network else ()), _allow()]
    pair = [*(no_datagrams if streams_only else ()), _allow()]
    return [(_EQUAL, 0, len(body), here.socket), *body, (_EQUAL, 0, len(pair), here.socketpair), *pair]


def _argument(index: int) -> _Instruction:
    return (_LOAD, 0, 0, 16 + 8 * index)


def _deny(number: int) -> _Instruction:
    return (_RETURN, 0, 0, _ERRNO | number)


def _allow() -> _Instruction:
    return (_RETURN, 0, 0, _ALLOW)
