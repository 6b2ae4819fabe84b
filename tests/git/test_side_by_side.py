"""Several processes at work in one clone at the same time."""

import subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from forge_bot.git import Repository, worktree
from forge_bot.sandbox.git_folders import private_parts
from tests.git.git_scene import Scene

PROCESSES, TURNS = 4, 12


def come_and_go(root: Path, beside: Path, number: int) -> None:
    """Make and remove work trees, and look at what the others have."""
    repository = Repository.find(root)
    for turn in range(TURNS):
        path = beside / f"{number}-{turn}"
        branch = f"work-{number}-{turn}"
        subprocess.run(["git", "-C", str(root), "branch", branch], check=True)
        repository.add_worktree(path, branch)
        private_parts([root / ".git"])
        worktree.remove(root, path)


def test_work_trees_that_come_and_go_are_no_trouble_to_others(scene: Scene) -> None:
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as processes:
        ends = [
            processes.submit(come_and_go, scene.root, scene.beside, number)
            for number in range(PROCESSES)
        ]
    assert [end.exception() for end in ends] == [None] * PROCESSES
