"""A work folder that is deleted, with everything outside git: what was pushed is enough to go on to
the same end.
"""

import shutil
from pathlib import Path

import pytest

from tests.recovery.conftest import Told
from tests.recovery.nursery import Nursery
from tests.recovery.play import Play
from tests.recovery.scripts import LONG, MODEL, SHORT, Part, answers
from tests.recovery.trials import Undisturbed
from tests.recovery.world import World

pytestmark = pytest.mark.slow


def published(world: World, end: str) -> tuple[Path, str, list[str]]:
    """A bare remote with everything of a finished run: where it is, the run's branch, its commits
    from the oldest on.
    """
    world.back(end)
    remote = world.root / "remote.git"
    if not remote.exists():
        world.git("clone", "-q", "--bare", str(world.path), str(remote))
    return (
        remote,
        world.branch,
        world.git("rev-list", "--reverse", f"main..{world.branch}").splitlines(),
    )


def cloned_at(world: World, remote: Path, branch: str, commit: str) -> None:
    """Delete the clone and the state folder, and clone a remote anew on which the run has come as
    far as a commit.
    """
    world.git("update-ref", f"refs/heads/{branch}", commit, folder=remote)
    # The branch for merge goes out together with the commit of the run that it was made from.
    for other in world.git("branch", "--format=%(refname:short)", folder=remote).split():
        if other not in {"main", branch}:
            world.git("branch", "-D", other, folder=remote)
    for folder in (world.path, world.state):
        shutil.rmtree(folder)
    world.state.mkdir()
    world.git("clone", "-q", str(remote), str(world.path), folder=world.root)
    assert world.git("branch", "--format=%(refname:short)") == "main"


def ends_the_same(world: World, whole: Undisturbed, script: tuple[Part, ...]) -> None:
    code = world.to_the_end(answers(script))
    over = code == 5 and "RUN-002" in world.printed
    assert code == 0 or over, world.printed
    now, then = world.standing(), whole.standing
    assert now.code == then.code
    assert now.artifacts == then.artifacts
    assert now.reports == then.reports
    assert now.commits == then.commits


def each_in_turn(told: Told, script: tuple[Part, ...], wanted: slice) -> None:
    world, parts = told
    remote, branch, commits = published(world, "end")
    for commit in commits[wanted]:
        world.back("end")
        cloned_at(world, remote, branch, commit)
        ends_the_same(world, parts[-1], script)


def test_a_run_goes_on_in_a_fresh_clone_from_what_was_pushed(short: Told) -> None:
    each_in_turn(short, SHORT, slice(1, None, 6))


@pytest.mark.slow
def test_a_long_run_goes_on_in_a_fresh_clone_after_each_of_its_commits(long: Told) -> None:
    each_in_turn(long, LONG, slice(None))


def test_a_run_that_only_a_remote_has_is_listed_named_and_read_before_anything_is_checked_out(
    short: Told,
) -> None:
    world, _ = short
    remote, branch, commits = published(world, "end")
    gate = next(
        commit for commit in commits if "Design" in world.git("log", "-1", "--format=%s", commit)
    )
    name = world.here.name
    cloned_at(world, remote, branch, gate)
    assert name in world.forge("list")[1]
    assert "no work tree here" in world.forge("status", "--run", f"origin/{branch}")[1]
    assert "# Document" in world.forge("show", "design.md")[1]
    assert world.git("branch", "--format=%(refname:short)") == "main"


@pytest.mark.slow
def test_a_run_on_a_remote_does_not_stand_in_the_way_of_the_one_that_is_here(short: Told) -> None:
    world, _ = short
    remote, branch, commits = published(world, "end")
    cloned_at(world, remote, branch, commits[2])
    world.forge("run", "Say in the README how swaps work", "--effort", "S", *MODEL)
    code, said = world.forge("status")
    assert code == 0
    assert "Say in the README" in said


@pytest.mark.slow
def test_a_folder_that_was_deleted_while_its_state_stayed_is_no_obstacle(
    nursery: Nursery, tmp_path: Path
) -> None:
    with Play() as play:
        world = World(tmp_path, nursery, play)
        world.build()
        world.forge(*SHORT[0].words)
        remote, branch = tmp_path / "remote.git", world.branch
        world.git("clone", "-q", "--bare", str(world.path), str(remote))
        shutil.rmtree(world.path)
        world.git("clone", "-q", str(remote), str(world.path), folder=tmp_path)
        asked = play.total
        assert world.to_the_end(answers(SHORT), "--push") == 0, world.printed
        assert world.git("rev-parse", f"refs/heads/{branch}", folder=remote) == world.git(
            "rev-parse", branch
        )
        assert play.total > asked
        assert {*play.asked.values()} == {1}, "no model is asked the same twice"
