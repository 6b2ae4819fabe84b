"""The system calls that a boxed command is refused, as a kernel filter: a pure function that
returns bytes.

Everything else is allowed: mounts, namespaces or Landlock decide what a call can reach, and no box
has powers of root. The program is classic BPF over `struct seccomp_data` (number at 0, architecture
at 4, low halves of the arguments from 16 on, 8 bytes apart). Source:
Documentation/userspace-api/seccomp_filter.rst, arch/x86/entry/syscalls/syscall_64.tbl and
scripts/syscall.tbl.
"""

import errno
import platform
import struct
from functools import cache

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_X32 = 0x40000000
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def _numbers(text: str) -> dict[str, tuple[int, int]]:
    """Return calls with their numbers on x86_64 and aarch64."""
    return {
        name: (int(first), int(second))
        for name, first, second in (row.split() for row in text.split(","))
    }


# Keys of the user and of the machine; rings whose entries no filter sees, programs and watches
# inside the kernel; other namespaces, mounts, and files of other processes. clone3 hides its flags
# behind a pointer; the C library then uses clone, whose flags can be read.
REFUSED = _numbers("""
    add_key 248 217, request_key 249 218, keyctl 250 219, io_uring_setup 425 425,
    io_uring_enter 426 426, io_uring_register 427 427, bpf 321 280, perf_event_open 298 241,
    userfaultfd 323 282, fanotify_init 300 262, syslog 103 116, setns 308 268, chroot 161 51,
    pivot_root 155 41, mount 165 40, umount2 166 39, open_tree 428 428, move_mount 429 429,
    fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442,
    open_by_handle_at 304 265, pidfd_getfd 438 438, clone3 435 435""")
# Objects of System V and POSIX, of all programs of the user where no namespace separates them.
SHARED = _numbers("""
    shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, semop 65 193, semctl 66 191,
    semtimedop 220 192, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187,
    mq_open 240 180, mq_unlink 241 181""")
JUDGED = _numbers("""
    socket 41 198, connect 42 203, socketpair 53 199, ioctl 16 29, sendto 44 206, sendmsg 46 211,
    sendmmsg 307 269, clone 56 220, unshare 272 97, setpriority 141 140, ioprio_set 251 30,
    prlimit64 302 261, sched_setaffinity 203 122, sched_setscheduler 144 119,
    sched_setparam 142 118, sched_setattr 314 274""")
"""Calls that are judged by their arguments."""

# Calls that change the process that their first argument names; and the number that stands for one
# process where they may change groups and users as well.
_OF_A_PROCESS = (
    "prlimit64",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
)
_ONE_PROCESS = {"setpriority": 0, "ioprio_set": 1}

# The first call of Linux 5.1. A program that is told that a newer call does not exist uses an older
# one in its place.
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
    """
    machine = machine or platform.machine()
    column = tuple(_AUDIT).index(machine)
    refused = REFUSED if namespaces else REFUSED | SHARED
    judged = {
        "socket": _socket(namespaces=namespaces, network=network),
        "socketpair": _pair(connected_only=network or not namespaces),
        "ioctl": [_argument(1), *_refuse_values(_TERMINAL_INPUT), _allow()],
        "clone": _without_bit(0, _NEW_USER_NAMESPACE),
        "unshare": _without_bit(0, _NEW_USER_NAMESPACE),
    }
    if not namespaces and network:
        # A first message with TCP Fast Open connects, and Landlock does not look at it.
        judged |= {name: _without_bit(place, _FAST_OPEN) for name, place in _SENDING.items()}
    if not namespaces and not network:
        judged["connect"] = [_deny()]
    if not namespaces:
        # Without a process namespace they may change the calling process only.
        judged |= {name: [*_only(0, 0), _allow()] for name in _OF_A_PROCESS}
        judged |= {
            name: [*_only(0, kind), *_only(1, 0), _allow()] for name, kind in _ONE_PROCESS.items()
        }
    rules = _head(machine)
    for name, answer in judged.items():
        rules += _call(JUDGED[name][column], answer)
    for row in refused.values():
        number = row[column]
        rules += _call(number, [_deny(errno.ENOSYS if number >= _SINCE_5_1 else errno.EPERM)])
    return b"".join(struct.pack("<HBBI", *rule) for rule in (*rules, _allow()))


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
    protocol = [_argument(2), (_EQUAL, 2, 0, _ANY_PROTOCOL), (_EQUAL, 1, 0, _TCP), _deny()]
    inet = [_allow()] if namespaces else [*stream, *protocol, _allow()]
    answers: dict[int, list[_Instruction]] = {}
    if not network:
        answers[_UNIX] = [_allow()] if namespaces else [*stream, _allow()]
    if namespaces or network:
        answers |= {_INET: inet, _INET6: inet, _NETLINK: [*_only(2, _NETLINK_ROUTE), _allow()]}
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
    return [*_only(0, _UNIX), *(connected if connected_only else ()), _allow()]


def _only(argument: int, value: int) -> list[_Instruction]:
    return [_argument(argument), (_EQUAL, 1, 0, value), _deny()]


def _without_bit(argument: int, bit: int) -> list[_Instruction]:
    return [_argument(argument), (_ANY_BIT, 0, 1, bit), _deny(), _allow()]


def _refuse_values(values: tuple[int, ...]) -> list[_Instruction]:
    return [rule for value in values for rule in ((_EQUAL, 0, 1, value), _deny())]


def _argument(index: int) -> _Instruction:
    return (_LOAD, 0, 0, 16 + 8 * index)


def _deny(number: int = errno.EPERM) -> _Instruction:
    return (_RETURN, 0, 0, _ERRNO | number)


def _allow() -> _Instruction:
    return (_RETURN, 0, 0, _ALLOW)
