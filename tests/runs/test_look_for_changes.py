"""Changes in a work tree are looked for beside other work. What was seen before a commit counts no
longer after it, and a look that nobody waits for ends.
"""

import os
import subprocess
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Repository, Tree
from forge_bot.runs.look_for_changes import LookForChanges
from tests.fakes.many_branches import imported


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = imported(tmp_path / "r", [("main", "", {"a.txt": b"one\n", "b.txt": b"two\n"})])
    (made.root / "a.txt").write_text("new\n", encoding="utf-8")
    return made


def test_changes_that_are_committed_meanwhile_are_seen_no_longer(repository: Repository) -> None:
    at = repository.root
    looked = LookForChanges(Tree(at), ours=False)
    assert [change.path for change in looked.changes()] == ["a.txt"]
    _git(at, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qam", "new")
    assert looked.changes() == ()


def test_what_git_says_is_raised_where_the_changes_are_asked_for(repository: Repository) -> None:
    (repository.root / ".git" / "index").write_bytes(b"torn")
    looked = LookForChanges(Tree(repository.root), ours=False)
    with pytest.raises(GitFailed, match="index"):
        looked.changes()


def test_a_look_whose_answer_nobody_wants_is_ended(repository: Repository, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Git waits for this filter before it can say whether the file has changed.
    _git(repository.root, "config", "filter.waits.clean", f"cat {pipe}")
    (repository.root / ".git" / "info").mkdir(exist_ok=True)
    (repository.root / ".git" / "info" / "attributes").write_text("*.txt filter=waits\n")
    with LookForChanges(Tree(repository.root), ours=False) as looked:
        pass
    with pytest.raises(GitFailed):
        looked.changes()


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True)
