"""The code of a project reads no credential that a person or a tool keeps in git's own folder."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.sandbox.box import BackendName
from tests.fakes.rows import rows
from tests.fakes.sampled import sampled
from tests.security.project_scene import committed, project_in
from tests.security.scene import git

ROWS = rows(__file__)

SECRET = "hunter2"
CONFIG = """sandbox: %s
commands:
  setup: []
  test: [[python3, look.py]]
"""
LOOK: str = ROWS["look"]
STORES = {
    "a store of a credential helper": "credentials",
    "an included configuration": "tokens.inc",
    "cookies": "cookies",
    "the folder of a tool": "some-tool/state/session.json",
    "an old file about a remote": "remotes/origin",
    "a key of git-annex": "annex/creds/1234",
    "the store of a submodule": "modules/vendor/credentials",
}
SETTINGS = ROWS["settings"]

Look = Callable[[], str]


@pytest.fixture
def project(tmp_path: Path, wall: str) -> Path:
    folder = tmp_path / "demo"
    config = f"{CONFIG % wall}environment: {{LOOK_IN: {folder}/.git}}\n"
    return committed(folder, {".forge/config.yml": config, "look.py": LOOK})


def printed(folder: Path) -> str:
    """Run the project's tests, and return what they printed."""
    project = project_in(folder)
    (output,) = project.check(lambda _: False)
    assert output.result.exit_code == 0, output.result.tail
    return output.output


def test_files_that_are_not_gits_are_not_read(project: Path) -> None:
    files = [project / ".git" / place for place in STORES.values()]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        if "modules" in file.parts:
            (file.parent / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        file.write_text(SECRET, encoding="utf-8")
    said = printed(project)
    assert "GIT 0" in said
    assert "look.py" in said
    assert SECRET not in said
    assert [file.read_text("utf-8") for file in files] == [SECRET] * len(files)


@pytest.mark.parametrize("text", sampled(SETTINGS.values(), 3), ids=SETTINGS.keys())
def test_a_setting_with_a_secret_is_not_read(project: Path, text: str, wall: str) -> None:
    config = project / ".git" / "config"
    config.write_text(f"{config.read_text('utf-8')}{text}", encoding="utf-8")
    whole = config.read_text("utf-8")
    said = printed(project)
    assert SECRET not in said
    # Landlock cannot show a cleaned copy.
    assert ("GIT 0" in said) == (wall == BackendName.BUBBLEWRAP)
    assert "'look.py'" in said
    assert config.read_text("utf-8") == whole


def test_an_address_that_a_pull_left_in_a_reflog_is_not_read(project: Path) -> None:
    other = project.parent / "other"
    subprocess.run(["git", "clone", "-q", str(project), str(other)], check=True)
    for tree in (project, project.parent / "beside"):
        if tree != project:
            git(project, "worktree", "add", "-q", str(tree), "-b", "beside")
        log = Path(git(tree, "rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"))
        words = f"pull -q https://me:{SECRET}@example.org/x main: Fast-forward"
        log.write_text(log.read_text("utf-8") + f"{'0' * 40} {'1' * 40} a <a@b> 1 +0000\t{words}\n")
    said = printed(project)
    assert "GIT 0" in said
    assert SECRET not in said


def test_the_run_of_a_work_tree_reads_what_git_reads_there(project: Path) -> None:
    tree = project.parent / "beside"
    git(project, "worktree", "add", "-q", str(tree), "-b", "beside")
    (project / ".git" / "credentials").write_text(SECRET, encoding="utf-8")
    (project / ".git" / "worktrees" / "beside" / "token").write_text(SECRET, encoding="utf-8")
    said = printed(tree)
    assert "GIT 0" in said
    assert "args=['git', 'status', '--short'], returncode=0, stdout=''" in said
    assert SECRET not in said
