"""A change brings no repository that git, called in its folder by a person's prompt or editor,
would obey: a folder with HEAD, objects, refs and a config is one, whatever it is called.
"""

import subprocess
from pathlib import Path

import pytest

from forge_bot.errors import CommitsRefused
from tests.security.scene import Scene

_CONFIG = """[core]
	repositoryformatversion = 0
	bare = false
	worktree = ..
	fsmonitor = "touch '%s'; false"
"""


def plant(scene: Scene, folder: str, ran: Path) -> None:
    """Write a repository whose settings name a program, as files of the change."""
    scene.write(f"{folder}/HEAD", "ref: refs/heads/main\n")
    scene.write(f"{folder}/config", _CONFIG % ran)
    for name in ("objects", "refs"):
        scene.write(f"{folder}/{name}/keep", "")


@pytest.mark.parametrize("folder", ["tests/data/project", "tests/data/project.git"])
def test_a_repository_among_the_files_of_a_change_is_not_pushed_without_a_person(
    scene: Scene, tmp_path: Path, folder: str
) -> None:
    ran = tmp_path / "ran"
    plant(scene, folder, ran)
    scene.commit()
    with pytest.raises(CommitsRefused) as caught:
        scene.check()
    assert f"{folder}/HEAD is protected" in "\n".join(caught.value.details)
    # What the attack is about: git obeys these files where somebody only looks.
    subprocess.run(["git", "status"], cwd=scene.tree.path / folder, check=True, capture_output=True)
    assert ran.exists()


def test_the_settings_of_a_repository_that_is_there_are_not_changed_without_a_person(
    scene: Scene, tmp_path: Path
) -> None:
    before = scene.start
    scene.write("tests/data/project.git/config", _CONFIG % tmp_path)
    scene.write(".hg/hgrc", "[hooks]\nupdate = true\n")
    scene.commit()
    with pytest.raises(CommitsRefused) as caught:
        scene.check(before=before)
    said = "\n".join(caught.value.details)
    assert "tests/data/project.git/config is protected" in said
    assert ".hg/hgrc is protected" in said


def test_folders_of_that_name_are_like_any_other(scene: Scene) -> None:
    scene.write("components/Head/index.jsx", "x\n")
    scene.write("layouts/head/title.html", "x\n")
    scene.write("src/headers.py", "x\n")
    scene.commit()
    scene.check()
