"""Trees that are read by their ids, compared and made without an index are what git makes of them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge_bot.git.commit_history import FileVersion
from forge_bot.git.commit_objects import commit_on, tree_with
from forge_bot.git.tree_entries import GONE, differences, files_below
from tests.git.git_scene import Scene

NAMES = ("a", "a.b", "a-", "b/a", "b/c/d", "b/c.d", "c", "c/d/e", "d e", "ü/x")
SUBMODULE = "160000"

Files = dict[str, str]


def tree_of(scene: Scene, files: Files) -> str:
    """A tree, made by git's index. Where one name is another's folder, the later one counts."""
    scene.git("read-tree", "--empty")
    for path, data in files.items():
        oid = scene.git("hash-object", "-w", "--stdin", stdin=data.encode())
        entry = f"100644,{oid},{path}"
        scene.git("update-index", "--add", "--replace", "--cacheinfo", entry)
    return scene.git("write-tree")


def listed(scene: Scene, tree: str) -> list[str]:
    rows = scene.git("ls-tree", "-r", "-z", tree).split("\0")[:-1]
    parted = (row.partition("\t") for row in rows)
    return [f"{about.split(' ')[0]} {about.split(' ')[2]} {path}" for about, _, path in parted]


files = st.dictionaries(st.sampled_from(NAMES), st.sampled_from("xyz"), max_size=8)
few = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@few
@given(files, files)
def test_trees_are_listed_compared_and_made_as_git_does(
    scene: Scene, before: Files, after: Files
) -> None:
    old, new = tree_of(scene, before), tree_of(scene, after)
    for tree in (old, new):
        found = files_below(scene.root, tree)
        assert [f"{entry.mode} {entry.oid} {path}" for path, entry in found] == listed(scene, tree)
    said = scene.git("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new)
    fields = said.split("\0")[:-1]
    changed = [(path, entry) for path, entry in differences(scene.root, old, new)]
    assert [(path, entry.mode, entry.oid) for path, entry in changed] == [
        (path, facts.split(" ")[1], facts.split(" ")[3])
        for facts, path in zip(fields[::2], fields[1::2], strict=True)
    ]
    versions = [FileVersion(path, entry.mode, entry.oid) for path, entry in changed]
    assert tree_with(scene.root, old, versions) == new


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
