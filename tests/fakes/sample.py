"""The sample repository in a test's folder, and the command line as a function."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fakes import script

_ANSWERS = {"approve", "reject", "revise", "done", "skip", "continue", "abandon", "retry"}


def by_script(words: Sequence[str | bytes]) -> tuple[str, ...]:
    """Return the option that an answer without a terminal needs, for a command line that gives one
    and lacks it.
    """
    first = words[0] if words else ""
    answers = first in _ANSWERS or (first in {"resume", "run"} and "--from" in words)
    return ("--by-script",) if answers and "--by-script" not in words else ()


@dataclass
class Said:
    """What an invocation printed, and its exit code."""

    code: int
    out: str
    err: str


@dataclass
class Sample:
    """The sample repository and a scripted model for it."""

    path: Path
    forge: Callable[..., Said]
    scripts: Path

    def model(
        self, different: Mapping[tuple[str, str, str], script.Answer | str] | None = None
    ) -> str:
        return script.write(self.scripts, different)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.path), *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def git_code(self, *words: str) -> int:
        return subprocess.run(
            ["git", "-C", str(self.path), *words], capture_output=True, check=False
        ).returncode

    @property
    def branch(self) -> str:
        """The run's branch."""
        return next(
            name
            for name in self.git("branch", "--format=%(refname:short)").splitlines()
            if name != "main"
        )

    @property
    def workspace(self) -> Path:
        """The run's folder in its work tree."""
        listed = self.git("worktree", "list", "--porcelain").split("\n\n")
        tree = next(
            Path(block.split("\n")[0].removeprefix("worktree "))
            for block in listed
            if f"refs/heads/{self.branch}" in block
        )
        return next((tree / ".specs").iterdir())
