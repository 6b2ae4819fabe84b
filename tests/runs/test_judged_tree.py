"""The work tree in which commands judge is made beside the run's own, is used by the process that made
it alone, and is gone where the start fails.
"""

from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.runs.failed_starts import FailedStart, noted, remove_failed_starts
from forge_bot.runs.judged_tree import made_beside, taken
from forge_bot.runs.run_paths import RunPaths, run_paths
from tests.fakes.many_branches import imported
from tests.fakes.processes import started_by

RUN, BRANCH = "20260102-x", "feature/x"


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Repository, RunPaths, str]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    files = {f"src/{number}.txt": b"x" for number in range(50)}
    repository = imported(tmp_path / "r", [("main", "", files)])
    return repository, run_paths(repository, RUN), repository.head().commit


def test_both_trees_are_whole_and_git_checks_the_second_out_by_itself(
    scene: tuple[Repository, RunPaths, str],
) -> None:
    repository, places, base = scene

    def both() -> None:
        with made_beside(repository, places, base):
            repository.add_worktree(places.tree, BRANCH, base)

    # Two calls of `worktree add` at once may fail, so the second tree is registered before.
    calls = [call for call in started_by(both) if "'worktree', 'add'" in call or "'reset'" in call]
    assert ["--no-checkout" in call for call in calls if "'worktree'" in call] == [True, False]
    assert len([call for call in calls if "'reset'" in call]) == 1
    made = taken(places, base)
    assert made is not None
    assert made.is_clean()
    assert made.commit_id() == base
    assert len(list(made.path.glob("src/*.txt"))) == 50
    assert repository.add_worktree(places.tree, BRANCH, None).is_clean()


def test_it_is_given_out_once_for_its_own_commit_and_before_any_setup(
    scene: tuple[Repository, RunPaths, str],
) -> None:
    repository, places, base = scene
    with made_beside(repository, places, base):
        pass
    assert taken(places, base) is not None
    assert taken(places, base) is None
    with made_beside(repository, places, base):
        pass
    assert taken(places, "0" * 40) is None
    with made_beside(repository, places, base):
        pass
    places.environment.mkdir()
    assert taken(places, base) is None


def test_where_the_start_fails_nothing_of_it_is_left(
    scene: tuple[Repository, RunPaths, str],
) -> None:
    repository, places, base = scene
    with pytest.raises(KeyboardInterrupt), made_beside(repository, places, base):
        raise KeyboardInterrupt
    assert [each.path for each in repository.worktrees()] == [repository.root]
    assert not places.judged.exists()
    assert taken(places, base) is None


def stopped_with_trees(repository: Repository, places: RunPaths, base: str) -> None:
    repository.add_worktree(places.tree, BRANCH, base)
    repository.detached_tree(places.judged, base, filled=False)
    raise KeyboardInterrupt


def test_a_start_that_was_killed_leaves_neither_tree(
    scene: tuple[Repository, RunPaths, str],
) -> None:
    repository, places, base = scene
    places.home.mkdir(parents=True)
    start = FailedStart(run=RUN, branch=BRANCH, base=base, tree=places.tree, own_tree=True)
    # As after a kill in the block: the note stays, and both trees do.
    with pytest.raises(KeyboardInterrupt), noted(places, start):
        stopped_with_trees(repository, places, base)
    remove_failed_starts(repository)
    assert [each.path for each in repository.worktrees()] == [repository.root]
    assert not places.home.exists()
    assert not repository.branch_exists(BRANCH)
