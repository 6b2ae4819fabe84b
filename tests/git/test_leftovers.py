"""Locks of git processes that were killed go; those of living ones stay."""

import os
import subprocess
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Tree
from forge_bot.git.commit_objects import point
from tests.git.git_scene import Scene


@contextmanager
def committing(tree: Tree, folder: Path) -> Generator[Path]:
    """A `git commit` that holds its locks until something is written into the pipe; it begins with
    the editor open.
    """
    pipe, ready = folder / "pipe", folder / "ready"
    os.mkfifo(pipe)
    os.mkfifo(ready)
    editor = folder / "editor"
    editor.write_text(f'#!/bin/sh\necho open > {ready}\ncat {pipe} > "$1"\n')
    editor.chmod(0o755)
    (tree.path / "README.md").write_text("new")
    with subprocess.Popen(
        ["git", "commit", "--quiet", "--all"],
        cwd=tree.path,
        env={**os.environ, "GIT_EDITOR": str(editor)},
    ) as process:
        try:
            assert ready.read_text() == "open\n"
            yield pipe
            process.wait(20)
        finally:
            process.kill()


def git_folder(tree: Tree, scene: Scene) -> Path:
    return Path(scene.git("rev-parse", "--absolute-git-dir", at=tree.path))


def test_the_locks_of_a_dead_git_are_taken_away_and_named(scene: Scene) -> None:
    tree = scene.worktree("feature/x")
    own = git_folder(tree, scene)
    branch = scene.root / ".git" / "refs" / "heads" / "feature" / "x.lock"
    names = ("index.lock", "HEAD.lock", "ORIG_HEAD.lock", "next-index-77.lock")
    for lock in (*(own / name for name in names), branch):
        lock.touch()
    scene.write("new.txt", "new", tree.path)
    with pytest.raises(GitFailed, match="lock"):
        tree.commit("a step", [], (".",))
    # That of the branch went when the branch was to move.
    assert sorted(tree.unlock()) == sorted(names)
    assert tree.commit("a step", [], (".",))
    assert tree.unlock() == ()


def test_a_ref_of_a_run_moves_in_spite_of_the_lock_of_a_dead_git(scene: Scene) -> None:
    root, head = scene.root, scene.git("rev-parse", "HEAD")
    refs = ("refs/forge-bot/offered/run", "refs/heads/fix/x")
    locks = [root / ".git" / f"{ref}.lock" for ref in refs]
    for lock in locks:
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=root, stdin=subprocess.PIPE):
        point(root, refs[0], head)
        point(root, refs[1], head)
    assert [scene.git("rev-parse", ref) for ref in refs] == [head] * 2
    assert not any(lock.exists() for lock in locks)


def test_a_ref_does_not_move_while_a_living_git_may_hold_its_lock(scene: Scene) -> None:
    tree = scene.worktree("work")
    lock = scene.root / ".git" / "refs" / "heads" / "fix" / "x.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with committing(tree, scene.beside) as pipe:
        with pytest.raises(GitFailed, match="lock"):
            point(tree.path, "refs/heads/fix/x", scene.git("rev-parse", "HEAD"))
        pipe.write_text("a step\n")
    assert lock.exists()


def test_the_locks_of_another_work_tree_are_left_alone(scene: Scene) -> None:
    mine, other = scene.worktree("mine"), scene.worktree("other")
    lock = git_folder(other, scene) / "index.lock"
    lock.touch()
    (scene.root / ".git" / "index.lock").touch()
    assert mine.unlock() == ()
    assert lock.exists()
    assert (scene.root / ".git" / "index.lock").exists()


def test_the_locks_of_a_living_git_stay(scene: Scene) -> None:
    tree = scene.worktree("work")
    with committing(tree, scene.beside) as pipe:
        assert (git_folder(tree, scene) / "index.lock").exists()
        assert tree.unlock(seconds=0.05) == ()
        assert (git_folder(tree, scene) / "index.lock").exists()
        pipe.write_text("a step\n")
    assert scene.git("log", "-1", "--format=%s", "work") == "a step"


def test_a_living_git_is_waited_for(scene: Scene) -> None:
    tree = scene.worktree("work")
    with ThreadPoolExecutor(1) as beside, committing(tree, scene.beside) as pipe:
        waiting = beside.submit(tree.unlock, seconds=20)
        pipe.write_text("a step\n")
        assert waiting.result() == ()
        assert scene.git("log", "-1", "--format=%s", "work") == "a step"
