"""Each test gets a home of its own, so that no configuration of this machine's user counts."""

import os
from pathlib import Path

import pytest

from tests.git.git_scene import Scene


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GIT_") or name == "EMAIL"]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (folder / ".gitconfig").write_text(
        "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    return folder


@pytest.fixture
def scene(home: Path, tmp_path: Path) -> Scene:
    root, beside = tmp_path / "repo", tmp_path / "beside"
    root.mkdir()
    beside.mkdir()
    scene = Scene(root, beside)
    scene.git("init", "--quiet", "--initial-branch", "main")
    scene.commit({"README.md": "# Thing\n", "src/app.py": "print(1)\n"})
    return scene
