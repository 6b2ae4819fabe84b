"""A work folder that is deleted, with everything outside git: what was pushed is enough to go on to
the same end.
"""

import shutil
from pathlib import Path

import pytest

from tests.recovery.conftest import Told
from tests.recovery.kills import Undisturbed
from tests.recovery.scripts import SHORT, Part, answers
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
        world.git("rev-list", "--first-parent", "--reverse", f"main..{world.branch}").splitlines(),
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


def test_a_run_goes_on_in_a_fresh_clone_from_what_was_pushed(short: Told) -> None:
    world, parts = short
    remote, branch, commits = published(world, "end")
    for commit in commits[1::6]:
        world.back("end")
        cloned_at(world, remote, branch, commit)
        ends_the_same(world, parts[-1], SHORT)


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
