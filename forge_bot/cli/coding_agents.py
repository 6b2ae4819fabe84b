"""Find out whether a person can be asked here, and in which coding agent's shell this process runs.

A terminal means a person, unless a program made it. An agent's shell can make one, but its
processes stay below it in the tree of processes. A process that leaves that tree on purpose is not
recognised.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePath

from forge_bot.text_format import names

_AGENTS = frozenset(
    names("""
        aider amp auggie claude codex copilot crush cursor-agent droid gemini goose opencode qwen
        """)
)
"""Programs at whose terminal a person speaks with a model, which gets a shell of its own. Editors
are not among them: people open terminals in those."""
_INTERPRETERS = ("python", "node", "bun", "deno", "ruby")
_PROC = Path("/proc")
_PS = "/bin/ps"
_MOST = 64


@cache
def agent_above() -> str:
    """Return the name of the coding agent that this process was started by, however far above it;
    "" if there is none, or where nothing can be known.
    """
    names = (_program(words) for words in _ancestors())
    return next((name for name in names if name in _AGENTS), "")


def _program(words: list[str]) -> str:
    """Return the name of a program; of a script, its own and not its interpreter's."""
    name = PurePath(words[0]).name if words else ""
    if name.startswith(_INTERPRETERS):
        script = next((word for word in words[1:] if not word.startswith("-")), "")
        name = PurePath(script).name
    return name.removesuffix(".js").removesuffix(".exe")


def _ancestors() -> Iterator[list[str]]:
    """Yield the words of the command of each process above this one, the nearest first."""
    with suppress(OSError, ValueError, IndexError, subprocess.SubprocessError):
        pid = "self"
        for _ in range(_MOST):
            pid = _parent(pid)
            yield _words(pid)


def _parent(pid: str) -> str:
    if (_PROC / "self").exists():
        # The name of a program may hold spaces and brackets; the fields after it do not.
        return (_PROC / pid / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1]
    return _asked("ppid=", pid).strip()


def _words(pid: str) -> list[str]:
    if (_PROC / "self").exists():
        raw = (_PROC / pid / "cmdline").read_bytes()
        return [word.decode("utf-8", "replace") for word in raw.split(b"\0") if word]
    return _asked("args=", pid).split()


def _asked(column: str, pid: str) -> str:
    number = str(os.getpid()) if pid == "self" else pid
    done = subprocess.run(
        [_PS, "-o", column, "-p", number], capture_output=True, text=True, check=True, timeout=5
    )
    return done.stdout


def at_terminal() -> bool:
    """Return whether a person can be asked here."""
    return person_types() and sys.stdout.isatty() and "CI" not in os.environ


def person_types() -> bool:
    """Return whether stdin is a terminal, and none that a coding agent made for its shell."""
    return sys.stdin.isatty() and not agent_above()
