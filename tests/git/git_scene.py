"""A real repository for a test, driven by plain git calls that share nothing with the code under
test.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from forge_bot.git import Repository, Tree

ODD_NAMES = (
    "with space.txt",
    'quo"te.txt',
    "line\nend.txt",
    "tab\there.txt",
    "grüße.txt",
    "日本/語.txt",
    "-n",
    "--force",
    "*",
    ":(top)x",
    "back\\slash",
)


@dataclass(frozen=True)
class Scene:
    """A repository on branch main with one commit, and a folder beside it for whatever else is
    needed.
    """

    root: Path
    beside: Path

    @property
    def repository(self) -> Repository:
        return Repository.find(self.root)

    @property
    def tree(self) -> Tree:
        return Tree(self.root)

    def git(
        self, *args: str, at: Path | None = None, stdin: bytes | None = None, code: int = 0
    ) -> str:
        done = subprocess.run(
            ["git", *args], cwd=at or self.root, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == code, (args, done.stderr.decode(errors="replace"))
        return os.fsdecode(done.stdout).removesuffix("\n")

    def write(self, name: str, content: str | bytes, at: Path | None = None) -> Path:
        file = (at or self.root) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def commit(self, files: Mapping[str, str] | None = None, *, at: Path | None = None) -> str:
        for name, content in (files or {}).items():
            self.write(name, content, at)
        self.git("add", "--all", at=at)
        self.git("commit", "--quiet", "--no-gpg-sign", "--message", "a step", at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def config(self, *pairs: str, level: str = "--global") -> None:
        for pair in pairs:
            key, _, value = pair.partition("=")
            self.git("config", level, key, value)

    def worktree(self, branch: str = "work") -> Tree:
        self.git("branch", branch, "main")
        return self.repository.add_worktree(self.beside / branch, branch)

    def remote(self) -> Path:
        """A bare remote called origin that has main."""
        path = self.beside / "remote.git"
        self.git("clone", "--quiet", "--bare", str(self.root), str(path))
        self.git("remote", "add", "origin", str(path))
        return path
