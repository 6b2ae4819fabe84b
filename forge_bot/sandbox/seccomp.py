"""The system calls of a boxed command as a kernel filter: a pure function that returns bytes.

Calls that are not in `system_calls` are refused: EPERM for old ones, and "no such call" (ENOSYS)
for those that came with Linux 5.1 or later, so that programs use an older one in their place.
clone3 is one of these: it hides its flags behind a pointer, and the C library then uses clone,
whose flags can be read. The program is classic BPF over `struct seccomp_data` (number at 0,
architecture at 4, low halves of the arguments from 16 on, 8 bytes apart). Source:
Documentation/userspace-api/seccomp_filter.rst.
"""

import errno
import platform
import struct
from collections.abc import Iterator
from functools import cache

from forge_bot.sandbox import system_calls

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO, _ASK = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_X32 = 0x40000000
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# The first call of Linux 5.1. From there on, numbers are the same on all processors.
_SINCE_5_1 = 424

_NEW_USER_NAMESPACE = 0x10000000
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_TYPE_MASK, _STREAM, _SEQUENCED = 0xF, 1, 5
_NETLINK_ROUTE = 0
_ANY_PROTOCOL, _TCP = 0, 6
_FAST_OPEN = 0x20000000
# The argument that holds the flags of a message.
_SENDING = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
# They insert characters into the input of a terminal. Source: asm-generic/ioctls.h.
_TERMINAL_INPUT = (0x5412, 0x541C)
# Calls whose first argument is the id of the process that they change.
_OF_A_PROCESS = (
    "prlimit64",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
)
_IOPRIO_WHO_PROCESS, _PRIO_PROCESS = 1, 0

_Instruction = tuple[int, int, int, int]


def supported(machine: str = "") -> bool:
    """Return whether the numbers of this processor's system calls are known."""
    return (machine or platform.machine()) in _AUDIT


@cache
def program(*, namespaces: bool, network: bool, machine: str = "") -> bytes:
    """Return the filter for one command.

    namespaces: the command has its own network, process and IPC namespace, so sockets inside are
    harmless.

    network: it may reach the internet; then it gets no socket that could reach a local service by
    path or abstract name. Without namespaces it gets only TCP, which Landlock limits to one port.

    Without namespaces and network some calls are sent to a listener: the process that loads the
    filter has to refuse them, and can report why.
    """
    machine = machine or platform.machine()
    judged = system_calls.numbers(system_calls.BY_ARGUMENTS, machine)
    rules = _head(machine)
    rules += _call(judged["socket"], _socket(namespaces=namespaces, network=network))
    rules += _call(judged["socketpair"], _pair(connected_only=network or not namespaces))
    rules += _call(judged["connect"], [_allow() if namespaces or network else _ask()])
    for name, place in _SENDING.items():
        # A first message with TCP Fast Open connects, and Landlock does not look at it.
        connects = (
            [_argument(place), (_ANY_BIT, 0, 1, _FAST_OPEN), _deny()]
            if network and not namespaces
            else []
        )
        rules += _call(judged[name], [*connects, _allow()])
    for name in ("clone", "unshare"):
        rules += _call(
            judged[name], [_argument(0), (_ANY_BIT, 0, 1, _NEW_USER_NAMESPACE), _deny(), _allow()]
        )
    rules += _call(judged["ioctl"], [_argument(1), *_denied(_TERMINAL_INPUT), _allow()])
    for name, wanted in _on_processes(own_only=not namespaces):
        rules += _call(judged[name], wanted)
    groups = (
        system_calls.FILES,
        system_calls.MEMORY,
        system_calls.PROCESSES,
        system_calls.CLOCKS,
        system_calls.SOCKETS,
        *((system_calls.SHARED,) if namespaces else ()),
    )
    rules += _allowed(
        sorted(
            number for group in groups for number in system_calls.numbers(group, machine).values()
        )
    )
    rules += [(_AT_LEAST, 0, 1, _SINCE_5_1), _deny(errno.ENOSYS), _deny()]
    return b"".join(struct.pack("<HBBI", *rule) for rule in rules)


def _head(machine: str) -> list[_Instruction]:
    rules = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _AUDIT[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
    ]
    return (
        [*rules, (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)] if machine == "x86_64" else rules
    )


