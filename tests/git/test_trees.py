"""Trees are read by their ids and made without the index of a work tree."""

import pytest

from forge_bot.git.commit_history import FileVersion
from forge_bot.git.commit_objects import commit_on, tree_with
from forge_bot.git.files_at import GONE, files_below
from tests.git.git_scene import Scene

SUBMODULE = "160000"


def test_a_submodule_is_listed_and_none_of_its_files(scene: Scene) -> None:
    commit = scene.git("rev-parse", "HEAD")
    scene.git("update-index", "--add", "--cacheinfo", f"{SUBMODULE},{commit},module")
    tree = scene.git("write-tree")
    found = dict(files_below(scene.root, tree))
    assert (found["module"].mode, found["module"].oid) == (SUBMODULE, commit)
    without = tree_with(scene.root, tree, [FileVersion("module", GONE, "")])
    assert without == scene.repository.tree_id("HEAD")


@pytest.mark.parametrize(
    "path", [".git/config", "a/../b", "x/.GIT/hooks/y", "git~1/config", "a//b"]
)
def test_what_git_takes_for_no_path_gets_into_no_tree(scene: Scene, path: str) -> None:
    oid = scene.git("hash-object", "-w", "--stdin", stdin=b"x")
    tree = scene.repository.tree_id("HEAD")
    assert tree_with(scene.root, tree, [FileVersion(path, "100644", oid)]) == tree


def test_edits_are_kept_with_the_attributes_of_the_commit_they_are_made_on(scene: Scene) -> None:
    base = scene.commit(
        {".gitattributes": "*.txt text eol=lf\n", "sub/.gitattributes": "raw -text\n"}
    )
    lines = b"one\r\ntwo\r\n"
    made = commit_on(
        scene.root, base, [("new.txt", lines), ("sub/raw", lines), ('odd "name".txt', lines)]
    )
    read = {name: scene.repository.read(made, name) for name in ("new.txt", "sub/raw")}
    assert read == {"new.txt": b"one\ntwo\n", "sub/raw": lines}
    assert scene.repository.read(made, 'odd "name".txt') == b"one\ntwo\n"
