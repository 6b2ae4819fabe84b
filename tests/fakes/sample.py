"""The sample repository in a test's folder, and the command line as a function."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge_bot.store import RECORD_BRANCHES
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
            for name in self._branches
            if name not in {"main", *RECORD_BRANCHES, *self._offered}
        )

    @property
    def offered(self) -> str:
        """The branch for merge."""
        return self._offered[0]

    @property
    def _branches(self) -> list[str]:
        return self.git("branch", "--format=%(refname:short)").splitlines()

    @property
    def _offered(self) -> list[str]:
        form = "--format=%(trailers:key=Forge-Landed,valueonly)"
        return [name for name in self._branches if self.git("log", "-1", form, name, "--")]

    @property
    def workspace(self) -> Path:
        """The run's folder in its work tree; of a run that is done, in a new one beside."""
        trees = [
            Path(block.split("\n")[0].removeprefix("worktree "))
            for block in self.git("worktree", "list", "--porcelain").split("\n\n")
            if f"refs/heads/{self.branch}" in block
        ]
        tree = trees[0] if trees else self.path.parent / "seen"
        if not trees:
            self.git("worktree", "add", "-q", str(tree), self.branch)
        return next((tree / ".specs").iterdir())
