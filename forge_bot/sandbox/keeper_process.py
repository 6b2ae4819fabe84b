"""A small process that starts one command under limits and confinement and ends its processes.

It runs in a Python of its own (`keeper_command.py`) and uses only the standard library: its work
between fork and exec would be unsafe in a program with threads, and as "child subreaper" it may end
every child it has. Its order is a marshalled value on stdin. Stdin stays open as a lifeline: when
it closes, every process ends. The answer is a Python literal on the descriptor that the first
argument names. Other inherited descriptors are passed on to the command.

A keeper starts for every command, so it imports only what loads quickly: `json`, `contextlib` and
`signal` would take as long as the interpreter, and `ctypes` half as long.
"""

from __future__ import annotations

import errno
import marshal
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
    from typing import Any, NoReturn
else:
    # What `signal` wraps, without the enumerations that it makes of the numbers.
    import _signal as signal

START = "import sys; sys.path.append(sys.argv.pop(1)); import keeper_process as it; it.main()"
"""The program that starts this one, with its folder and the descriptor as arguments: a module is
compiled once, and a script would be for every command."""

_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_NOTICE_RECEIVE, _NOTICE_ANSWER, _NOTICE_BYTES = 0xC0502100, 0xC0182101, 80
_CONNECT = {"x86_64": 42, "aarch64": 203}
_UNIX_FAMILY, _ADDRESS_BYTES = 1, 110
_TROUBLE, KILLED = 125, 137
_FOR_ALL = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class _Suppressed:
    """Do as `contextlib.suppress` does."""

    def __init__(self, *kinds: type[BaseException]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, self._kinds)


def descendants(above: int) -> list[int]:
    """Return the process ids of all children of `above`, their children, and so on.

    Processes that start or end meanwhile may be missed.
    """
    found: list[int] = []
    todo = [above]
    while todo:
        parent = todo.pop()
        with _Suppressed(OSError), os.scandir(f"/proc/{parent}/task") as tasks:
            for task in tasks:
                fresh = [int(word) for word in _content(f"{task.path}/children").split()]
                todo += fresh
                found += fresh
    return found


def _content(path: str) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: os.read(file, 65_536), b""))
    except OSError:
        return b""
    finally:
        os.close(file)


# -- the command ---------------------------------------------------------------------------------


def _prctl(option: int, value: int) -> None:
    """Call prctl(2) where there is one, by what `ctypes` wraps."""
    import _ctypes

    with _Suppressed(OSError):
        # The stubs do not know that None is the program itself.
        program = _ctypes.dlopen(None, 0)  # pyright: ignore[reportArgumentType]
        function = _ctypes.dlsym(program, "prctl")
        _ctypes.call_function(function, (option, value, 0, 0, 0))


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        import resource

        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        held = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (held, held))
    # When memory is short, the kernel ends the boxed command before the user's own processes.
    with _Suppressed(OSError):
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        os.write(score, b"1000")
        os.close(score)


