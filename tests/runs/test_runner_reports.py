"""Which words make a runner report its tests, and which of its files are read."""

import json
import os
from pathlib import Path

import pytest

from forge_bot.git import Tree
from forge_bot.runs.project_commands.command_runner import reports_of
from tests.fakes.rows import rows

ROWS = rows(__file__)


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
