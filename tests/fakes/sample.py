"""The sample repository in a test's folder, and the command line as a function."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fakes import script

_ANSWERS = {"approve", "reject", "answer", "done", "skip", "continue", "abandon", "retry"}


def by_script(words: Sequence[str | bytes]) -> tuple[str, ...]:
    """Return the option that an answer without a terminal needs, for a command line that gives one
    and lacks it.
    """
    first = words[0] if words else ""
    return ("--by-script",) if first in _ANSWERS and "--by-script" not in words else ()


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
        return next(name for name, code in self._branches() if not code and name != "main")

    @property
    def offered(self) -> str:
        """The code branch."""
        return next(name for name, code in self._branches() if code)

    def _branches(self) -> list[tuple[str, bool]]:
        """Each branch, and whether its newest commit is of a code branch."""
        form = "--format=%(refname:short)%09%(trailers:keyonly,separator=/)%09%(subject)"
        rows = (
            line.split("\t") for line in self.git("for-each-ref", form, "refs/heads").split("\n")
        )
        return [
            (
                name,
                "Forge-Run" in keys
                and not subject.startswith("forge-bot: ")
                and not {"Forge-Base", "Forge-Merged"}.intersection(keys.split("/")),
            )
            for name, keys, subject in rows
        ]

    @property
    def workspace(self) -> Path:
        """The run's folder in its work tree; of a run that is done, in a new one beside."""
        branch = self.branch
        trees = [
            Path(block.split("\n")[0].removeprefix("worktree "))
            for block in self.git("worktree", "list", "--porcelain").split("\n\n")
            if f"refs/heads/{branch}" in block
        ]
        tree = trees[0] if trees else self.path.parent / "seen"
        if not trees:
            self.git("worktree", "add", "-q", str(tree), branch)
        return next((tree / ".specs").iterdir())