def _become(order: dict[str, Any], trouble: int, line: socket.socket | None) -> NoReturn:
    """Turn this process into the command.

    A failure is written to `trouble`, which closes by itself if nothing fails.
    """
    number, words, stage = errno.EPERM, "", "walls"
    try:
        os.setsid()
        # Python ignores the first two signals, and exec keeps ignored signals ignored.
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ, *_FOR_ALL):
            signal.signal(ignored, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _limit(order["limits"])
        _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if walls := order.get("walls"):
            import keeper_walls

            keeper_walls.put_up(walls, line)
        stage = "exec"
        os.chdir(order["folder"])
        _exec(order["program"], order["argv"], order["env"])
    except OSError as error:
        number, words = error.errno or errno.EPERM, str(error)
    # The child must never continue as a second keeper, whatever happened.
    except Exception as error:  # noqa: BLE001
        words = repr(error)
    os.write(trouble, marshal.dumps({"stage": stage, "errno": number, "words": words}))
    os._exit(_TROUBLE)


def _exec(program: str, argv: list[str], env: dict[str, str]) -> None:
    # This process exists to start the project's command; no shell is involved.
    try:
        os.execve(program, argv, env)  # noqa: S606
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        # The shell runs a script without a first line that names its interpreter, as execvp(3)
        # does.
        script = argv[0] if "/" in argv[0] else program
        os.execve("/bin/sh", ["/bin/sh", script, *argv[1:]], env)  # noqa: S606


# -- refused requests of the command ---------------------------------------------------------------


class _Listener:
    """Refuses the system calls that the filter sends to it, and records their kind.

    The kind is "tcp", or "unix" for a socket of the command's own. Source: seccomp_unotify(2).
    """

    def __init__(self, descriptor: int, own: tuple[str, ...]) -> None:
        self.descriptor = descriptor
        self._own = own
        self.asked: set[str] = set()

    def refuse(self) -> None:
        """Refuse one call. No call is allowed, so later changes by the process do not matter."""
        import fcntl
        import struct

        notice = bytearray(_NOTICE_BYTES)
        try:
            fcntl.ioctl(self.descriptor, _NOTICE_RECEIVE, notice)
            identity, pid, number, _, second = struct.unpack_from("<QI4xi12xQQ", notice)
            if number != _CONNECT[os.uname().machine]:
                self.asked.add("tcp")
            elif self._is_own(pid, second):
                self.asked.add("unix")
            fcntl.ioctl(
                self.descriptor, _NOTICE_ANSWER, struct.pack("<QqiI", identity, 0, -errno.EPERM, 0)
            )
        except OSError:
            # The process that asked has died.
            return

    def _is_own(self, pid: int, address: int) -> bool:
        """Return whether the address names a socket that the command can have made.

        Addresses of the machine's services return False.
        """
        try:
            memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            words = os.pread(memory, _ADDRESS_BYTES, address)
        except OSError:
            return False
        finally:
            os.close(memory)
        if int.from_bytes(words[:2], sys.byteorder) != _UNIX_FAMILY:
            return False
        path = os.fsdecode(words[2:].partition(b"\0")[0])
        return not path or not path.startswith("/") or path.startswith(self._own)


def _received(line: socket.socket, own: tuple[str, ...]) -> _Listener | None:
    """Return the listener that came through the socket `line`, if one did."""
    import socket

    line.setblocking(False)
    with _Suppressed(BlockingIOError):
        _, descriptors, _, _ = socket.recv_fds(line, 16, 1)
        return _Listener(descriptors[0], own) if descriptors else None
    return None


# -- ending all processes --------------------------------------------------------------------------


def _reap(command: int) -> tuple[bool, int | None]:
    """Reap every dead child.

    Return whether no child is left, and the command's wait status if it was among them.
    """
    status = None
    while True:
        try:
            pid, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True, status
        if pid == 0:
            return False, status
        # A child that has asked to be traced is reported when it stops, too.
        if pid == command and not os.WIFSTOPPED(ended):
            status = ended


def _end_all(command: int) -> None:
    """End all remaining processes.

    First all are stopped, so that none starts children faster than they are found.
    """
    with _Suppressed(OSError):  # root only: its processes are not counted
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    while True:
        for what in (signal.SIGSTOP, signal.SIGKILL):
            for pid in descendants(os.getpid()):
                with _Suppressed(ProcessLookupError, PermissionError):
                    os.kill(pid, what)
        if sys.platform != "linux":
            with _Suppressed(ProcessLookupError, PermissionError):
                os.killpg(command, signal.SIGKILL)
        if _reap(command)[0]:
            return
        select.select([], [], [], 0.002)


def _attend(command: int, lifeline: int, news: int, listener: _Listener | None) -> int | None:
    """Wait for the command's end and return its wait status; None if the lifeline ended first."""
    waiting = [lifeline, news, *([listener.descriptor] if listener else ())]
    while True:
        ready, _, _ = select.select(waiting, [], [])
        if listener and listener.descriptor in ready:
            listener.refuse()
        if news in ready:
            os.read(news, 512)
        status = _reap(command)[1]
        if status is not None:
            return status
        if lifeline in ready:
            return None


def _heard(_number: int, _frame: object) -> None:
    """Handle the signal so that it is delivered; the wake-up descriptor does the rest."""


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return a pair of sockets. The module is read before the walls keep the child from it."""
    import socket

    return socket.socketpair()


def main() -> None:
    """Carry out the order on stdin and answer on the descriptor named by the first argument."""
    answer = int(sys.argv[1])
    try:
        # It comes from the program that started this one, with the same Python.
        order: dict[str, Any] = marshal.load(sys.stdin.buffer)  # noqa: S302
    except EOFError:
        return
    _prctl(_SET_CHILD_SUBREAPER, 1)
    # Who stops a service or hangs up sends these to all of its processes. This one ends when the
    # one above it does, and says until then how the command ended.
    for each in _FOR_ALL:
        signal.signal(each, signal.SIG_IGN)
    news, bell = os.pipe()
    os.set_blocking(news, False)
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell)
    signal.signal(signal.SIGCHLD, _heard)
    trouble_read, trouble = os.pipe()
    line = _socket_pair() if order.get("walls") else None
    command = os.fork()
    if command == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(answer)
        _become(order, trouble, line and line[1])
    os.close(trouble)
    if line:
        line[1].close()
    trouble_words = os.read(trouble_read, 65_536)
    listener = _received(line[0], tuple(order.get("own", ()))) if line else None
    status = _attend(command, 0, news, listener)
    _end_all(command)
    # The words are of this process before it became the command.
    report: dict[str, Any] = marshal.loads(trouble_words) if trouble_words else {}  # noqa: S302
    report["asked"] = sorted(listener.asked) if listener else []
    if status is not None:
        code = os.waitstatus_to_exitcode(status)
        report["exit_code"] = code if code >= 0 else 128 - code
    os.write(answer, repr(report).encode())
