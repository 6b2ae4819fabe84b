"""Find the backends that work on this machine, choose one, and run a command with it; and the box
for a program that is talked to while it runs, such as an MCP server: the caller starts its words
and ends them.
"""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event
from typing import Literal, assert_never

from forge_bot.errors import NoSandbox, SandboxFailed
from forge_bot.sandbox import bubblewrap, landlock, seccomp
from forge_bot.sandbox.box import (
    TIMED_OUT,
    BackendName,
    Box,
    CannotStart,
    CommandOutcome,
    ProcessReport,
    ResourceLimits,
)
from forge_bot.sandbox.bubblewrap import (
    ALONE,
    ENDS_WITH_US,
    TEMPORARY,
    arguments,
    environment,
    file_of,
    mounts,
)
from forge_bot.sandbox.visible_files import Protected, visible_files

Wanted = Literal["auto", "bubblewrap", "landlock", "off"]

_NOT_PERMITTED = re.compile(r"\bEPERM\b|operation not permitted", re.IGNORECASE)
"""The words for a system call that the filter refuses. Landlock refuses files by other ones."""
_NO_CONNECTIONS = (
    "it says that a call was not permitted, and under Landlock there is no 127.0.0.1, and no unix"
    " socket that can be connected to"
)
_PROBE = ResourceLimits(seconds=20)
_RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


@cache
def failure_reason(name: BackendName) -> str:
    """Return why a backend does not work here, or "". It is tested once in a process, by running a
    command in it.
    """
    try:
        if name is BackendName.BUBBLEWRAP:
            bubblewrap_here()
        else:
            _try(name, "")
    except SandboxFailed as error:
        return f"{error.message}{_apparmor() if name is BackendName.BUBBLEWRAP else ''}"
    return ""


def choose(wanted: Wanted) -> BackendName:
    """Return the backend to use. Raises NoSandbox with every reason.

    `auto` selects the strongest that works and never `off`. One that has run a command in this
    process is not tested again.
    """
    if wanted == "off":
        return BackendName.OFF
    both = [BackendName.BUBBLEWRAP, BackendName.LANDLOCK]
    reasons: list[str] = []
    for name in both if wanted == "auto" else [BackendName(wanted)]:
        trouble = failure_reason(name)
        if not trouble:
            return name
        reasons.append(f"{name}: {trouble}")
    raise NoSandbox(
        f"Project commands cannot be locked in on this machine. {' '.join(reasons)}",
        details=tuple(reasons),
    )


def cannot_judge(name: BackendName) -> str:
    """Return which commands a backend cannot judge, for people; "" when it can judge all."""
    sockets = "tests that use 127.0.0.1 or connect to a unix socket"
    return sockets if name is BackendName.LANDLOCK else ""


def run(
    backend: BackendName, box: Box, argv: Sequence[str], *, called_off: Event | None = None
) -> CommandOutcome:
    """Run one command in a box and wait until all of its processes have ended.

    It ends early when another thread sets `called_off` (exit code 130). A command that cannot be
    found, started, or held to its limits is an outcome. SandboxFailed is raised only when the box
    itself could not be made. argv is a list of words: no shell is involved unless it is named.
    """
    if not argv or not argv[0] or any("\0" in word for word in argv):
        raise SandboxFailed(
            "A command needs a program, and no word with a null byte.",
            hint="Write it so in .forge/config.yml.",
        )
    binary = bubblewrap_here() if backend is BackendName.BUBBLEWRAP else ""
    try:
        return _outcome(backend, *_run(backend, binary, box, argv, called_off))
    except CannotStart as error:
        return CommandOutcome(exit_code=error.exit_code, output=str(error), backend=backend)


def _run(
    backend: BackendName, binary: str, box: Box, words: Sequence[str], called_off: Event | None
) -> tuple[int, ProcessReport]:
    try:
        match backend:
            case BackendName.BUBBLEWRAP:
                return bubblewrap.run(binary, box, words, called_off)
            case BackendName.LANDLOCK:
                return landlock.run(box, words, called_off, walls=True)
            case BackendName.OFF:
                return landlock.run(box, words, called_off, walls=False)
            case _:
                assert_never(backend)
    except OSError as error:
        raise SandboxFailed(f"The box could not be made: {error}.") from error


