"""Tests that a run which was killed before its request was on disk leaves nothing that the next try
has to avoid.
"""

from pathlib import Path

import pytest

from tests.recovery.conftest import Told
from tests.recovery.scripts import SHORT
from tests.recovery.trials import Boundary, Kind, killed_at, survives
from tests.recovery.world import World

pytestmark = pytest.mark.slow

NAME = "rota-who-names-somebody-for-days-before-the"


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("file", 3),
        ("file", 5),
        ("power", 4),
        ("file", 12),
        ("power", 20),
        ("file", 45),
        ("power", 60),
        ("file", 75),
    ],
)
def test_a_run_that_was_killed_while_it_began_has_the_same_name_and_branch_the_next_time(
    short: Told, kind: Kind, number: int
) -> None:
    world, parts = short
    survives(world, parts[0], [Boundary(kind, number)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["git before", "git after", "file", "power"])
def test_it_is_so_at_every_step_of_the_beginning(short: Told, kind: Kind) -> None:
    world, parts = short
    for number in range(1, 100, 3):
        survives(world, parts[0], [Boundary(kind, number)])


def left(world: World) -> Path:
    """Kill a run while git fills its work tree; return that tree."""
    world.back("0")
    for number in range(60, 100, 2):
        world.back("0")
        killed_at(world, SHORT[0].words, Boundary("file", number))
        tree = next(world.state.glob("forge-bot/*/tree"), None)
        if (
            tree is not None
            and (tree / "rota" / "schedule.py").is_file()
            and (tree.parent / "starting.json").is_file()
        ):
            return tree
    raise AssertionError("no boundary lies between the work tree and the first report")


def test_a_tree_in_which_somebody_worked_meanwhile_is_left_alone(short: Told) -> None:
    world, _ = short
    tree = left(world)
    (tree / "mine.txt").write_text("mine\n")
    assert world.forge(*SHORT[0].words)[0] == 3, world.printed
    assert (tree / "mine.txt").read_text() == "mine\n"
    assert sorted(world.git("branch", "--format=%(refname:short)").split()) == [
        f"feature/{NAME}",
        f"feature/{NAME}-2",
        "main",
    ]


def test_a_branch_that_has_got_a_commit_meanwhile_is_left_alone(short: Told) -> None:
    world, _ = short
    tree = left(world)
    world.git("commit", "-q", "--allow-empty", "-m", "mine", folder=tree)
    tip = world.git("rev-parse", f"feature/{NAME}")
    assert world.forge(*SHORT[0].words)[0] == 3, world.printed
    assert world.git("rev-parse", f"feature/{NAME}") == tip


def test_a_lock_that_a_killed_git_left_on_the_branch_does_not_stop_the_next_try(
    short: Told,
) -> None:
    world, _ = short
    tree = left(world)
    # As after a loss of power while git made the branch: there is a lock, and neither branch nor
    # tree.
    # Twice: git locks a tree until it has filled it, and may have been killed before.
    world.git("worktree", "remove", "--force", "--force", str(tree))
    world.git("branch", "-D", f"feature/{NAME}")
    lock = world.path / ".git" / "refs" / "heads" / "feature" / f"{NAME}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    assert world.forge(*SHORT[0].words)[0] == 3, world.printed
    assert not lock.exists()
    assert world.git("branch", "--format=%(refname:short)").split() == [f"feature/{NAME}", "main"]
