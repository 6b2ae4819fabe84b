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
from forge_bot.runs.project_commands.project import Project, run_tests
from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from tests.security.project_scene import WALLS, checked, judged_in, project_in
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


@pytest.fixture(params=WALLS)
def made(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Make a project that has a submodule, without its files, and these tests."""
    if trouble := failure_reason(BackendName(request.param)):
        pytest.skip(trouble)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def make(test: str, setup: str = "[]") -> Project:
        folder = tmp_path / "demo"
        files = {
            ".forge/config.yml": CONFIG % (request.param, setup),
            ".gitmodules": SUBMODULES,
            "test.sh": test,
        }
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", "-A")
        git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
        git(folder, "commit", "-qm", "start")
        (folder / "vendor").mkdir()
        return project_in(folder)

    return make


@pytest.mark.parametrize("plant", [PLANT, GITFILE])
def test_a_repository_that_tests_make_in_the_place_of_a_submodule_runs_nothing_outside(
    made: Made, ran: Path, plant: str
) -> None:
    project = made(plant % ran)
    assert "exit code 0" in run_tests(project, [])
    context = ProviderContext(project.tree.path)
    asked = CapabilityRequest(key="1.1-x", capability="git_diff", params="{}")
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
    (tmp_path / ".gitmodules").write_text(SUBMODULES, encoding="utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    git(tmp_path, "commit", "-qm", "start")
    (tmp_path / "vendor").mkdir()
    subprocess.run(["sh", "-c", PLANT % ran], cwd=tmp_path, check=True)
    (tmp_path / "vendor" / "file").write_text("three\n", encoding="utf-8")
    asked = CapabilityRequest(key="1.1-x", capability="git_diff", params="{}")
    assert ProviderContext(tmp_path).fetch(asked, WorkLimits()).status is ResultStatus.OK
    assert not ran.exists()
