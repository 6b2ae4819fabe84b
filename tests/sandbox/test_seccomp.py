"""The filter of system calls for both processors, run as the kernel would run it; here one of them is only a table otherwise."""

import errno
import struct

import pytest

from forge_bot.sandbox import seccomp

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": {"socket": 41, "connect": 42, "socketpair": 53, "clone": 56, "shmget": 29, "keyctl": 250, "unshare": 272, "read": 0},
    "aarch64": {"socket": 198, "connect": 203, "socketpair": 199, "clone": 220, "shmget": 194, "keyctl": 219, "unshare": 97, "read": 63},
}
UNIX, INET, INET6, NETLINK, VSOCK = 1, 2, 10, 16, 40
STREAM, DATAGRAM, CLOSE_ON_EXEC = 1, 2, 0o2000000
NEW_USER, NEW_NET = 0x10000000, 0x40000000


def answer(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the program says about one call. Source: Documentation/networking/filter.rst, "BPF engine and instruction set"."""
    words = [number, audit, 0, 0, *(half for argument in (*arguments, 0, 0) for half in (argument & 0xFFFFFFFF, argument >> 32))]
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
                met = {0x15: accumulator == constant, 0x35: accumulator >= constant, 0x45: bool(accumulator & constant)}[code]
                place += yes if met else no


@pytest.fixture(params=AUDIT)
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


def may(machine: str, name: str, *arguments: int, namespaces: bool = True, network: bool = False) -> bool:
    program = seccomp.program(namespaces=namespaces, network=network, machine=machine)
    said = answer(program, AUDIT[machine], NUMBERS[machine][name], *arguments)
    assert said in {ALLOWED, 0x00050000 | errno.EPERM}
    return said == ALLOWED


@pytest.mark.parametrize(
    ("namespaces", "network", "families"),
    [
        (True, False, {UNIX, INET, INET6, NETLINK}),
        (False, False, {UNIX}),
        (True, True, {INET, INET6, NETLINK}),
        (False, True, {INET, INET6, NETLINK}),
    ],
)
def test_families_of_sockets(machine: str, namespaces: bool, network: bool, families: set[int]) -> None:
    every = (UNIX, INET, INET6, NETLINK, VSOCK, 0, 17, 31, 38)
    assert {family for family in every if may(machine, "socket", family, STREAM, namespaces=namespaces, network=network)} == families


def test_unix_datagrams_are_made_in_a_network_of_ones_own_only(machine: str) -> None:
    for kind in (DATAGRAM, DATAGRAM | CLOSE_ON_EXEC):
        assert may(machine, "socket", UNIX, kind)
        assert may(machine, "socketpair", UNIX, kind)
        assert not may(machine, "socket", UNIX, kind, namespaces=False)
        assert not may(machine, "socketpair", UNIX, kind, namespaces=False)
        assert not may(machine, "socketpair", UNIX, kind, network=True)
    assert may(machine, "socketpair", UNIX, STREAM | CLOSE_ON_EXEC, namespaces=False)
    assert may(machine, "socket", INET, DATAGRAM, network=True), "names are looked up by datagrams"


def test_connecting_is_refused_only_where_nothing_else_keeps_local_sockets_apart(machine: str) -> None:
    asked = {
        (namespaces, network): may(machine, "connect", 3, namespaces=namespaces, network=network)
        for namespaces in (True, False)
        for network in (True, False)
    }
    assert asked == {(True, True): True, (True, False): True, (False, True): True, (False, False): False}


def test_user_namespaces_are_refused_and_other_processes_and_threads_are_not(machine: str) -> None:
    for call in ("clone", "unshare"):
        assert may(machine, call, 17)
        assert may(machine, call, NEW_NET)
        assert not may(machine, call, NEW_USER | NEW_NET | 17)


def test_shared_memory_of_system_five_is_refused_without_a_namespace_for_it(machine: str) -> None:
    assert may(machine, "shmget", 1)
    assert not may(machine, "shmget", 1, namespaces=False)


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
