"""The work trees of an ended run are gone when its command answers; where they have thousands of
files another process removes these.
"""

import os
import select
import time
from contextlib import suppress
from pathlib import Path

import pytest

from forge_bot.git import Repository
from forge_bot.runs.leftovers import REMOVED, remove_work_tree
from forge_bot.runs.run_paths import RunPaths, run_paths
from tests.fakes.many_branches import imported
from tests.fakes.processes import started_by

RUN = "20260102-x"
_DEEP = "/".join("d" * 240 for _ in range(10))


def scene(tmp_path: Path, files: int) -> tuple[Repository, RunPaths]:
    """A run's work trees with so many files, of names as long as they come."""
    content = {f"{_DEEP}/{number}.txt": b"x" for number in range(files)}
    repository = imported(tmp_path / "r", [("main", "", {"README.md": b"r", **content})])
    places = run_paths(repository, RUN)
    repository.add_worktree(places.tree, "feature/x", "main")
    repository.detached_tree(places.judged, "main")
    repository.detached_tree(places.tasks / "1", "main")
    (places.environment / "bin").mkdir(parents=True)
    return repository, places


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize("files", [3, 120])
def test_all_trees_of_a_run_are_gone_and_its_branch_stays(tmp_path: Path, files: int) -> None:
    repository, places = scene(tmp_path, files)
    places.journal.write_text("{}\n", encoding="utf-8")
    before = repository.commit_id("feature/x")
    answers: list[str] = []

    commands = started_by(lambda: answers.append(remove_work_tree(repository, RUN)))

    assert answers == [""]
    assert [each.path for each in repository.worktrees()] == [repository.root]
    assert not any(
        os.path.lexists(each)
        for each in (places.tree, places.tasks, places.environment, places.judged)
    )
    assert repository.commit_id("feature/x") == before
    assert places.journal.exists()
    assert any("rm -rf" in command for command in commands) is (files > 100)


def test_what_was_moved_aside_is_removed_by_the_process_that_is_started(tmp_path: Path) -> None:
    repository, places = scene(tmp_path, 120)
    remove_work_tree(repository, RUN)
    latest = time.monotonic() + 30
    while list(places.home.glob(f"{REMOVED}*")) and time.monotonic() < latest:
        # A process that just becomes another program has no command line for a moment.
        for process in working_on(f"{places.home}/{REMOVED}"):
            select.select([process], [], [])
            os.close(process)
    assert list(places.home.glob(f"{REMOVED}*")) == []


def test_the_place_is_free_for_the_same_run_at_once(tmp_path: Path) -> None:
    repository, places = scene(tmp_path, 120)
    for _ in range(3):
        remove_work_tree(repository, RUN)
        tree = repository.add_worktree(places.tree, "feature/x", None)
        assert tree.is_clean()


def test_a_tree_with_changes_stays_where_it_is(tmp_path: Path) -> None:
    repository, places = scene(tmp_path, 120)
    (places.tree / "README.md").write_text("mine", encoding="utf-8")
    assert "README.md" in remove_work_tree(repository, RUN)
    assert (places.tree / "README.md").read_text(encoding="utf-8") == "mine"
    assert list(places.home.glob(f"{REMOVED}*")) == []


def working_on(start: str) -> list[int]:
    """Open descriptors of the processes that were given a path that begins like this
    (pidfd_open(2)): such a one can be read when its process has ended.
    """
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if any(word.startswith(os.fsencode(start)) for word in words):
                found.append(os.pidfd_open(int(entry.name)))
    return found