def _outcome(backend: BackendName, code: int, seen: ProcessReport) -> CommandOutcome:
    output, ending = seen.kept.text(), seen.ending
    refused = backend is BackendName.LANDLOCK and code != 0 and _NOT_PERMITTED.search(output)
    return CommandOutcome(
        exit_code=ending.exit_code if ending else code,
        output=output + (f"\n[{ending.words}]\n" if ending else ""),
        timed_out=ending is not None and ending.exit_code == TIMED_OUT,
        duration_ms=round(seen.seconds * 1000),
        backend=backend,
        cannot_judge=_NO_CONNECTIONS if refused else "",
    )


@cache
def bubblewrap_here() -> str:
    """Return the first bwrap that works here.

    AppArmor may allow the system's and refuse the bundled one.
    """
    reasons: list[str] = []
    for binary in bubblewrap.binaries():
        try:
            _try(BackendName.BUBBLEWRAP, binary)
        except SandboxFailed as error:
            reasons.append(error.message)
        else:
            return binary
    raise SandboxFailed(" ".join(dict.fromkeys(reasons)) or "no bwrap program is installed.")


def _try(name: BackendName, binary: str) -> None:
    """Run a command that does nothing; raise SandboxFailed when it could not be run."""
    with tempfile.TemporaryDirectory() as folder:
        box = Box(worktree=Path(folder), limits=_PROBE)
        try:
            code, seen = _run(name, binary, box, ("true",), None)
        except CannotStart as error:
            raise SandboxFailed(str(error).strip()) from None
    if code != 0:
        words = seen.kept.text().strip()
        raise SandboxFailed(words or f"a trial command ended with code {code}.")


def _apparmor() -> str:
    """Return the hint about AppArmor.

    Source: Ubuntu 24.04 release notes, "Unprivileged user namespace restrictions".
    """
    with suppress(OSError):
        if _RESTRICTED.read_text(encoding="ascii").strip() == "1":
            return (
                " (AppArmor restricts user namespaces here: sudo sysctl -w "
                "kernel.apparmor_restrict_unprivileged_userns=0)"
            )
    return ""


@contextmanager
def boxed_program(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    folder: Path,
    readable: Sequence[Path],
    scratch: Path,
    network: bool,
) -> Generator[tuple[str, ...]]:
    """Yield the words that start a program in a box where it reads `readable`, starts in `folder`
    and writes only `scratch`.

    A shell opens the files in memory that the box reads, and becomes the box. With `network` it has
    this machine's. Raises SandboxFailed where no box can be made.
    """
    # The file for resolving host names may be outside of the folders that a box sees.
    names = (Path("/etc/resolv.conf").resolve(),) if network else ()
    box = Box(worktree=scratch, readable=(folder, *readable, *names), env=dict(env))
    with visible_files(box, TEMPORARY) as seen:
        program = folder / argv[0] if "/" in argv[0] else argv[0]
        if shutil.which(program, path=seen.env["PATH"]) is None:
            raise SandboxFailed(str(CannotStart(argv[0], errno.ENOENT)).strip())
        with ExitStack() as files:
            rules = file_of(seccomp.program(namespaces=True, network=network), files)
            # Everyone on the machine can read command lines; variables may hold credentials.
            unseen = file_of(arguments(environment(replace(seen, env={**seen.env, **env}))), files)
            ours = f"/proc/{os.getpid()}/fd"
            shell = f'exec "$@" 8<{ours}/{rules} 9<{ours}/{unseen}'
            yield (
                *("/bin/sh", "-c", shell, "sh", bubblewrap_here(), "--seccomp", "8"),
                *(*ALONE, *ENDS_WITH_US, *(() if network else ("--unshare-net",))),
                *mounts(seen, Protected((), ()), box.limits.shared_memory_bytes),
                *("--chdir", str(folder), "--args", "9", "--", *argv),
            )
