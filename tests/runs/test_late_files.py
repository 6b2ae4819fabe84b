"""A run's own work tree is filled beside other work by the process that made it; whoever needs its
files waits, and a process that comes later fills what is missing.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Repository, Tree
from forge_bot.git.own_files import FILLING, is_unfilled
from forge_bot.runs.late_files import files_of, fill_later, finish_files, wait_for_files
from tests.fakes.many_branches import imported
from tests.fakes.processes import started_by

OWN = ".specs/x/"
COUNT = 50


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    files = {f"src/{number}.txt": b"x" for number in range(COUNT)}
    return imported(tmp_path / "r", [("main", "", files)])


@pytest.fixture
def tree(repository: Repository, tmp_path: Path) -> Tree:
    return repository.add_worktree(tmp_path / "tree", "work", "main", filled=False)


def there(tree: Tree) -> int:
    return len(list(tree.path.glob("src/*.txt")))


@contextmanager
def filled(tree: Tree) -> Generator[list[int]]:
    """The tree while this process fills it, and how many files it had before what comes first."""
    before: list[int] = []
    fill_later(tree, "main")
    with files_of(tree, OWN, lambda: before.append(there(tree))):
        yield before


def test_files_are_checked_out_after_what_comes_first_and_before_who_waits_goes_on(
    tree: Tree,
) -> None:
    with filled(tree) as before:
        wait_for_files(tree)
        assert (before, there(tree)) == ([0], COUNT)
        assert is_unfilled(tree.path)
        finish_files(tree)
        assert not is_unfilled(tree.path)
        assert tree.is_clean()
    assert tree.is_clean()


def test_who_waits_for_nothing_finds_the_tree_filled_behind_the_block(tree: Tree) -> None:
    with filled(tree):
        pass
    assert there(tree) == COUNT
    assert not is_unfilled(tree.path)


def test_a_tree_that_is_filled_costs_no_call_of_git(tree: Tree) -> None:
    with filled(tree):
        pass

    def again() -> None:
        with files_of(tree, OWN, lambda: None):
            finish_files(tree)
            wait_for_files(tree)

    assert started_by(again) == []


def test_another_process_fills_the_tree_before_it_goes_on(tree: Tree) -> None:
    with files_of(tree, OWN, lambda: None):
        assert there(tree) == COUNT
        assert tree.is_clean()


def locked(repository: Repository) -> Path:
    lock = repository.common_dir / "worktrees/tree" / f"{FILLING}.lock"
    lock.touch()
    return lock


def test_what_keeps_git_from_it_is_told_to_who_waits_and_the_next_process_fills_it(
    repository: Repository, tree: Tree
) -> None:
    lock = locked(repository)
    with pytest.raises(GitFailed, match="Another git process"), filled(tree):
        wait_for_files(tree)
    with pytest.raises(GitFailed, match="Another git process"), filled(tree):
        pass
    assert lock.exists()
    with files_of(tree, OWN, lambda: None):
        assert there(tree) == COUNT


def test_an_error_of_the_block_is_not_hidden_by_one_of_the_files(
    repository: Repository, tree: Tree
) -> None:
    locked(repository)
    with pytest.raises(KeyboardInterrupt), filled(tree):
        raise KeyboardInterrupt
    assert is_unfilled(tree.path)
