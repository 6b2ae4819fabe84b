"""What many tests stand on."""

import shutil
import subprocess
from pathlib import Path

import pytest

from forge_bot.cli.app import run
from forge_bot.resources import templates
from tests.fakes.sample import Said, Sample


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
