"""What is looked at before a push are the objects that the push sends, whatever a repository says
to show in their place.
"""

import subprocess
from pathlib import Path

import pytest

from forge_bot.errors import CommitsRefused
from tests.security.scene import KEY, Scene, begun, git


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return begun(tmp_path)


def test_a_commit_that_git_shows_in_the_place_of_another_is_not_the_one_that_is_looked_at(
    scene: Scene,
) -> None:
    scene.write("notes.txt", "harmless")
    harmless = scene.commit()
    git(scene.tree.path, "reset", "-q", "--hard", "HEAD^")
    scene.write(".github/workflows/evil.yml", "on: push\n")
    scene.write("notes.txt", "harmless")
    git(scene.tree.path, "replace", scene.commit(), harmless)
    with pytest.raises(CommitsRefused):
        scene.check()


def test_a_file_that_git_shows_in_the_place_of_another_is_not_the_one_that_is_looked_at(
    scene: Scene,
) -> None:
    scene.write("notes.txt", f"key {KEY}")
    scene.commit()
    made = subprocess.run(
        ["git", "-C", str(scene.tree.path), "hash-object", "-w", "--stdin"],
        input="harmless",
        capture_output=True,
        text=True,
        check=True,
    )
    git(scene.tree.path, "replace", "HEAD:notes.txt", made.stdout.strip())
    with pytest.raises(CommitsRefused):
        scene.check()
