"""The filter of system calls for both processors, run as the kernel would run it; here one of them
is only a table otherwise.
"""

import errno
import re
import struct
from pathlib import Path

import pytest

from forge_bot.sandbox import seccomp, system_calls

ALLOWED, KILLED, ASKED, REFUSED, UNKNOWN = (
    0x7FFF0000,
    0x80000000,
    0x7FC00000,
    0x00050000 | errno.EPERM,
    0x00050000 | errno.ENOSYS,
)
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": (
        {
            "socket": 41,
            "connect": 42,
            "socketpair": 53,
            "clone": 56,
            "shmget": 29,
            "keyctl": 250,
            "unshare": 272,
            "read": 0,
        }
        | {
            "prlimit64": 302,
            "setpriority": 141,
            "ioprio_set": 251,
            "sched_setaffinity": 203,
            "ioctl": 16,
            "msgctl": 71,
            "mq_unlink": 241,
        }
        | {
            "mount": 165,
            "ptrace": 101,
            "fanotify_init": 300,
            "chroot": 161,
            "shmctl": 31,
            "semctl": 66,
            "msgsnd": 69,
            "msgrcv": 70,
        }
        | {"sendto": 44, "sendmsg": 46, "sendmmsg": 307}
    ),
    "aarch64": (
        {
            "socket": 198,
            "connect": 203,
            "socketpair": 199,
            "clone": 220,
            "shmget": 194,
            "keyctl": 219,
            "unshare": 97,
            "read": 63,
        }
        | {
            "prlimit64": 261,
            "setpriority": 140,
            "ioprio_set": 30,
            "sched_setaffinity": 122,
            "ioctl": 29,
            "msgctl": 187,
            "mq_unlink": 181,
        }
        | {
            "mount": 40,
            "ptrace": 117,
            "fanotify_init": 262,
            "chroot": 51,
            "shmctl": 195,
            "semctl": 191,
            "msgsnd": 189,
            "msgrcv": 188,
        }
        | {"sendto": 206, "sendmsg": 211, "sendmmsg": 269}
    ),
}
UNIX, INET, INET6, NETLINK, VSOCK = 1, 2, 10, 16, 40
STREAM, DATAGRAM, RAW, SEQUENCED, CLOSE_ON_EXEC = 1, 2, 3, 5, 0o2000000
TCP, SCTP, SMC, MULTIPATH_TCP = 6, 132, 256, 262
NO_SIGNAL, FAST_OPEN = 0x4000, 0x20000000
NEW_USER, NEW_NET = 0x10000000, 0x40000000
GROUPS = (
    system_calls.FILES,
    system_calls.MEMORY,
    system_calls.PROCESSES,
    system_calls.CLOCKS,
    system_calls.SOCKETS,
    system_calls.SHARED,
    system_calls.BY_ARGUMENTS,
)


