"""Of the files that were written in the second of their index git reads none that has not changed
since, and still sees each that has.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.git import Tree
from forge_bot.git.changes import status
from forge_bot.git.own_files import INDEX
from forge_bot.git.process import git
from forge_bot.git.revisions import own_folders
from forge_bot.git.unfilled_trees import fill, finish
from forge_bot.git.unread_files import know_unchanged, without_reading
from tests.git.git_scene import Scene

SECOND = 1_000_000_000
NAME = "kept.txt"


@pytest.fixture
def noted(scene: Scene) -> Path:
    """A list of the files that git has read since they were checked out: a filter notes each."""
    notes = scene.beside / "read"
    filtered = f"echo %f >> '{notes}'; cat"
    scene.git("config", "filter.noted.clean", filtered)
    scene.commit({NAME: "one\n", ".gitattributes": f"{NAME} filter=noted\n"})
    notes.unlink()
    return notes


@pytest.fixture
def tree(scene: Scene, noted: Path) -> Tree:
    """A work tree whose index was written in the second of its files, not long ago."""
    del noted
    made = scene.repository.detached_tree(scene.beside / "tree", "main")
    dated_as_its_file(made)
    return made


def index_of(tree: Tree) -> Path:
    return own_folders(tree.path)[0] / INDEX


def refreshed(tree: Tree) -> None:
    """Let the index have the times of its files."""
    git(tree.path, "update-index", "--refresh")


def dated_as_its_file(tree: Tree) -> None:
    """Date the index into the second of the file, in which git has written both nearly always."""
    written = (tree.path / NAME).stat().st_mtime_ns
    os.utime(index_of(tree), ns=(written, written))


def of_long_ago(tree: Tree) -> None:
    """Let an earlier second be that of the files and of the index."""
    earlier = (tree.path / NAME).stat().st_mtime_ns - 5 * SECOND
    for file in tree.path.rglob("*"):
        os.utime(file, ns=(earlier, earlier))
    refreshed(tree)
    dated_as_its_file(tree)


def of_now(tree: Tree) -> None:
    """Leave the second as it is: it may still go on."""
    del tree


def changed_at_once(tree: Tree) -> None:
    """Put another content of the same size into the file, in the second of the first one."""
    file = tree.path / NAME
    while True:
        file.write_text("one\n", "utf-8")
        refreshed(tree)
        before = file.stat()
        file.write_text("two\n", "utf-8")
        after = file.stat()
        seconds = {each // SECOND for each in (before.st_ctime_ns, after.st_ctime_ns)}
        if len(seconds) == 1 and before.st_ctime_ns != after.st_ctime_ns:
            os.utime(file, ns=(after.st_atime_ns, before.st_mtime_ns + 1))
            dated_as_its_file(tree)
            return


def removed(tree: Tree) -> None:
    (tree.path / NAME).unlink()


def made_longer(tree: Tree) -> None:
    (tree.path / NAME).write_text("longer than before\n", "utf-8")


def test_git_reads_such_a_file_by_itself(tree: Tree, noted: Path) -> None:
    assert status(tree.path) == ()
    assert noted.exists()


@pytest.mark.parametrize("act", [of_now, of_long_ago])
def test_an_unchanged_file_is_not_read(
    act: Callable[[Tree], object], tree: Tree, noted: Path
) -> None:
    act(tree)
    noted.unlink(missing_ok=True)
    with without_reading(tree.path):
        assert status(tree.path) == ()
    assert not noted.exists()


def test_neither_is_it_where_another_commit_is_shown(scene: Scene, tree: Tree, noted: Path) -> None:
    scene.commit({"other.txt": "new\n"})
    noted.unlink(missing_ok=True)
    scene.repository.show_commit(tree.path, "main")
    assert (tree.path / "other.txt").exists()
    assert not noted.exists()
    assert status(tree.path) == ()


def test_neither_is_it_when_a_tree_gets_its_files_late(scene: Scene, noted: Path) -> None:
    tree = scene.repository.add_worktree(scene.beside / "late", "work", "main", filled=False)
    fill(tree.path, "main")
    finish(tree.path)
    assert not noted.exists()
    assert status(tree.path) == ()


@pytest.mark.parametrize(
    "change",
    [
        changed_at_once,
        removed,
        made_longer,
    ],
    ids=["same size and second", "gone", "longer"],
)
def test_a_changed_file_is_seen(change: Callable[[Tree], object], tree: Tree) -> None:
    change(tree)
    with without_reading(tree.path):
        assert [each.path for each in status(tree.path)] == [NAME]
    know_unchanged(tree.path)
    assert [each.path for each in status(tree.path)] == [NAME]


def test_one_that_changed_does_not_let_git_read_the_others(tree: Tree, noted: Path) -> None:
    (tree.path / ".gitattributes").write_text(f"{NAME} filter=noted\n\n", "utf-8")
    noted.unlink(missing_ok=True)
    with without_reading(tree.path):
        assert [each.path for each in status(tree.path)] == [".gitattributes"]
    assert not noted.exists()


def test_a_file_that_changes_behind_the_block_in_the_same_second_is_seen(tree: Tree) -> None:
    times = index_of(tree).stat().st_mtime_ns
    with without_reading(tree.path):
        pass
    # Else the second was over, and git sees what comes later by its time.
    if index_of(tree).stat().st_mtime_ns == times:
        changed_at_once(tree)
    else:
        (tree.path / NAME).write_text("two\n", "utf-8")
    assert [each.path for each in status(tree.path)] == [NAME]


def test_an_index_keeps_its_time_while_its_second_may_go_on(tree: Tree) -> None:
    later = (tree.path / NAME).stat().st_mtime_ns + 3_600 * SECOND
    os.utime(tree.path / NAME, ns=(later, later))
    refreshed(tree)
    dated_as_its_file(tree)
    before = index_of(tree).stat().st_mtime_ns
    know_unchanged(tree.path)
    assert index_of(tree).stat().st_mtime_ns == before
    with without_reading(tree.path):
        assert index_of(tree).stat().st_mtime_ns > before
    assert index_of(tree).stat().st_mtime_ns == before


def test_once_the_second_is_over_the_file_is_not_read_at_all(tree: Tree, noted: Path) -> None:
    of_long_ago(tree)
    noted.unlink(missing_ok=True)
    know_unchanged(tree.path)
    assert status(tree.path) == ()
    assert not noted.exists()
    (tree.path / NAME).write_text("two\n", "utf-8")
    assert [each.path for each in status(tree.path)] == [NAME]


def split(scene: Scene, tree: Tree) -> None:
    scene.git("update-index", "--split-index", at=tree.path)


def in_conflict(scene: Scene, tree: Tree) -> None:
    scene.git("checkout", "--quiet", "-b", "theirs", at=tree.path)
    scene.commit({NAME: "theirs\n"}, at=tree.path)
    scene.commit({NAME: "ours\n"})
    scene.git("merge", "main", at=tree.path, code=1)


@pytest.mark.parametrize("make", [split, in_conflict])
def test_an_index_that_only_git_can_read_is_left_to_it(
    make: Callable[[Scene, Tree], object], scene: Scene, tree: Tree
) -> None:
    make(scene, tree)
    dated_as_its_file(tree)
    plain, before = status(tree.path), index_of(tree).stat().st_mtime_ns
    with without_reading(tree.path):
        assert status(tree.path) == plain
        assert index_of(tree).stat().st_mtime_ns == before
