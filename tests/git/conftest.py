"""Each test gets a home of its own, so that no configuration of this machine's user counts."""

import atexit
import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

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
    beside.mkdir()
    shutil.copytree(_first(), root)
    scene = Scene(root, beside)
    # Let git note the files of the copy, which are newer than it has noted.
    scene.git("update-index", "--refresh")
    return scene


@cache
def _first() -> Path:
    """The repository that those of all tests of this process are copies of."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    first = Scene(Path(folder.name, "repo"), Path(folder.name))
    first.root.mkdir()
    first.git("init", "--quiet", "--initial-branch", "main")
    for sample in first.root.glob(".git/hooks/*.sample"):
        sample.unlink()
    first.commit({"README.md": "# Thing\n", "src/app.py": "print(1)\n"})
    return first.root
