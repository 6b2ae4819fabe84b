"""A box for a program that is talked to while it runs, such as an MCP server.

The caller starts the words and ends them. The box ends with the process that started it: the kernel
ends every process in it.
"""

import errno
import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from forge_bot.errors import SandboxFailed
from forge_bot.sandbox import seccomp
from forge_bot.sandbox.backends import bubblewrap_here
from forge_bot.sandbox.box import Box, cannot_start
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
        if (
            shutil.which(folder / argv[0] if "/" in argv[0] else argv[0], path=seen.env["PATH"])
            is None
        ):
            raise SandboxFailed(cannot_start(argv[0], errno.ENOENT).sentence.strip())
        with ExitStack() as files:
            rules = file_of(seccomp.program(namespaces=True, network=network), files)
            # Everyone on the machine can read command lines; variables may hold credentials.
            unseen = file_of(arguments(environment(replace(seen, env={**seen.env, **env}))), files)
            ours = f"/proc/{os.getpid()}/fd"
            yield (
                "/bin/sh",
                "-c",
                f'exec "$@" 8<{ours}/{rules} 9<{ours}/{unseen}',
                "sh",
                bubblewrap_here(),
                "--seccomp",
                "8",
                *ALONE,
                *ENDS_WITH_US,
                *(() if network else ("--unshare-net",)),
                *mounts(seen, Protected((), ()), box.limits.shared_memory_bytes),
                "--chdir",
                str(folder),
                "--args",
                "9",
                "--",
                *argv,
            )
