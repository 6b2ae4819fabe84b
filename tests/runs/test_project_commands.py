"""What was installed, and what green commands said, counts again where nothing has changed; which
words make a runner report its tests, and which of its files are read.
"""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from forge_bot.git import Repository, Tree
from forge_bot.runs.notifications import CommandBegan, Notice
from forge_bot.runs.project_commands.command_runner import reports_of
from forge_bot.runs.project_commands.installation import Foundation
from forge_bot.runs.project_commands.project import Project
from forge_bot.settings.config import load_config
from forge_bot.values import CommandResult
from tests.fakes.rows import rows
from tests.runs.test_tries import RIGHT, commands, stage, talker
from tests.runs.wave_scene import done
from tests.security.scene import git

ROWS = rows(__file__)


CONFIG = """setup_without_namespace: true
commands:
  setup: [[python3, -m, venv, --without-pip, node_modules]]
  test: [[python3, test.py]]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository whose test is green."""
    made = tmp_path / "demo"
    (made / ".forge").mkdir(parents=True)
    (made / ".forge" / "config.yml").write_text(CONFIG)
    (made / ".gitignore").write_text("node_modules/\n")
    (made / "test.py").write_text("print('fine')\n")
    git(made, "init", "-q", "-b", "main")
    commit(made)
    return made


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "a change")


def began(folder: Path) -> Sequence[str]:
    """The programs that one run of setup and baseline starts."""
    repository = Repository.find(folder)
    config, head = load_config(repository.root), repository.commit_id("HEAD")
    told: list[Notice] = []
    based = Foundation(head, tuple[bytes, ...])
    project = Project(repository, Tree(folder), config, told.append, based)
    assert [result.exit_code for result in project.set_up()] == [0]
    project.check(green)
    return [notice.name.value for notice in told if isinstance(notice, CommandBegan)]


def green(result: CommandResult) -> bool:
    return result.exit_code == 0


def test_nothing_runs_again_for_another_run_at_the_same_code(folder: Path) -> None:
    assert began(folder) == ["setup", "test"]
    git(folder, "commit", "-q", "--allow-empty", "-m", "the same code")
    assert began(folder) == []


@pytest.mark.parametrize("name", ["package-lock.json", "requirements/dev.txt"])
def test_other_code_is_tested_anew_and_installed_anew_only_where_setup_reads_it(
    folder: Path, name: str
) -> None:
    began(folder)
    (folder / "test.py").write_text("print('fine too')\n")
    commit(folder)
    assert began(folder) == ["test"]
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("{}\n")
    commit(folder)
    assert began(folder) == ["setup", "test"]


def test_an_environment_that_a_cache_brings_is_not_installed_again(
    folder: Path, tmp_path: Path
) -> None:
    began(folder)
    (home,) = (tmp_path / "state" / "forge-bot").glob("environment-0-*")
    for other in home.iterdir():
        if other.name != "environment" and other.is_dir():
            shutil.rmtree(other)
    shutil.rmtree(Repository.find(folder).kept)
    assert began(folder) == ["test"]


def test_red_tests_run_again(folder: Path) -> None:
    (folder / "test.py").write_text("raise SystemExit(1)\n")
    commit(folder)
    assert began(folder) == ["setup", "test"]
    assert began(folder) == ["test"]


@pytest.mark.parametrize(
    ("words", "others"),
    [("node_modules]", "dist]"), ("-m, venv, --without-pip, node_modules", "-c, pass")],
    ids=["leaves", "reads"],
)
def test_where_setup_leaves_or_reads_more_than_packages_other_code_is_installed_anew(
    folder: Path, words: str, others: str
) -> None:
    file = folder / ".forge" / "config.yml"
    file.write_text(CONFIG.replace(words, others))
    (folder / ".gitignore").write_text("dist/\n")
    commit(folder)
    began(folder)
    (folder / "test.py").write_text("print('fine too')\n")
    commit(folder)
    assert began(folder) == ["setup", "test"]


def test_what_ran_on_the_edits_does_not_run_again_at_the_end(tmp_path: Path) -> None:
    here = stage(tmp_path)
    here.go_on(talker(done(RIGHT)))
    assert len(commands(here)) == 2, "the baseline, and the edits"


@pytest.mark.parametrize(("command", "script", "added"), ROWS["a_runner_is_told_to"])  # fmt: skip
def test_a_runner_is_told_to_report_where_its_command_can_be_handed_words(
    tmp_path: Path, command: str, script: str, added: str
) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": script}}))
    argv = tuple(command.split())
    with reports_of(argv, Tree(tmp_path), tmp_path / "kept") as reports:
        words = " ".join(reports.argv).replace(str(reports.folder), "F")
        assert words == f"{command} {added}".strip()
        echo = f"> {' '.join(reports.argv)}\nJSON report written to {reports.folder}/x\nend"
        assert reports.without_words(echo).replace(" --", "") == f"> {command}\nend".replace(
            " --", ""
        )
    assert not reports.folder.exists()


def test_go_reports_in_its_output_and_is_called_in_its_folder(tmp_path: Path) -> None:
    argv = ("go", "-C", "half", "test", "./...")
    with reports_of(argv, Tree(tmp_path), tmp_path / "kept") as reports:
        assert reports.argv == ("go", "-C", "half", "test", "-json", "./...")


def test_only_files_that_the_command_wrote_are_read_and_no_link_is_followed(tmp_path: Path) -> None:
    old = tmp_path / "a" / "target" / "surefire-reports" / "TEST-old.xml"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    os.utime(old, (1, 1))
    (tmp_path / "secret").write_text("secret")
    with reports_of(("mvn", "test"), Tree(tmp_path), tmp_path / "kept") as reports:
        old.with_name("TEST-new.xml").write_text("new")
        old.with_name("TEST-link.xml").symlink_to(tmp_path / "secret")
        (reports.folder / "jest.json").symlink_to(tmp_path / "secret")
        (reports.folder / "pytest.xml").write_text("report")
        assert reports.read() == {
            "pytest.xml": "report",
            "a/target/surefire-reports/TEST-new.xml": "new",
        }
