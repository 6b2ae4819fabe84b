"""Work trees are made, found again, and made once more after a broken try."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from forge_bot.errors import BadOption, GitFailed
from forge_bot.git.worktree import WorktreeInfo
from tests.git.git_scene import Scene


def test_a_branch_gets_a_work_tree_at_its_commit(scene: Scene) -> None:
    base = scene.git("rev-parse", "HEAD")
    scene.commit({"later.txt": "later"})

    scene.git("branch", "feature/42-größe", base)
    tree = scene.repository.add_worktree(scene.beside / "deep" / "down", "feature/42-größe")

    assert (tree.head().branch, tree.head().commit) == ("feature/42-größe", base)
    assert (tree.path / "README.md").read_text() == "# Thing\n"
    assert not (tree.path / "later.txt").exists()
    assert not tree.status()


def test_a_branch_that_is_checked_out_there_already_keeps_its_work_tree(scene: Scene) -> None:
    tree = scene.worktree("work")
    scene.write("mine.txt", "mine", at=tree.path)

    assert scene.repository.add_worktree(tree.path, "work").path == tree.path
    assert (tree.path / "mine.txt").read_text() == "mine"


def test_a_branch_that_is_nowhere_is_an_error_and_leaves_no_folder(scene: Scene) -> None:
    with pytest.raises(GitFailed, match="invalid reference: nowhere"):
        scene.repository.add_worktree(scene.beside / "w", "nowhere")
    assert not (scene.beside / "w").exists()


@pytest.mark.parametrize(
    "name", ["--detach", "-b", "HEAD", "", "a b", "a..b", "x.lock", "@{-1}", "a\nb", "a\0b"]
)
def test_a_name_that_git_does_not_take_is_refused_before_anything_happens(
    scene: Scene, name: str
) -> None:
    with pytest.raises(BadOption, match="cannot be the name of a branch"):
        scene.repository.add_worktree(scene.beside / "w", name)
    assert not (scene.beside / "w").exists()


def test_files_in_the_way_are_never_removed(scene: Scene) -> None:
    scene.write("w/mine.txt", "mine", at=scene.beside)
    scene.git("branch", "work")

    with pytest.raises(GitFailed, match="is not empty"):
        scene.repository.add_worktree(scene.beside / "w", "work")
    assert (scene.beside / "w" / "mine.txt").read_text() == "mine"


def test_work_trees_are_listed_with_their_branch_and_condition(scene: Scene) -> None:
    held, gone, odd = scene.worktree("held"), scene.worktree("gone"), scene.beside / "two words"
    scene.git("branch", "odd")
    scene.repository.add_worktree(odd, "odd")
    scene.git("worktree", "lock", "--reason", "on a stick", str(held.path))
    scene.git("checkout", "--quiet", "--detach", at=odd)
    for file in sorted(gone.path.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    gone.path.rmdir()

    listed = scene.repository.worktrees()

    assert listed[0] == WorktreeInfo(scene.root, "main", prunable=False)
    assert set(listed[1:]) == {
        WorktreeInfo(held.path, "held", prunable=False, lock_reason="on a stick"),
        WorktreeInfo(gone.path, "gone", prunable=True),
        WorktreeInfo(odd, None, prunable=False),
    }


def test_a_deleted_folder_is_no_tree_and_does_not_stand_in_the_way(scene: Scene) -> None:
    tree = scene.worktree("work")
    subprocess.run(["rm", "-r", str(tree.path)], check=True)
    other = scene.worktree("other")
    subprocess.run(["rm", "-r", str(other.path)], check=True)

    assert scene.repository.tree_of("work") is None
    same_place = scene.repository.add_worktree(tree.path, "work")
    other_place = scene.repository.add_worktree(scene.beside / "new", "other")

    assert (same_place.head().branch, other_place.head().branch) == ("work", "other")


def test_a_try_that_git_ends_leaves_no_folder(scene: Scene) -> None:
    scene.commit({".gitattributes": "*.py filter=broken\n"})
    scene.config("filter.broken.smudge=false", "filter.broken.required=true")

    with pytest.raises(GitFailed, match="smudge filter"):
        scene.worktree("work")

    assert not (scene.beside / "work").exists()
    assert len(scene.repository.worktrees()) == 1


def test_a_half_made_work_tree_of_a_killed_git_is_made_anew(scene: Scene) -> None:
    path = scene.beside / "work"
    _killed_while_making(scene, path)
    assert [info.lock_reason for info in scene.repository.worktrees()] == ["", "initializing"]
    assert path.is_dir()

    tree = scene.repository.add_worktree(path, "work")

    assert tree.head().branch == "work"
    assert not tree.status()
    assert not scene.repository.worktrees()[1].lock_reason


def _killed_while_making(scene: Scene, path: Path) -> None:
    """A `git worktree add` killed in the middle of its checkout: a filter that waits for a pipe
    says when that is.
    """
    pipe = scene.beside / "pipe"
    os.mkfifo(pipe)
    scene.commit({".gitattributes": "*.py filter=wait\n"})
    scene.config(f"filter.wait.smudge=cat {pipe}")
    command = ["git", "worktree", "add", "--quiet", "-b", "work", str(path), "main"]
    process = subprocess.Popen(command, cwd=scene.root, start_new_session=True)
    with pipe.open("w"):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    scene.git("config", "--global", "--unset", "filter.wait.smudge")


def test_a_tree_apart_stands_at_a_commit_on_no_branch_and_leaves_nothing_behind(
    scene: Scene,
) -> None:
    base = scene.git("rev-parse", "HEAD")
    scene.commit({"later.txt": "later"})
    place = scene.beside / "apart" / "1"

    tree = scene.repository.detached_tree(place, base)
    assert not (tree.path / "later.txt").exists()
    assert scene.git("branch", "--format=%(refname:short)") == "main"

    scene.repository.remove_tree(place)
    assert not place.exists()
    assert len(scene.repository.worktrees()) == 1


def test_a_tree_apart_that_a_killed_process_left_is_made_anew(scene: Scene) -> None:
    place = scene.beside / "apart"
    scene.write("left.txt", "left", scene.repository.detached_tree(place, "HEAD").path)

    tree = scene.repository.detached_tree(place, scene.commit({"new.txt": "new"}))

    assert not tree.status()
    assert (tree.path / "new.txt").exists()


def test_a_tree_apart_is_made_in_the_empty_folder_that_a_killed_git_left(scene: Scene) -> None:
    place = scene.beside / "apart"
    place.mkdir()
    # Git makes both folders before it writes down where the work tree is.
    (scene.root / ".git" / "worktrees" / "apart").mkdir(parents=True)
    (scene.root / ".git" / "worktrees" / "apart" / "locked").write_text("initializing")

    assert not scene.repository.detached_tree(place, "HEAD").status()
    assert len(scene.repository.worktrees()) == 2


def test_a_folder_that_is_no_work_tree_is_neither_taken_nor_removed(scene: Scene) -> None:
    mine = scene.write("mine.txt", "mine", scene.beside / "apart")

    scene.repository.remove_tree(mine.parent)
    with pytest.raises(GitFailed, match="is not empty"):
        scene.repository.detached_tree(mine.parent, "HEAD")
    assert mine.exists()


def test_a_branch_that_somebody_added_to_is_not_moved_to_a_commit_without_that(
    scene: Scene,
) -> None:
    before = scene.git("rev-parse", "HEAD")
    ours = scene.commit({"ours.txt": "ours"})
    scene.git("reset", "--hard", "--quiet", before)
    theirs = scene.commit({"theirs.txt": "theirs"})

    with pytest.raises(GitFailed, match="has commits that"):
        scene.tree.move_forward(ours)
    assert scene.git("rev-parse", "main") == theirs
    assert scene.git("status", "--porcelain") == ""
    assert sorted(place.name for place in scene.root.glob("*s.txt")) == ["theirs.txt"]
