"""Small processes around a boxed command: one that keeps a program and all that it starts, one that
puts up walls around itself and becomes the command, and one that listens inside a box.

Each runs as a separate script (`python -I -S helper_processes.py NAME WORDS`) that uses only the
standard library: work between fork and exec would be unsafe in a program with threads, and setns(2)
lets a process enter a user namespace only while it has one thread.
"""

import base64
import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import stat
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_FOR_ALL = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_BY_SIGNAL = 128
_SET_NO_NEW_PRIVS = 38
_CAPBSET_DROP, _CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91}
_SECCOMP, _SET_MODE_FILTER = {"x86_64": 317, "aarch64": 277}, 1
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PATH_BENEATH, _NET_PORT, _CONNECT_TCP = 1, 2, 1 << 1
_O_PATH = 0o10000000
_TROUBLE = 125
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_IP_FREEBIND = 15
_OWNER = 0xB701
"""NS_GET_USERNS of ioctl_ns(2): the user namespace that a namespace belongs to."""


def script(name: str, *words: object) -> tuple[str, ...]:
    """Return the command of one of these processes."""
    return (sys.executable, "-I", "-S", __file__, name, *map(str, words))


def keeper() -> tuple[str, ...]:
    """Return the words before those of a program that is to be kept by a process of its own."""
    return script("keep", os.getpid())


def descendants(above: int) -> list[int]:
    """Return the process ids of all children of `above`, their children, and so on.

    Processes that start or end meanwhile may be missed.
    """
    below: list[int] = []
    parents = [above]
    while parents:
        with suppress(OSError):
            for task in Path(f"/proc/{parents.pop()}/task").iterdir():
                children = [int(word) for word in (task / "children").read_bytes().split()]
                parents += children
                below += children
    return below


def _end_all() -> None:
    """End all processes below this one.

    First all are stopped, so that none starts children faster than they are found.
    """
    with suppress(OSError):  # root only: its processes are not counted
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    while _reap():
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in descendants(os.getpid()):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        time.sleep(0.002)


def _reap() -> bool:
    """Reap every dead child; return whether others are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def keep(parent: str, *words: str) -> int:
    """Start a program with our standard streams, and end all of its processes when it ends, or when
    the process that started us (`parent`) ends, however that happens. Return its exit code.

    As "child subreaper" we get every process whose own parent has ended.
    """

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        _end_all()
        raise SystemExit(_BY_SIGNAL + number)

    for number in _FOR_ALL:
        signal.signal(number, end)
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != int(parent):
        return 1
    child = os.fork()
    if child == 0:
        # Python ignores the last two, and exec keeps ignored signals ignored.
        for number in (*_FOR_ALL, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execvp(words[0], words)  # noqa: S606 - no shell is wanted
        finally:
            os._exit(127)
    # What the program reads and writes is its own: an end of it has to reach the other side.
    for stream in (0, 1):
        os.close(stream)
    pid, status = os.waitpid(-1, 0)
    # A child that has asked to be traced is reported when it stops, too.
    while pid != child or os.WIFSTOPPED(status):
        pid, status = os.waitpid(-1, 0)
    _end_all()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else _BY_SIGNAL - code


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


def wall(descriptor: str) -> int:
    """Put up the walls of the order on stdin around this process, and become its command. A failure
    is answered in JSON on the descriptor, which closes by itself if nothing fails.
    """
    answer, order, stage = int(descriptor), json.load(sys.stdin), "walls"
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
        with suppress(OSError):
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


def listen(pid: str, descriptor: str, port: str) -> int:
    """Enter the namespaces of a process, listen there on 127.0.0.1, and send the socket through the
    descriptor. The process that accepts on it stays in its own.
    """
    import socket

    libc = ctypes.CDLL(None, use_errno=True)
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    # For an ordinary user bwrap makes two user namespaces, one in the other: the process is in the
    # inner one, its network belongs to the outer one. Where the box has none of its own, entering
    # is refused, and not needed.
    libc.setns(fcntl.ioctl(network, _OWNER), _NEW_USER)
    if libc.setns(network, _NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    server = socket.socket()
    with suppress(OSError):
        # The loopback interface of the namespace may not be up yet.
        server.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
    server.bind(("127.0.0.1", int(port)))
    server.listen(128)
    socket.send_fds(socket.socket(fileno=int(descriptor)), [b"listener"], [server.fileno()])
    return 0


if __name__ == "__main__":
    sys.exit({"keep": keep, "wall": wall, "listen": listen}[sys.argv[1]](*sys.argv[2:]))
