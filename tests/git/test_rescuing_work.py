"""Uncommitted work is saved whole before a tree is made clean, even if we are killed in between."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from forge_bot.errors import GitFailed
from forge_bot.git import Tree
from tests.git.git_scene import ODD_NAMES, Scene

REF = "refs/forge-bot/rescued/run-1"


def _saved(scene: Scene, ref: str) -> dict[str, bytes]:
    repository = scene.repository
    return {name: repository.read(ref, name) or b"" for name in repository.list_files(ref)}


def test_everything_uncommitted_is_saved_and_the_tree_is_clean(scene: Scene) -> None:
    head = scene.tree.head()
    scene.write(".git/info/exclude", "*.log\n")
    scene.write("keep.log", "ignored")
    scene.write("README.md", b"changed\r\n\xff")
    (scene.root / "src" / "app.py").unlink()
    (scene.root / "link").symlink_to("nowhere")
    for name in ODD_NAMES:
        scene.write(name, name)

    ref = scene.tree.rescue("run-1")

    assert ref == REF
    odd = {name: name.encode() for name in ODD_NAMES}
    assert _saved(scene, REF) == {**odd, "README.md": b"changed\r\n\xff", "link": b"nowhere"}
    assert scene.git("rev-parse", f"{REF}^@") == head.commit
    assert not scene.tree.status()
    assert scene.tree.head() == head
    assert {path.name for path in scene.root.iterdir()} == {".git", "README.md", "keep.log", "src"}


def test_what_was_rescued_comes_back_with_the_command_that_the_docs_name(scene: Scene) -> None:
    scene.write("new.txt", "new")
    scene.tree.rescue("run-1")

    scene.git("checkout", REF, "--", ".")

    assert (scene.root / "new.txt").read_text() == "new"


def test_a_file_taken_out_of_the_index_and_ignored_is_saved_before_the_reset_writes_over_it(
    scene: Scene,
) -> None:
    scene.commit({".gitignore": "*.env\n"})
    scene.write("a.env", "old")
    scene.git("add", "--force", "a.env")
    scene.commit()
    scene.git("rm", "--quiet", "--cached", "a.env")
    scene.write("a.env", "new")

    scene.tree.rescue("run-1")

    assert scene.repository.read(REF, "a.env") == b"new"


def test_what_only_an_uncommitted_ignore_rule_hides_is_neither_saved_nor_removed(
    scene: Scene,
) -> None:
    scene.write(".gitignore", "*.env\n")
    scene.write("a.env", "a")
    assert scene.tree.rescue("run-1") == REF
    assert _saved(scene, REF)[".gitignore"] == b"*.env\n"
    assert (scene.root / "a.env").read_text("utf-8") == "a"
    assert not (scene.root / ".gitignore").exists()


def test_a_change_of_the_same_size_in_the_tick_of_the_index_is_saved(scene: Scene) -> None:
    # Git tells such a change only by the time of the index file: an entry not older than that is
    # compared by content.
    scene.config("core.trustCtime=false")
    file, index = scene.root / "README.md", scene.root / ".git" / "index"
    long_ago = (1_600_000_000, 1_600_000_000)
    file.write_text("# Thang\n")
    os.utime(file, long_ago)
    scene.git("add", "README.md")
    os.utime(index, long_ago)
    file.write_text("# Thong\n")
    os.utime(file, long_ago)

    assert scene.tree.rescue("run-1") == REF
    assert scene.repository.read(REF, "README.md") == b"# Thong\n"


def test_a_merge_with_conflicts_is_saved_and_cleared(scene: Scene) -> None:
    tree = scene.worktree("work")
    scene.commit({"README.md": "theirs"}, at=tree.path)
    scene.commit({"README.md": "ours"})
    scene.git("merge", "--quiet", "work", code=1)

    assert scene.tree.rescue("run-1") == REF

    assert b"<<<<<<<" in (scene.repository.read(REF, "README.md") or b"")
    assert not scene.tree.status()


def test_a_second_rescue_does_not_lose_the_first(scene: Scene) -> None:
    refs: list[str | None] = []
    for text in ("one", "two", "three"):
        scene.write("new.txt", text)
        refs.append(scene.tree.rescue("run-1"))

    assert refs == [REF, f"{REF}-2", f"{REF}-3"]
    assert [_saved(scene, ref or "")["new.txt"] for ref in refs] == [b"one", b"two", b"three"]


@pytest.mark.parametrize("name", ["", "a b", "../heads/main", "a..b", "x.lock", "/", "a\0b"])
def test_a_name_that_can_be_no_ref_is_refused_and_nothing_is_removed(
    scene: Scene, name: str
) -> None:
    scene.write("new.txt", "new")

    with pytest.raises(GitFailed):
        scene.tree.rescue(name)
    assert (scene.root / "new.txt").exists()


def test_when_cleaning_fails_the_work_is_saved_and_still_lies_there(scene: Scene) -> None:
    scene.write("README.md", "changed")
    scene.write(".git/index.lock", "")

    with pytest.raises(GitFailed, match=r"index\.lock"):
        scene.tree.rescue("run-1")

    assert _saved(scene, REF)["README.md"] == b"changed"
    assert (scene.root / "README.md").read_text() == "changed"


def test_when_saving_fails_nothing_is_removed(scene: Scene) -> None:
    scene.commit({".gitattributes": "*.py filter=broken\n"})
    scene.config("filter.broken.clean=false", "filter.broken.required=true")
    scene.write("src/app.py", "changed")
    scene.write("new.txt", "new")

    with pytest.raises(GitFailed, match="clean filter"):
        scene.tree.rescue("run-1")

    assert (scene.root / "src" / "app.py").read_text() == "changed"
    assert (scene.root / "new.txt").exists()


def test_submodules_and_nested_repositories_keep_what_is_in_them(scene: Scene) -> None:
    library = scene.beside / "library"
    scene.git("init", "--quiet", str(library))
    scene.commit({"lib.py": "1"}, at=library)
    scene.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib"
    )
    scene.commit()
    scene.config("submodule.recurse=true")
    scene.git("clone", "--quiet", str(library), "nested")
    scene.write("lib/lib.py", "uncommitted in the submodule")
    scene.write("nested/lib.py", "uncommitted in the nested repository")
    scene.write("README.md", "changed")

    assert scene.tree.rescue("run-1") == REF

    assert (scene.root / "lib" / "lib.py").read_text() == "uncommitted in the submodule"
    assert (scene.root / "nested" / "lib.py").read_text() == "uncommitted in the nested repository"
    assert (scene.root / "README.md").read_text() == "# Thing\n"


def test_a_nested_repository_without_a_commit_is_named_and_nothing_is_removed(scene: Scene) -> None:
    (scene.root / "nested").mkdir()
    scene.git("init", "--quiet", "nested")
    scene.write("nested/mine.py", "mine")
    scene.write("src/app.py", "changed")

    with pytest.raises(GitFailed, match="'nested/' does not have a commit"):
        scene.tree.rescue("run-1")

    assert (scene.root / "nested" / "mine.py").read_text() == "mine"
    assert (scene.root / "src" / "app.py").read_text() == "changed"


# The filter that git runs waits for a pipe, which says when git is in the middle: of saving (clean)
# or of the reset (smudge).
@pytest.mark.parametrize(("moment", "is_saved"), [("clean", False), ("smudge", True)])
def test_killed_midway_the_work_is_in_the_tree_or_under_the_ref(
    scene: Scene, moment: str, is_saved: bool
) -> None:
    scene.commit({".gitattributes": "*.py filter=wait\n"})
    scene.write("src/app.py", "changed")
    scene.write("new.txt", "new")
    pipe = scene.beside / "pipe"
    os.mkfifo(pipe)
    scene.config(f"filter.wait.{moment}=cat {pipe}")

    _killed_at(pipe, [sys.executable, "-c", _PROGRAM, str(scene.root)])

    scene.git("config", "--global", "--remove-section", "filter.wait")
    if is_saved:
        saved = _saved(scene, REF)
        assert (saved["src/app.py"], saved["new.txt"]) == (b"changed", b"new")
        (scene.root / ".git" / "index.lock").unlink()
        Tree(scene.root).rescue("after")
        assert not scene.tree.status()
    else:
        assert (scene.root / "src" / "app.py").read_text() == "changed"
        assert (scene.root / "new.txt").read_text() == "new"


_PROGRAM = (
    "import sys, pathlib; from forge_bot.git import Tree;"
    " Tree(pathlib.Path(sys.argv[1])).rescue('run-1')"
)


def _killed_at(pipe: Path, command: Sequence[str]) -> None:
    process = subprocess.Popen(command, cwd=Path(__file__).parents[2])
    with pipe.open("w"):
        process.send_signal(signal.SIGKILL)
        process.wait()
        children = subprocess.run(
            ["pgrep", "--full", str(pipe)], capture_output=True, text=True, check=False
        ).stdout.split()
        groups = {os.getpgid(int(pid)) for pid in children}
        assert len(groups) == 1
        assert os.getpgrp() not in groups
        os.killpg(groups.pop(), signal.SIGKILL)
