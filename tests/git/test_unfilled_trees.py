"""A work tree may get commits before its files are checked out, and is then like any other; what a
killed process left out is checked out by the next one, and what somebody wrote there stays.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.git import Tree
from forge_bot.git.own_files import FILLING, is_unfilled
from forge_bot.git.unfilled_trees import complete, fill, finish
from tests.fakes.processes import started_by
from tests.git.git_scene import ODD_NAMES, Scene

OWN = ".specs/x/"
RECORD = f"{OWN}reports.jsonl"
TRAILERS = (("Forge-Run", "x"),)


@pytest.fixture
def unfilled(scene: Scene) -> Tree:
    """A tree without files whose branch has a commit of its own."""
    scene.commit({**dict.fromkeys(ODD_NAMES, "odd\n"), "a/b/c.txt": "deep\n", "big.txt": "x" * 999})
    (scene.root / "link").symlink_to("a/b")
    (scene.root / "run.sh").write_text("#!/bin/sh\n")
    (scene.root / "run.sh").chmod(0o755)
    scene.commit()
    tree = scene.repository.add_worktree(scene.beside / "late", "work", "main", filled=False)
    scene.write(RECORD, "one\n", at=tree.path)
    assert tree.commit("begin", TRAILERS, (OWN,))
    return tree


def is_whole(scene: Scene, tree: Tree) -> None:
    """All files are as git checks them out."""
    theirs = scene.beside / "theirs"
    scene.git("worktree", "add", "--quiet", "--detach", str(theirs), tree.commit_id())
    assert contents(tree.path) == contents(theirs)
    for words in (("status", "--porcelain"), ("ls-files", "--stage"), ("diff-files", "--quiet")):
        assert scene.git(*words, at=tree.path) == scene.git(*words, at=theirs)
    assert not is_unfilled(tree.path)
    assert not tree.has_locks()


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    places = (each for each in folder.rglob("*") if each.name != ".git")
    return {
        str(each.relative_to(folder)): (
            each.lstat().st_mode,
            bytes(each.readlink()) if each.is_symlink() else each.read_bytes(),
        )
        for each in places
        if each.is_symlink() or each.is_file()
    }


def test_it_is_like_any_other_once_it_is_filled(scene: Scene, unfilled: Tree) -> None:
    assert is_unfilled(unfilled.path)
    assert list(contents(unfilled.path)) == [RECORD]
    fill(unfilled.path, "main")
    assert is_unfilled(unfilled.path)
    finish(unfilled.path)
    is_whole(scene, unfilled)


def test_what_is_committed_while_it_is_filled_stays(scene: Scene, unfilled: Tree) -> None:
    fill(unfilled.path, "main")
    scene.write(RECORD, "one\ntwo\n", at=unfilled.path)
    made = unfilled.commit("go on", TRAILERS, (OWN,))
    finish(unfilled.path)
    assert unfilled.commit_id() == made
    is_whole(scene, unfilled)


def test_a_line_that_was_not_committed_is_not_overwritten(scene: Scene, unfilled: Tree) -> None:
    scene.write(RECORD, "one\ntwo\n", at=unfilled.path)
    fill(unfilled.path, "main")
    finish(unfilled.path)
    assert [(each.path, each.kind) for each in unfilled.status()] == [(RECORD, "modified")]
    assert (unfilled.path / RECORD).read_text() == "one\ntwo\n"


def nothing(_: Scene, tree: Tree) -> None:
    """Killed before the first file."""
    assert is_unfilled(tree.path)


def some_files(_: Scene, tree: Tree) -> None:
    fill(tree.path, "main")
    shutil.rmtree(tree.path / "a")
    (tree.path / "link").unlink()
    (tree.path / "big.txt").write_text("x" * 500)
    (tree.path / "README.md").write_text("")


def all_files(_: Scene, tree: Tree) -> None:
    fill(tree.path, "main")


def locked(scene: Scene, tree: Tree) -> None:
    some_files(scene, tree)
    own = Path(scene.git("rev-parse", "--absolute-git-dir", at=tree.path))
    (own / f"{FILLING}.lock").write_text("half an index")


def unreadable(scene: Scene, tree: Tree) -> None:
    some_files(scene, tree)
    own = Path(scene.git("rev-parse", "--absolute-git-dir", at=tree.path))
    (own / FILLING).write_bytes(b"")


@pytest.mark.parametrize("killed", [nothing, some_files, all_files, locked, unreadable])
def test_the_next_process_checks_out_what_is_missing(
    scene: Scene, unfilled: Tree, killed: Callable[[Scene, Tree], None]
) -> None:
    killed(scene, unfilled)
    complete(unfilled.path, OWN)
    is_whole(scene, unfilled)


def test_what_somebody_wrote_into_it_meanwhile_stays(scene: Scene, unfilled: Tree) -> None:
    some_files(scene, unfilled)
    mine = {"big.txt": "mine", "new.txt": "mine", RECORD: "", "a/b/c.txt": "other\n"}
    for name, content in mine.items():
        scene.write(name, content, at=unfilled.path)
    complete(unfilled.path, OWN)
    assert {name: (unfilled.path / name).read_text() for name in mine} == mine
    assert {each.path for each in unfilled.status()} == set(mine)


def test_no_file_is_written_or_removed_through_a_link(scene: Scene, unfilled: Tree) -> None:
    some_files(scene, unfilled)
    elsewhere = scene.write("c.txt", "de", at=scene.beside / "elsewhere/b")
    (unfilled.path / "a").symlink_to(scene.beside / "elsewhere")
    complete(unfilled.path, OWN)
    assert elsewhere.read_text() == "de"
    # The link is somebody's change, which is put aside like any other.
    assert {each.path: each.kind for each in unfilled.status()} == {
        "a": "untracked",
        "a/b/c.txt": "deleted",
    }


def test_a_start_that_nobody_has_used_is_removed_without_its_files(
    scene: Scene, unfilled: Tree
) -> None:
    tree = scene.repository.add_worktree(scene.beside / "other", "other", "main", filled=False)
    scene.write(RECORD, "on", at=tree.path)
    used = (tree.path, "other", scene.git("rev-parse", "main"), OWN)
    file = scene.write("mine.txt", "mine", at=tree.path)
    assert not scene.repository.remove_unused(*used)
    file.unlink()
    assert scene.repository.remove_unused(*used)
    assert not tree.path.exists()
    assert unfilled.path.exists()


def test_a_tree_that_was_killed_before_it_had_an_index_is_removed(scene: Scene) -> None:
    path = scene.beside / "late"
    scene.git("worktree", "add", "--quiet", "--no-checkout", "-b", "work", str(path))
    start = scene.git("rev-parse", "main")
    assert scene.repository.remove_unused(path, "work", start, OWN)
    assert not path.exists()


def test_its_files_are_checked_out_by_one_call_of_git(unfilled: Tree) -> None:
    calls = started_by(lambda: (fill(unfilled.path, "main"), finish(unfilled.path)))
    assert ["'read-tree'" in each for each in calls] == [True, True]
