"""A sample repository, a folder for state, and the command line as a function."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from forge_bot.cli.app import run
from forge_bot.resources import templates
from tests.fakes import script


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

    def model(self, different: dict[tuple[str, str, str], script.Answer] | None = None) -> str:
        return script.write(self.scripts, different)

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", "-C", str(self.path), *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    @property
    def branch(self) -> str:
        """The run's branch."""
        return next(name for name in self.git("branch", "--format=%(refname:short)").splitlines() if name != "main")

    @property
    def workspace(self) -> Path:
        """The run's folder in its work tree."""
        listed = self.git("worktree", "list", "--porcelain").split("\n\n")
        tree = next(
            Path(block.split("\n")[0].removeprefix("worktree ")) for block in listed if f"refs/heads/{self.branch}" in block
        )
        return next((tree / ".specs").iterdir())


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Sample:
    """The sample repository, with its own state folder and no terminal."""
    path = tmp_path / "rota"
    shutil.copytree(templates() / "demo" / "repository", path, ignore=shutil.ignore_patterns("__pycache__"))
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "start"],
    ):
        subprocess.run(["git", "-C", str(path), *words], check=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("FORGE_BOT_MODEL", raising=False)
    monkeypatch.chdir(path)

    def forge(*words: str) -> Said:
        capsys.readouterr()
        code = run(list(words))
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return Sample(path, forge, tmp_path / "script.jsonl")
