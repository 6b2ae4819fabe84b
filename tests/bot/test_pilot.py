"""The script by which an owner tries forge-bot on GitHub: against the GitHub of the tests, whose
jobs run here.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forge_bot.runs.wall_clock import now
from tests.actions.runner import ROOT
from tests.bot.stage import Stage
from tests.fakes.github import FakeGitHub
from tests.fakes.github.state import Issue, Repository, WorkflowRun

NAME = "boss/pilot"


def pilot(hub: FakeGitHub, *words: str, **environ: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, ROOT / "scripts" / "pilot", NAME, *words, "--every", "2"],
        env={
            "PATH": os.environ["PATH"],
            "GITHUB_API_URL": hub.url,
            "GITHUB_TOKEN": hub.token("boss"),
            "MODEL_KEY": "sk-of-the-model",
            **environ,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


class Actions:
    """The jobs that GitHub Actions would run for what happens in the pilot's repository."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.labelled: set[int] = set()
        self.delivered: set[int] = set()

    def work(self) -> None:
        """Run a job for each label and comment that had none."""
        hub = self.stage.hub
        repo = hub.find(*NAME.split("/"))
        if repo is None:
            return
        for issue in list(repo.issues.values()):
            names = [label.name for label in issue.labels]
            if "forge" in names and issue.id not in self.labelled and issue.pull is None:
                self.labelled.add(issue.id)
                self._run(repo, issue, "issues.labeled", "boss", issue=issue, label="forge")
            for comment in list(issue.comments):
                author = comment.user.login if comment.user else ""
                if comment.id not in self.delivered and not author.endswith("[bot]"):
                    self.delivered.add(comment.id)
                    self._run(repo, issue, "issue_comment.created", author, comment=comment)

    def _run(self, repo: Repository, of: Issue, event: str, by: str, **about: Any) -> None:
        hub, stage = self.stage.hub, replace_repository(self.stage, repo)
        began = hub.clock.tick()
        job = stage.job(event.partition(".")[0], hub.payload(event, repo, by, **about), by)
        self.stage.jobs = stage.jobs
        conclusion = "success" if job.code in {0, 3} else "failure"
        title = f"{of.title} ({job.outcome or job.result})"
        run = WorkflowRun(
            hub.next_id(), title, event, began, hub.clock.tick(), conclusion, hub.user(by)
        )
        repo.runs.append(run)


def replace_repository(stage: Stage, repo: Repository) -> Stage:
    """Return the stage for another repository, with what it has of jobs and models."""
    other = object.__new__(Stage)
    other.__dict__.update(stage.__dict__)
    other.repo = repo
    return other


@pytest.mark.slow
def test_ten_issues_are_led_and_told_on_one_page_and_everything_is_taken_away(
    github: FakeGitHub, stage: Stage, tmp_path: Path
) -> None:
    # Comments come over the API here, so GitHub's clock is set once: behind the jobs' own time.
    github.clock.seconds = int(now().timestamp()) + 600
    page = tmp_path / "pilot.md"
    stranger = github.token("stranger")
    actions = Actions(stage)
    with pilot(
        github, "--key", "MODEL_KEY", "--out", str(page), STRANGER_TOKEN=stranger
    ) as process:
        while process.poll() is None:
            actions.work()
        said = process.stdout.read() if process.stdout else ""
    assert process.returncode == 0, said
    assert github.find(*NAME.split("/")) is None
    assert github.secret_values == {"MODEL_KEY": "sk-of-the-model"}
    text = page.read_text(encoding="utf-8")
    assert text.count("| pull request |") == 10, text[:2000]
    assert "No run of the workflow failed." in text
    assert "/reject Keep names without spaces working" in text


def test_a_repository_that_exists_is_left_alone(github: FakeGitHub) -> None:
    github.repository(NAME)
    with pilot(github, "--key", "MODEL_KEY") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"{NAME} exists" in said
    assert github.find(*NAME.split("/")) is not None


def test_without_the_models_key_nothing_is_made(github: FakeGitHub) -> None:
    with pilot(github) as process:
        said, _ = process.communicate(timeout=60)
    assert (process.returncode, github.find(*NAME.split("/"))) == (1, None)
    assert "ANTHROPIC_API_KEY is not set" in said