def answer(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the program says about one call. Source: Documentation/networking/filter.rst, "BPF
    engine and instruction set".
    """
    words = [
        number,
        audit,
        0,
        0,
        *(
            half
            for argument in (*arguments, 0, 0)
            for half in (argument & 0xFFFFFFFF, argument >> 32)
        ),
    ]
    accumulator = place = 0
    while True:
        code, yes, no, constant = struct.unpack_from("<HBBI", program, 8 * place)
        place += 1
        match code:
            case 0x20:
                accumulator = words[constant // 4]
            case 0x54:
                accumulator &= constant
            case 0x06:
                return constant
            case _:
                met = {
                    0x15: accumulator == constant,
                    0x35: accumulator >= constant,
                    0x45: bool(accumulator & constant),
                }[code]
                place += yes if met else no


@pytest.fixture(params=AUDIT)
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


def may(
    machine: str, name: str, *arguments: int, namespaces: bool = True, network: bool = False
) -> bool:
    said = told(machine, NUMBERS[machine][name], *arguments, namespaces=namespaces, network=network)
    # A listener of the keeper refuses what is put to it; tests/sandbox/test_walls.py shows that.
    assert said in {ALLOWED, REFUSED} | (set() if namespaces or network else {ASKED})
    return said == ALLOWED


def told(
    machine: str, number: int, *arguments: int, namespaces: bool = True, network: bool = False
) -> int:
    program = seccomp.program(namespaces=namespaces, network=network, machine=machine)
    return answer(program, AUDIT[machine], number, *arguments)


@pytest.mark.parametrize(
    ("namespaces", "network", "families"),
    [
        (True, False, {UNIX, INET, INET6, NETLINK}),
        (False, False, {UNIX}),
        (True, True, {INET, INET6, NETLINK}),
        (False, True, {INET, INET6, NETLINK}),
    ],
)
def test_families_of_sockets(
    machine: str, namespaces: bool, network: bool, families: set[int]
) -> None:
    every = (UNIX, INET, INET6, NETLINK, VSOCK, 0, 17, 31, 38)
    assert {
        family
        for family in every
        if may(machine, "socket", family, STREAM, namespaces=namespaces, network=network)
    } == families


@pytest.mark.parametrize(
    "kind", [DATAGRAM, RAW, SEQUENCED, DATAGRAM | CLOSE_ON_EXEC, RAW | CLOSE_ON_EXEC]
)
def test_without_namespaces_unix_sockets_are_streams(machine: str, kind: int) -> None:
    assert may(machine, "socket", UNIX, kind)
    assert not may(machine, "socket", UNIX, kind, namespaces=False)
    assert not may(machine, "socket", UNIX, kind, network=True)
    assert may(machine, "socket", UNIX, STREAM | CLOSE_ON_EXEC, namespaces=False)
    assert may(machine, "socket", INET, kind, network=True), "they stay in the namespace"


@pytest.mark.parametrize("family", [INET, INET6])
def test_with_network_and_without_namespaces_only_tcp_goes_out(machine: str, family: int) -> None:
    """Landlock keeps TCP to the port of the proxy, and no other protocol."""
    for protocol in (0, TCP):
        assert may(
            machine,
            "socket",
            family,
            STREAM | CLOSE_ON_EXEC,
            protocol,
            namespaces=False,
            network=True,
        )
        for kind in (DATAGRAM, RAW, SEQUENCED, DATAGRAM | CLOSE_ON_EXEC):
            assert not may(
                machine, "socket", family, kind, protocol, namespaces=False, network=True
            )
    for protocol in (SCTP, MULTIPATH_TCP, SMC):
        assert not may(machine, "socket", family, STREAM, protocol, namespaces=False, network=True)


@pytest.mark.parametrize(("call", "place"), [("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)])
def test_where_landlock_keeps_the_port_a_message_does_not_open_a_connection(
    machine: str, call: str, place: int
) -> None:
    """With TCP Fast Open the first message connects, and Landlock does not see it."""
    flags = [0] * place
    assert may(machine, call, *flags, NO_SIGNAL, namespaces=False, network=True)
    assert not may(machine, call, *flags, NO_SIGNAL | FAST_OPEN, namespaces=False, network=True)
    assert may(machine, call, *flags, FAST_OPEN, network=True), "it stays in the namespace"


@pytest.mark.parametrize("kind", [DATAGRAM, RAW, DATAGRAM | CLOSE_ON_EXEC, RAW | CLOSE_ON_EXEC])
def test_a_pair_whose_messages_can_be_addressed_needs_a_network_of_its_own(
    machine: str, kind: int
) -> None:
    assert may(machine, "socketpair", UNIX, kind)
    assert not may(machine, "socketpair", UNIX, kind, namespaces=False)
    assert not may(machine, "socketpair", UNIX, kind, network=True)
    assert not may(machine, "socketpair", UNIX, kind, namespaces=False, network=True)
    for connected in (STREAM | CLOSE_ON_EXEC, SEQUENCED | CLOSE_ON_EXEC):
        assert may(machine, "socketpair", UNIX, connected, namespaces=False)
        assert may(machine, "socketpair", UNIX, connected, network=True)
        assert not may(machine, "socketpair", INET, connected)


def test_netlink_answers_about_routes_only(machine: str) -> None:
    for network in (True, False):
        assert may(machine, "socket", NETLINK, RAW, 0, network=network)
        assert not any(
            may(machine, "socket", NETLINK, RAW, protocol, network=network)
            for protocol in range(1, 23)
        )


@pytest.mark.parametrize("call", ["prlimit64", "sched_setaffinity"])
def test_without_a_process_namespace_a_command_changes_itself_only(machine: str, call: str) -> None:
    assert may(machine, call, 0, namespaces=False)
    assert may(machine, call, 4711)
    for network in (True, False):
        assert not may(machine, call, 4711, namespaces=False, network=network)


def test_priorities_of_groups_and_users_stay_as_they_are(machine: str) -> None:
    own_process = {"setpriority": 0, "ioprio_set": 1}
    for call, kind in own_process.items():
        for which in range(4):
            assert may(machine, call, which, 0, namespaces=False) == (which == kind)
            assert not may(machine, call, which, 4711, namespaces=False)
            assert may(machine, call, which, 4711)


def test_nothing_is_put_into_the_input_of_a_terminal(machine: str) -> None:
    assert not may(machine, "ioctl", 0, 0x5412)
    assert not may(machine, "ioctl", 0, 0x541C)
    assert may(machine, "ioctl", 0, 0x5413), "the size of a window is read by many"


@pytest.mark.parametrize("namespaces", [True, False])
@pytest.mark.parametrize("network", [True, False])
def test_a_call_that_is_not_listed_is_refused_and_a_newer_one_is_said_not_to_exist(
    machine: str, namespaces: bool, network: bool
) -> None:
    listed = {
        number for group in GROUPS for number in system_calls.numbers(group, machine).values()
    }
    for number in set(range(2000)) - listed:
        expected = REFUSED if number < 424 else UNKNOWN
        assert told(machine, number, namespaces=namespaces, network=network) == expected, number
    for name in ("mount", "chroot", "fanotify_init", "keyctl"):
        assert NUMBERS[machine][name] not in listed


def test_every_listed_call_is_allowed_in_namespaces(machine: str) -> None:
    for group in GROUPS[:-1]:
        for name, number in system_calls.numbers(group, machine).items():
            assert told(machine, number) == ALLOWED, name


HEADERS = {"x86_64": "x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}


def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    header = Path("/usr/include") / HEADERS[machine]
    if not header.is_file():
        pytest.skip(f"{header} is not installed")
    text = header.read_text(encoding="ascii")
    known = {
        name: int(number)
        for name, number in re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", text, re.MULTILINE)
    }
    known |= {
        name: known[alias]
        for name, alias in re.findall(r"^#define __NR_(\w+) __NR3264_(\w+)$", text, re.MULTILINE)
        if alias in known
    }
    newest = max(number for name, number in known.items() if name != "syscalls" and number < 1000)
    listed = {
        name: number
        for group in GROUPS
        for name, number in system_calls.numbers(group, machine).items()
        if number <= newest
    }
    assert listed == {name: known[name] for name in listed}


def test_connecting_is_refused_only_where_nothing_else_keeps_local_sockets_apart(
    machine: str,
) -> None:
    asked = {
        (namespaces, network): may(machine, "connect", 3, namespaces=namespaces, network=network)
        for namespaces in (True, False)
        for network in (True, False)
    }
    assert asked == {
        (True, True): True,
        (True, False): True,
        (False, True): True,
        (False, False): False,
    }


def test_user_namespaces_are_refused_and_other_processes_and_threads_are_not(machine: str) -> None:
    for call in ("clone", "unshare"):
        assert may(machine, call, 17)
        assert may(machine, call, NEW_NET)
        assert not may(machine, call, NEW_USER | NEW_NET | 17)


@pytest.mark.parametrize(
    "call", ["shmget", "shmctl", "semctl", "msgctl", "msgsnd", "msgrcv", "mq_unlink"]
)
def test_objects_of_the_users_other_programs_are_refused_without_a_namespace_for_them(
    machine: str, call: str
) -> None:
    assert may(machine, call, 1)
    assert not may(machine, call, 1, namespaces=False)
    assert not may(machine, call, 1, namespaces=False, network=True)


def test_keyrings_are_always_refused_and_reading_never(machine: str) -> None:
    assert not may(machine, "keyctl", 0)
    assert may(machine, "read", 0)


def test_clone3_is_said_not_to_exist(machine: str) -> None:
    program = seccomp.program(namespaces=True, network=False, machine=machine)
    assert answer(program, AUDIT[machine], 435) == 0x00050000 | errno.ENOSYS


def test_calls_of_another_processor_end_the_process() -> None:
    program = seccomp.program(namespaces=True, network=False, machine="x86_64")
    assert answer(program, 0x40000003, 0) == KILLED
    assert answer(program, AUDIT["x86_64"], 0x40000000 | 41, INET) == KILLED
