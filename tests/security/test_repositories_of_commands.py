"""No git that runs outside of the sandbox obeys a repository that a command of the project made: not
in the place of a submodule either, where git looks for changes by the settings found there.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import CapabilityRequest, ResultStatus
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.runs.project_commands.project import Project
from tests.security.project_scene import checked, committed, judged_in, project_in
from tests.security.scene import git

CONFIG = """sandbox: %s
setup_without_namespace: true
commands:
  setup: %s
  test: [[sh, test.sh]]
"""
SUBMODULES = """[submodule "vendor"]
	path = vendor
	url = https://example.org/vendor
	ignore = none
"""
PLANT = """cd vendor
git init -q .
echo '* filter=run' > .gitattributes
echo one > file
git add -A
git -c user.name=x -c user.email=x@example.org commit -qm one
git config filter.run.clean 'touch "%s"; cat'
echo two > file
"""
GITFILE = PLANT + "mv .git hidden\necho 'gitdir: hidden' > .git\n"

Made = Callable[..., Project]


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """A file that is there once a program of the planted repository has run outside."""
    return tmp_path / "ran"


def with_submodule(folder: Path, files: dict[str, str]) -> Path:
    """A repository that has a submodule, without its files."""
    committed(folder, {".gitmodules": SUBMODULES, **files})
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    git(folder, "commit", "-qm", "a submodule")
    (folder / "vendor").mkdir()
    return folder


@pytest.fixture
def made(wall: str, tmp_path: Path) -> Made:
    """Make a project that has a submodule, and these tests."""

    def make(test: str, setup: str = "[]") -> Project:
        files = {".forge/config.yml": CONFIG % (wall, setup), "test.sh": test}
        return project_in(with_submodule(tmp_path / "demo", files))

    return make


@pytest.mark.parametrize("plant", [PLANT, GITFILE])
def test_a_repository_that_tests_make_in_the_place_of_a_submodule_runs_nothing_outside(
    made: Made, ran: Path, plant: str
) -> None:
    project = made(plant % ran)
    assert "exit code 0" in project.run_tests([])
    context = ProviderContext(project.tree.path)
    asked = CapabilityRequest(key="1.1-x", capability="list_files", params="{}")
    assert context.fetch(asked, WorkLimits()).status is ResultStatus.OK
    git(project.tree.path, "status", "--porcelain")
    assert not ran.exists()


@pytest.mark.parametrize("plant", [PLANT, GITFILE])
def test_nor_does_one_where_commands_judge(made: Made, ran: Path, plant: str) -> None:
    project = made(plant % ran, setup="[['true']]")
    assert project.set_up()[0].exit_code == 0
    planted = judged_in(project) / "vendor" / ".git"
    assert [result.exit_code for result in checked(project)] == [0]
    assert planted.exists()
    with project.trial(project.tree.commit_id()):
        assert not planted.exists()
    assert not ran.exists()


def test_what_a_model_asks_git_about_a_submodule_that_a_person_filled_runs_nothing(
    tmp_path: Path, ran: Path
) -> None:
    with_submodule(tmp_path, {})
    subprocess.run(["sh", "-c", PLANT % ran], cwd=tmp_path, check=True)
    (tmp_path / "vendor" / "file").write_text("three\n", encoding="utf-8")
    asked = CapabilityRequest(key="1.1-x", capability="list_files", params="{}")
    assert ProviderContext(tmp_path).fetch(asked, WorkLimits()).status is ResultStatus.OK
    assert not ran.exists()
