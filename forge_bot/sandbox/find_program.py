"""Find the file that a command name means in a box, or the exit code and the error without one."""

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge_bot.errors import SandboxFailed
from forge_bot.sentences import say

NOT_FOUND, NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True)
class CannotStart:
    """A command that cannot be started. The codes are those of POSIX shells (XCU 2.8.2)."""

    exit_code: int
    sentence: str


def checked_words(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command if a program can receive them."""
    if not argv or not argv[0]:
        raise SandboxFailed(
            say("sandbox.find_program.empty_command"),
            hint=say("sandbox.find_program.name_program"),
        )
    if any("\0" in word for word in argv):
        raise SandboxFailed(
            say("sandbox.find_program.null_byte"),
            hint=say("sandbox.find_program.remove_the_null_byte"),
        )
    return tuple(argv)


def program(name: str, env: Mapping[str, str], folder: Path) -> str | CannotStart:
    """Return the file for the first word of a command: by PATH, or by its path from `folder`."""
    if "/" in name:
        places = [folder / name]
    else:
        places = [
            Path(entry) / name
            for entry in env.get("PATH", "").split(os.pathsep)
            if entry.startswith("/")
        ]
    files = [place for place in places if place.is_file()]
    found = next((str(place) for place in files if os.access(place, os.X_OK)), None)
    if found is not None:
        return found
    return cannot_start(
        name, errno.EACCES if files or any(place.exists() for place in places) else errno.ENOENT
    )


def cannot_start(name: str, number: int) -> CannotStart:
    """Return the exit code and sentence for a system error of exec."""
    if number in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
        return CannotStart(NOT_FOUND, f"{name}: no such command in the sandbox.\n")
    return CannotStart(NOT_EXECUTABLE, f"{name}: cannot be executed ({os.strerror(number)}).\n")
