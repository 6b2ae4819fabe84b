"""Two processes and one run: one of them works, the other is told who, and nothing is lost."""

import os
import platform
import re
import shutil
from pathlib import Path

import pytest

from tests.recovery.conftest import Told
from tests.recovery.scripts import MODEL, SHORT
from tests.recovery.world import World


@pytest.mark.slow
def test_the_second_process_is_told_who_holds_the_run_from_whichever_work_tree_it_comes(
    short: Told,
) -> None:
    world, parts = short
    world.back("1")
    other = world.root / "other"
    shutil.rmtree(other, ignore_errors=True)
    world.git("worktree", "prune")
    world.git("worktree", "add", "-q", "--detach", str(other))
    with world.play.silent(at=1):
        first = world.start(SHORT[1].words)
        world.play.wait_until_silent()
        for folder in (world.path, other):
            code, said = world.forge("resume", "--repo", str(folder), *MODEL)
            assert code == 5, said
            assert "RUN-001" in said
            assert re.search(rf"process \d+ on {re.escape(platform.node())}", said)
        assert world.forge("status")[0] == 0
        assert world.forge("abandon")[0] == 5
    assert world.wait(first) == 0, world.printed
    world.git("worktree", "remove", "--force", str(other))
    assert world.standing() == parts[1].standing


@pytest.mark.slow
def test_two_clones_that_go_on_with_one_run_lose_nothing(short: Told) -> None:
    world, _ = short
    world.back("1")
    remote, branch = published(world)
    second = world.root / "second"
    shutil.rmtree(second, ignore_errors=True)
    world.git("clone", "-q", str(remote), str(second), folder=world.root)
    assert world.forge(*SHORT[1].words, "--push")[0] == 0, world.printed
    done = world.git("rev-parse", branch)
    assert world.git("rev-parse", branch, folder=remote) == done
    assert world.forge("resume", "--repo", str(second), *MODEL)[0] == 3
    code, said = world.forge("approve", "--repo", str(second), "--push", *MODEL)
    assert code == 3, said
    assert "Human Decides" in said
    assert "The remote branch has commits that are not here" in said
    assert world.git("rev-parse", branch, folder=remote) == done
    assert "task 1" in world.git("log", "--format=%s", branch, folder=second)


def published(world: World) -> tuple[Path, str]:
    remote = world.root / "both.git"
    shutil.rmtree(remote, ignore_errors=True)
    world.git("clone", "-q", "--bare", str(world.path), str(remote))
    world.git("remote", "add", "origin", str(remote))
    assert os.path.lexists(remote / "HEAD")
    return remote, world.branch
