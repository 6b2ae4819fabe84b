"""What a project's commands left behind is put back; what is nobody's leftover stays."""

import subprocess
from pathlib import Path

import pytest

from forge_bot.git import Tree, make_repository


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A repository with two files, one of them changed, and leftovers."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("one\n")
    (tmp_path / ".gitignore").write_text("*.log\n")
    make_repository(tmp_path, "start")
    (tmp_path / "src" / "app.py").write_text("changed by a test\n")
    (tmp_path / "src" / "left.txt").write_text("left behind")
    (tmp_path / "src" / "own.log").write_text("ignored")
    return Tree(tmp_path)


def test_changed_files_come_back_and_new_ones_go(tree: Tree) -> None:
    tree.discard([change.path for change in tree.status()])
    assert not tree.status()
    assert (tree.path / "src" / "app.py").read_text() == "one\n"
    assert (tree.path / "src" / "own.log").read_text() == "ignored"


@pytest.mark.parametrize(
    "path", ["src", "src/", "./", "", ".git", ".git/", ".git/config", "../", "/tmp/"]
)
def test_folders_and_gits_own_are_left_alone(tree: Tree, path: str) -> None:
    tree.discard([path])
    assert (tree.path / ".git" / "config").is_file()
    assert (tree.path / "src" / "own.log").is_file()


def test_a_nested_repository_goes_like_every_other_leftover(tree: Tree) -> None:
    for name in ("nested", "src/nested"):
        (tree.path / name).mkdir()
        (tree.path / name / "work.txt").write_text("left behind")
        make_repository(tree.path / name, "inner")
    (tree.path / "empty").mkdir()
    subprocess.run(["git", "init", "-q", str(tree.path / "empty")], check=True)
    tree.discard([change.path for change in tree.status()])
    assert not tree.status()
    assert not (tree.path / "nested").exists()
    assert not (tree.path / "src" / "nested").exists()
    assert not (tree.path / "empty" / ".git").exists()


def test_a_folder_of_the_project_is_not_left_a_repository_of_its_own(tree: Tree) -> None:
    make_repository(tree.path / "src", "inner")
    (tree.path / "src" / "hidden.txt").write_text("left behind")
    tree.remove_nested()
    tree.discard([change.path for change in tree.status()])
    assert not tree.status()
    assert sorted(path.name for path in (tree.path / "src").iterdir()) == ["app.py", "own.log"]
    assert (tree.path / "src" / "app.py").read_text() == "one\n"


def test_a_submodule_stays_what_it_is(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "a.txt").write_text("a\n")
    make_repository(other, "start")
    add = [
        "git",
        "-C",
        str(tree.path),
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(other),
        "vendor",
    ]
    subprocess.run(add, check=True)
    tree.commit("with a submodule", [], (".",))
    (tree.path / "left.txt").write_text("left behind")
    tree.discard([change.path for change in tree.status()])
    assert not tree.status()
    assert (tree.path / "vendor" / "a.txt").read_text() == "a\n"
    assert (tree.path / "vendor" / ".git").exists()


def test_more_files_than_fit_on_a_command_line_are_discarded(tree: Tree) -> None:
    names = [f"left/{'behind-' * 33}{number}.txt" for number in range(9_000)]
    assert sum(len(name) + 1 for name in names) > 2_097_152, "the most that Linux takes"
    (tree.path / "left").mkdir()
    for name in names:
        (tree.path / name).touch()
    tree.discard(
        [*names, *(change.path for change in tree.status() if not change.path.startswith("left/"))]
    )
    assert not tree.status()
