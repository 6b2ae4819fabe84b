"""A repository that is read again and again is read through one process of git, which nothing of it
outlives.
"""

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Repository
from forge_bot.git.object_reader import answers
from tests.fakes.many_branches import imported
from tests.fakes.processes import started_by

NAMES = [f"file-{number}.txt" for number in range(300)]


def content(name: str) -> bytes:
    return f"{name}\n1 blob 7\nof it\n".encode() * 40


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return imported(tmp_path / "r", [("main", "", {name: content(name) for name in NAMES})])


def running() -> list[int]:
    """The processes of `git cat-file` that this one has started."""
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            found += [int(child)] if b"cat-file" in words else []
    return found


def test_further_files_start_no_further_process(repository: Repository) -> None:
    assert repository.read("main", NAMES[0]) == content(NAMES[0])

    def others() -> None:
        for name in NAMES[1:20]:
            assert repository.read("main", name) == content(name)
        assert repository.read_many("main", NAMES[20:40]) == {
            name: content(name) for name in NAMES[20:40]
        }
        assert repository.read("main", "none.txt") is None

    assert not any("cat-file" in call for call in started_by(others))


def test_what_is_committed_meanwhile_is_found(repository: Repository) -> None:
    repository.read("main", NAMES[0])
    for number in range(3):
        (repository.root / "new.txt").write_text(f"{number}\n")
        for words in (
            ["add", "new.txt"],
            ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "new"],
            ["repack", "-qad"],
        ):
            subprocess.run(["git", "-C", str(repository.root), *words], check=True)
        assert repository.read("HEAD", "new.txt") == f"{number}\n".encode()
        assert repository.read("HEAD", NAMES[number + 5]) == content(NAMES[number + 5])


def test_where_it_was_killed_the_next_question_is_answered(repository: Repository) -> None:
    repository.read("main", NAMES[0])
    for pid in running():
        os.kill(pid, signal.SIGKILL)
    for name in NAMES[1:4]:
        assert repository.read("main", name) == content(name)


def test_threads_at_once_get_their_own_answers(repository: Repository) -> None:
    def read(name: str) -> bytes | None:
        return repository.read("main", name)

    with ThreadPoolExecutor(8) as pool:
        found = pool.map(read, NAMES)
        assert list(found) == [content(name) for name in NAMES]


def test_a_broken_object_is_an_error_and_the_others_are_read(repository: Repository) -> None:
    (repository.root / "torn.txt").write_text("torn\n" * 99)
    git = ["git", "-C", str(repository.root)]
    subprocess.run([*git, "add", "torn.txt"], check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, *who, "commit", "-qm", "torn"], check=True)
    oid = subprocess.run(
        [*git, "rev-parse", "HEAD:torn.txt"], capture_output=True, text=True, check=True
    ).stdout.strip()
    loose = repository.common_dir / "objects" / oid[:2] / oid[2:]
    loose.chmod(0o644)
    loose.write_bytes(b"garbage")
    with pytest.raises(GitFailed, match="is missing"):
        repository.read("HEAD", "torn.txt")
    assert repository.read("HEAD", NAMES[0]) == content(NAMES[0])


def test_only_a_few_go_on_and_none_stands_in_a_work_tree(tmp_path: Path) -> None:
    for number in range(4):
        each = imported(tmp_path / str(number), [("main", "", {"a.txt": b"%d" % number})])
        assert each.read("main", "a.txt") == b"%d" % number
    assert 1 <= len(running()) <= 2
    for pid in running():
        assert tmp_path not in Path(f"/proc/{pid}/cwd").readlink().parents


def test_a_git_that_does_not_answer_is_stopped_and_said(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "silent"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    (folder / "git").chmod(0o755)
    name = repository.tree_id("main").encode()
    with monkeypatch.context() as changed:
        changed.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        with pytest.raises(GitFailed, match=r"had not answered for 0\.1 seconds"):
            answers(repository.root, [name], seconds=0.1)
    (found,) = answers(repository.root, [name])
    assert found is not None
    assert found.kind == "tree"


def test_objects_are_read_while_others_are_asked_for(repository: Repository) -> None:
    reader = repository.objects_by_id()
    names = [f"main:{name}" for name in NAMES]
    found: list[bytes] = []
    for name, each in zip(NAMES, reader.read(names), strict=True):
        assert each is not None
        found.append(each.data)
        assert repository.read("main", name) == each.data
    assert found == [content(name) for name in NAMES]
