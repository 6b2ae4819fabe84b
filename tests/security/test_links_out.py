"""No link leads what is written or removed beside commands out of the sandbox: neither one that a
command makes, nor one that a commit has.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.runs.project_commands.project import Project
from tests.security.project_scene import checked, committed, judged_in, project_in
from tests.security.scene import git

CONFIG = """sandbox: %s
setup_without_namespace: true
commands:
  setup: [[sh, setup.sh, "{env}"]]
  test: [[sh, test.sh]]
"""
SETUP = "mkdir lib/built; echo ours > lib/built/ours\n"
TEST = "ls lib/built; cat lib/built/ours\n"
SHOWN = "ours\nours"

Made = Callable[[str, str], Project]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A repository of the person that no command may change."""
    folder = tmp_path / "outside"
    for name in ("built", ".git"):
        (folder / name).mkdir(parents=True)
        (folder / name / "precious").write_text("mine\n", encoding="utf-8")
    return folder


def untouched(outside: Path) -> bool:
    found = {str(path.relative_to(outside)) for path in outside.rglob("*")}
    return found == {"built", "built/precious", ".git", ".git/precious"}


@pytest.fixture
def made(wall: str, tmp_path: Path) -> Made:
    """Make the project with more lines for its setup and its tests."""

    def make(setup: str, test: str) -> Project:
        files = {
            ".forge/config.yml": CONFIG % wall,
            ".gitignore": "built/\n",
            "setup.sh": SETUP + setup,
            "test.sh": TEST + test,
            # Landlock lets a command add files to folders of the work tree, and not to its root.
            "lib/README": "Installed parts.\n",
            "lib/deep/README": "More of them.\n",
        }
        return project_in(committed(tmp_path / "demo", files))

    return make


@pytest.mark.parametrize(
    "link",
    [
        'ln -s "%s" "$1/left-in-tree"',
        'ln -s "%s/list" "$1/left-in-tree.json"',
        'ln -s "%s/mark" "$1/ready"',
    ],
)
def test_a_link_that_setup_puts_where_its_files_are_kept_leads_nowhere(
    made: Made, outside: Path, link: str
) -> None:
    project = made(link % outside, "")
    assert [result.exit_code for result in project.set_up()] == [0]
    assert [result.tail for result in checked(project)] == [SHOWN]
    assert untouched(outside)


@pytest.mark.parametrize(
    "link",
    [
        'rm -r lib/built; ln -s "%s" lib/built',
        'mv lib/deep lib/built; ln -s "%s" lib/deep',
        'rm -r lib/built/inner; ln -s "%s" lib/built/inner',
    ],
)
def test_nothing_is_removed_or_written_through_a_link_that_tests_make(
    made: Made, outside: Path, link: str
) -> None:
    inner = "mkdir lib/built/inner; touch lib/built/inner/built\n"
    project = made(inner + "mkdir lib/deep/built; touch lib/deep/built/ours\n", link % outside)
    project.set_up()
    first, second = checked(project)[0], checked(project)[0]
    assert first.exit_code == second.exit_code == 0
    assert first.tail == second.tail == "inner\nours\nours"
    assert untouched(outside)


@pytest.mark.parametrize("path", ["lib/built", "lib"])
def test_a_link_of_a_commit_wins_over_what_setup_left_and_nothing_behind_it_changes(
    made: Made, outside: Path, path: str
) -> None:
    project = made("", "")
    project.set_up()
    checked(project)
    git(project.tree.path, "rm", "-rq", "--ignore-unmatch", path)
    (project.tree.path / path).symlink_to(outside)
    git(project.tree.path, "add", "-A", "-f")
    git(project.tree.path, "commit", "-qm", "a link")
    for _ in range(2):
        assert checked(project)[0].exit_code != 0, "the files are not where the commit has its link"
    assert untouched(outside)
    assert (judged_in(project) / path).readlink() == outside
