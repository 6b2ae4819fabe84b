"""What git tells about the past, and that it is only ever read."""

import os
from pathlib import Path

import pytest

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import CapabilityRequest, ResultStatus
from forge_bot.agent.providers import git_read_only
from forge_bot.agent.providers.context import ProviderContext
from tests.agent.repository_scene import Ask, git


def test_the_log_is_newest_first_and_can_be_narrowed(ask: Ask) -> None:
    lines = ask("git_log").content.splitlines()
    assert [line.partition("Ann: ")[2] for line in lines] == ["two: the fix", "one: the start"]
    assert len(ask("git_log", count=1).content.splitlines()) == 1
    assert len(ask("git_log", path="docs").content.splitlines()) == 1
    assert ask("git_log", path="src/new.py").content == "No commits."


def test_the_difference_is_from_where_the_work_began_to_the_files_as_they_are(ask: Ask) -> None:
    found = ask("git_diff")
    assert "-    return a - b\n+    return a + b" in found.content
    assert "Not tracked yet: src/new.py\n" in found.content
    assert ask("git_diff", base="HEAD", path="docs").content == "No difference."


@pytest.mark.parametrize(
    "base", ["--output=stolen", "-O/dev/null", "no-such-branch", "HEAD:src/app.py", "a\0b"]
)
def test_a_base_is_a_commit_and_never_an_option(ask: Ask, root: Path, base: str) -> None:
    found = ask("git_diff", base=base)
    assert found.status is ResultStatus.INVALID_PARAMS
    assert not (root / "stolen").exists()


@pytest.mark.parametrize("capability", ["git_log", "git_diff"])
@pytest.mark.parametrize("path", ["../secret.txt", "/etc", ".git/config"])
def test_paths_of_git_stay_inside_too(ask: Ask, capability: str, path: str) -> None:
    assert ask(capability, path=path).status is ResultStatus.DENIED


def test_programs_that_a_repository_configures_are_not_run(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / ".gitattributes").write_text("*.txt diff=evil\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    (tmp_path / "a.txt").write_text("two\n")
    for setting in (
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "core.fsmonitor",
        "core.pager",
    ):
        git(tmp_path, "config", setting, f"touch '{tmp_path}/ran-{setting}'; cat")
    context = ProviderContext(tmp_path)
    for capability in ("git_diff", "git_log", "list_files", "search_code"):
        params = '{"pattern": "two"}' if capability == "search_code" else "{}"
        assert (
            context.fetch(
                CapabilityRequest(key="1.1-x", capability=capability, params=params), WorkLimits()
            ).status
            is ResultStatus.OK
        )
    assert not list(tmp_path.glob("ran-*"))


def test_git_that_prints_without_end_is_stopped_and_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "git"
    tool.write_text("#!/bin/sh\nexec yes\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = git_read_only.git(tmp_path, "log", most=1_000)
    assert (said.cut, len(said.text)) == (True, 1_000)
