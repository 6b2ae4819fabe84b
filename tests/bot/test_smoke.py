"""The script by which an owner tries forge-bot on GitHub: against the GitHub of the tests, whose
jobs run here.
"""

import os
import subprocess
import sys

import pytest

from forge_bot.runs.wall_clock import now
from tests.actions.runner import ROOT
from tests.bot.stage import Stage
from tests.fakes.github import FakeGitHub


def smoke(hub: FakeGitHub, *words: str, token: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, ROOT / "scripts" / "smoke", *words, "--every", "0.2", "--minutes", "1"],
        env={"PATH": os.environ["PATH"], "GITHUB_API_URL": hub.url, "GITHUB_TOKEN": token},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def until(process: "subprocess.Popen[str]", words: str) -> str:
    """Read what the script says up to a line with these words."""
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if words in line:
            return seen
    raise AssertionError(seen)


@pytest.mark.slow
def test_an_owner_sees_each_step_hold_and_nothing_is_left(github: FakeGitHub, stage: Stage) -> None:
    files = {".github/workflows/forge-bot.yml": "on: issues\n"}
    stage.repo.bare.commit("main", files, "The workflow", "boss <boss@x.example>", 1_700_000_000)
    # Comments come over the API here, so GitHub's clock is set once: behind the jobs' own time.
    github.clock.seconds = int(now().timestamp()) + 600
    with smoke(github, stage.repo.full_name, token=github.token("boss")) as process:
        until(process, "with the label")
        stage.issue = max(stage.repo.issues.values(), key=lambda issue: issue.number)
        payload = github.payload(
            "issues.labeled", stage.repo, "boss", issue=stage.issue, label="forge"
        )
        assert stage.job("issues", payload, "boss").outcome == "waiting"
        until(process, "✓ approved checkpoint-a")
        done = stage.delivered(stage.issue.comments[-1], "boss")
        assert done.outcome == "done", (done.log, [c.body[:300] for c in stage.issue.comments])
        said = until(process, "All of it held.")
    assert "✓ it has code only, no record" in said
    assert stage.pull.state == "closed"
    assert stage.issue.state == "closed"
    assert not [name for name in stage.branches() if f"/{stage.issue.number}-" in name]


def test_what_is_missing_is_named_before_an_issue_is_opened(
    github: FakeGitHub, stage: Stage
) -> None:
    issues = len(stage.repo.issues)
    with smoke(github, stage.repo.full_name, token=github.token("boss")) as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "✗ .github/workflows/forge-bot.yml on main" in said
    assert "forge-bot init" in said
    assert len(stage.repo.issues) == issues