def _call(number: int, answer: list[_Instruction]) -> list[_Instruction]:
    """Return the instructions for one call; `answer` ends with a return."""
    return [(_EQUAL, 0, len(answer), number), *answer]


def _socket(*, namespaces: bool, network: bool) -> list[_Instruction]:
    """Return the rules for creating sockets.

    A network namespace never isolates AF_VSOCK and the like.

    A stream has to be connected before anything is sent. Every other kind, SOCK_RAW included, can
    name an address with each message.
    """
    stream = [_argument(1), (_AND, 0, 0, _TYPE_MASK), (_EQUAL, 1, 0, _STREAM), _deny()]
    route_only = [_argument(2), (_EQUAL, 1, 0, _NETLINK_ROUTE), _deny(), _allow()]
    tcp_only = [
        *stream,
        _argument(2),
        (_EQUAL, 2, 0, _ANY_PROTOCOL),
        (_EQUAL, 1, 0, _TCP),
        _deny(),
        _allow(),
    ]
    match namespaces, network:
        case True, False:
            answers = {
                _UNIX: [_allow()],
                _INET: [_allow()],
                _INET6: [_allow()],
                _NETLINK: route_only,
            }
        case True, True:
            answers = {_INET: [_allow()], _INET6: [_allow()], _NETLINK: route_only}
        case False, True:
            answers = {_INET: tcp_only, _INET6: tcp_only, _NETLINK: route_only}
        case _:
            answers = {_UNIX: [*stream, _allow()], _INET: [*stream, _ask()]}
    return [
        _argument(0),
        *(rule for family, answer in answers.items() for rule in _call(family, answer)),
        _deny(),
    ]


def _pair(*, connected_only: bool) -> list[_Instruction]:
    """Return the rules for creating pairs of sockets.

    The kernel lets neither a stream of a pair nor its sequenced packets, which Rust uses to start
    processes, go elsewhere.
    """
    connected = [
        _argument(1),
        (_AND, 0, 0, _TYPE_MASK),
        (_EQUAL, 2, 0, _STREAM),
        (_EQUAL, 1, 0, _SEQUENCED),
        _deny(),
    ]
    return [
        _argument(0),
        (_EQUAL, 1, 0, _UNIX),
        _deny(),
        *(connected if connected_only else ()),
        _allow(),
    ]


def _on_processes(*, own_only: bool) -> Iterator[tuple[str, list[_Instruction]]]:
    """Yield the rules for calls that change a process.

    Without a namespace they may change the calling process only.
    """
    for name in _OF_A_PROCESS:
        yield name, [*_only(0, 0), _allow()] if own_only else [_allow()]
    for name, kind in (("setpriority", _PRIO_PROCESS), ("ioprio_set", _IOPRIO_WHO_PROCESS)):
        yield name, [*_only(0, kind), *_only(1, 0), _allow()] if own_only else [_allow()]


def _only(argument: int, value: int) -> list[_Instruction]:
    return [_argument(argument), (_EQUAL, 1, 0, value), _deny()]


def _if(value: int, answer: _Instruction) -> list[_Instruction]:
    return [(_EQUAL, 0, 1, value), answer]


def _denied(values: tuple[int, ...]) -> list[_Instruction]:
    return [rule for value in values for rule in _if(value, _deny())]


def _allowed(numbers: list[int]) -> Iterator[_Instruction]:
    """Yield rules that allow these numbers, one set for each range without a gap."""
    first = numbers[0]
    for number, following in zip(numbers, [*numbers[1:], -1], strict=True):
        if following != number + 1:
            yield from ((_AT_LEAST, 0, 2, first), (_AT_LEAST, 1, 0, number + 1), _allow())
            first = following


def _argument(index: int) -> _Instruction:
    return (_LOAD, 0, 0, 16 + 8 * index)


def _deny(number: int = errno.EPERM) -> _Instruction:
    return (_RETURN, 0, 0, _ERRNO | number)


def _ask() -> _Instruction:
    return (_RETURN, 0, 0, _ASK)


def _allow() -> _Instruction:
    return (_RETURN, 0, 0, _ALLOW)
