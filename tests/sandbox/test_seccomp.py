"""The filter of system calls for both processors, run as the kernel would run it; here one of them
is only a table otherwise.
"""

import errno
import re
import struct
from pathlib import Path

import pytest

from forge_bot.sandbox import seccomp

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
UNIX, INET, INET6, NETLINK, VSOCK = 1, 2, 10, 16, 40
STREAM, DATAGRAM, RAW, SEQUENCED, CLOSE_ON_EXEC = 1, 2, 3, 5, 0o2000000
TCP, SCTP, SMC, MULTIPATH_TCP = 6, 132, 256, 262
NO_SIGNAL, FAST_OPEN = 0x4000, 0x20000000
NEW_USER, NEW_NET = 0x10000000, 0x40000000

# By bubblewrap without network and with it, then by Landlock: y is allowed, n is refused.
CASES = [
    *(("socket", (UNIX, kind), "yny" if kind == STREAM else "ynn") for kind in (STREAM, DATAGRAM)),
    *(("socket", (UNIX, kind), "ynn") for kind in (RAW, SEQUENCED, RAW | CLOSE_ON_EXEC)),
    *(("socket", (family, kind), "yyn") for family in (INET, INET6) for kind in (STREAM, DATAGRAM)),
    *(("socket", (family, STREAM), "nnn") for family in (VSOCK, 0, 17, 31, 38)),
    ("socket", (NETLINK, RAW, 0), "yyn"),
    *(("socket", (NETLINK, RAW, protocol), "nnn") for protocol in range(1, 23)),
    *(("socketpair", (UNIX, kind), "ynn") for kind in (DATAGRAM, RAW, DATAGRAM | CLOSE_ON_EXEC)),
    *(("socketpair", (UNIX, kind | CLOSE_ON_EXEC), "yyy") for kind in (STREAM, SEQUENCED)),
    ("socketpair", (INET, STREAM), "nnn"),
    ("connect", (3,), "yyn"),
    *((call, (17,), "yyy") for call in ("clone", "unshare")),
    *((call, (NEW_NET,), "yyy") for call in ("clone", "unshare")),
    *((call, (NEW_USER | NEW_NET | 17,), "nnn") for call in ("clone", "unshare")),
    *(("ioctl", (0, number), "nnn") for number in (0x5412, 0x541C)),
    ("ioctl", (0, 0x5413), "yyy"),
    *((call, (0,), "yyy") for call in ("prlimit64", "sched_setaffinity", "sched_setattr")),
    *((call, (4711,), "yyn") for call in ("prlimit64", "sched_setaffinity", "sched_setattr")),
    *(("setpriority", (which, 0), "yyn" if which else "yyy") for which in range(3)),
    *(("ioprio_set", (which, 0), "yyy" if which == 1 else "yyn") for which in range(4)),
    *((call, (1, 4711), "yyn") for call in ("setpriority", "ioprio_set")),
    *((call, (1,), "yyn") for call in seccomp.SHARED),
    *((call, (), "nnn") for call in seccomp.REFUSED),
]


def answer(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the program says about one call. Source: Documentation/networking/filter.rst, "BPF
    engine and instruction set".
    """
    halves = (half for word in (*arguments, 0, 0, 0) for half in (word & 0xFFFFFFFF, word >> 32))
    words = [number, audit, 0, 0, *halves]
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


def numbers(machine: str) -> dict[str, int]:
    column = list(AUDIT).index(machine)
    table = seccomp.JUDGED | seccomp.SHARED | seccomp.REFUSED
    return {name: row[column] for name, row in table.items()}


def may(machine: str, name: str, *arguments: int, namespaces: bool, network: bool) -> bool:
    program = seccomp.program(namespaces=namespaces, network=network, machine=machine)
    return answer(program, AUDIT[machine], numbers(machine)[name], *arguments) == ALLOWED


def test_each_call_is_allowed_where_something_else_holds_it_and_refused_elsewhere(
    machine: str,
) -> None:
    boxes = ((True, False), (True, True), (False, False))
    wrong = [
        (call, arguments, namespaces, network)
        for call, arguments, answers in CASES
        for (namespaces, network), wanted in zip(boxes, answers, strict=True)
        if may(machine, call, *arguments, namespaces=namespaces, network=network) != (wanted == "y")
    ]
    assert wrong == []


def test_under_landlock_setup_speaks_tcp_to_the_port_of_the_proxy_and_nothing_else(
    machine: str,
) -> None:
    def allowed(name: str, *arguments: int) -> bool:
        return may(machine, name, *arguments, namespaces=False, network=True)

    for family in (INET, INET6):
        assert all(allowed("socket", family, STREAM, protocol) for protocol in (0, TCP))
        for protocol in (SCTP, MULTIPATH_TCP, SMC):
            assert not allowed("socket", family, STREAM, protocol)
        for kind in (DATAGRAM, RAW, SEQUENCED, DATAGRAM | CLOSE_ON_EXEC):
            assert not allowed("socket", family, kind, TCP)
    assert not allowed("socket", UNIX, STREAM)
    # With TCP Fast Open the first message connects, and Landlock does not see it.
    for call, place in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
        assert allowed(call, *[0] * place, NO_SIGNAL)
        assert not allowed(call, *[0] * place, NO_SIGNAL | FAST_OPEN)


def test_a_call_since_linux_5_1_is_said_not_to_exist_and_the_others_are_not_permitted(
    machine: str,
) -> None:
    program = seccomp.program(namespaces=True, network=False, machine=machine)
    for name in seccomp.REFUSED:
        number = numbers(machine)[name]
        expected = errno.ENOSYS if number >= 424 else errno.EPERM
        assert answer(program, AUDIT[machine], number) == 0x00050000 | expected, name


HEADERS = {"x86_64": "x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}


def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    header = Path("/usr/include") / HEADERS[machine]
    if not header.is_file():
        pytest.skip(f"{header} is not installed")
    known = {
        name: int(number)
        for name, number in re.findall(
            r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", header.read_text("ascii"), re.MULTILINE
        )
    }
    listed = numbers(machine)
    assert listed == {name: known.get(name, number) for name, number in listed.items()}
    assert len(listed.keys() & known.keys()) > 50


def test_calls_of_another_processor_end_the_process() -> None:
    program = seccomp.program(namespaces=True, network=False, machine="x86_64")
    assert answer(program, 0x40000003, 0) == KILLED
    assert answer(program, AUDIT["x86_64"], 0x40000000 | 41, INET) == KILLED
