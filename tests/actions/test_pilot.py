"""The script by which an owner tries forge-bot on GitHub: against the GitHub of the tests, whose
jobs run here, by the workflow that `init` writes or without it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import pytest

from forge_bot.forge import WORKFLOW
from forge_bot.runs.this_process import now
from tests.actions.runner import ACTION, RELEASE, ROOT, Runner, missing
from tests.fakes import script
from tests.fakes.github import FakeGitHub
from tests.fakes.github.state import Issue, Repository, WorkflowRun

NAME = "boss/pilot"
VAGUE = "It is slow sometimes"
ANALYST = "situation-analyst-investigator"


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

    def __init__(self, runner: Runner, action: Path) -> None:
        self.runner, self.action = runner, action
        self.delivered: set[int] = set()

    def work(self) -> None:
        """Run a job for each label, closing, reopening and comment that had none, in their order."""
        repo = self.runner.hub.find(*NAME.split("/"))
        if repo is None:
            return
        issues = [issue for issue in list(repo.issues.values()) if issue.pull is None]
        happened = sorted(
            (happening for issue in issues for happening in happenings(issue)),
            key=lambda happening: happening.at,
        )
        for happening in happened:
            if happening.id not in self.delivered:
                self.delivered.add(happening.id)
                self._run(repo, happening)

    def _run(self, repo: Repository, happening: "Happening") -> None:
        hub, runner = self.runner.hub, copy(self.runner)
        runner.repo = repo
        runner.secrets = hub.secret_values
        runner.uses = {ACTION: self.action}
        workflow = repo.bare.read("main", WORKFLOW)
        assert workflow is not None
        runner.files_here = {WORKFLOW: workflow}
        is_vague = happening.title == VAGUE and happening.event == "issues.labeled"
        runner.model({(ANALYST, "*", "*"): unclear()} if is_vague else None)
        began = hub.clock.tick()
        payload = hub.payload(happening.event, repo, happening.by, **happening.about)
        job = runner.job(happening.event.partition(".")[0], payload, happening.by)
        self.runner.jobs = runner.jobs
        run = WorkflowRun(
            hub.next_id(),
            f"{happening.title} ({job.outcome or job.result})",
            happening.event,
            began,
            hub.clock.tick(),
            "success" if job.code in {0, 3} else "failure",
            hub.user(happening.by),
        )
        repo.runs.append(run)


@dataclass(frozen=True)
class Happening:
    """What wakes a job: the event by its name, who caused it, and what it is about."""

    id: int
    at: int
    title: str
    event: str
    by: str
    about: Mapping[str, object]


def happenings(issue: Issue) -> Iterator[Happening]:
    """What people did with an issue, of the events that the workflow listens to."""
    for event in list(issue.events):
        by = event.actor.login if event.actor else ""
        if event.kind in {"labeled", "closed", "reopened"} and not by.endswith("[bot]"):
            about = {"issue": issue, **({"label": event.label.name} if event.label else {})}
            yield Happening(event.id, event.at, issue.title, f"issues.{event.kind}", by, about)
    for comment in list(issue.comments):
        by = comment.user.login if comment.user else ""
        if not by.endswith("[bot]"):
            yield Happening(
                comment.id,
                comment.created,
                issue.title,
                "issue_comment.created",
                by,
                {"comment": comment},
            )


def unclear() -> script.Answer:
    """An analysis that asks a person."""
    analysis = script.document(*script.HEADINGS[ANALYST])["artifact_markdown"]
    return {
        "artifact_markdown": f"{analysis}\n## Nothing to Do: not enough said\n\n- What is slow?\n"
    }


def led(runner: Runner, action: Path, folder: Path, *words: str, **environ: str) -> str:
    """Lead the pilot's issues to their ends; the page. Everything is taken away again."""
    hub = runner.hub
    # Comments come over the API here, so GitHub's clock is set once: behind the jobs' own time.
    hub.clock.seconds = int(now().timestamp()) + 600
    page, actions = folder / "pilot.md", Actions(runner, action)
    given = ("--key", "MODEL_KEY", "--action", RELEASE, "--out", str(page), *words)
    model = runner.environ["FORGE_BOT_MODEL"]
    with pilot(hub, "--model", model, *given, **environ) as process:
        while process.poll() is None:
            actions.work()
            # The server answers from a thread of this process.
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
        said = process.stdout.read() if process.stdout else ""
    assert process.returncode == 0, said + (page.read_text() if page.exists() else "")
    assert hub.find(*NAME.split("/")) is None
    assert hub.secret_values == {"MODEL_KEY": "sk-of-the-model"}
    text = page.read_text(encoding="utf-8")
    assert "No run of the workflow failed." in text
    return text


@pytest.mark.slow
def test_ten_issues_are_led_and_told_on_one_page_and_everything_is_taken_away(
    runner: Runner, action: Path, tmp_path: Path
) -> None:
    runner.warm = True
    text = led(runner, action, tmp_path, STRANGER_TOKEN=runner.hub.token("stranger"))
    assert text.count("| pull request |") == 10, text[:2000]
    assert "/reject Keep names without spaces working" in text


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_the_workflow_leads_issues_that_are_clear_vague_and_stopped(
    runner: Runner, action: Path, tmp_path: Path
) -> None:
    only = [word for name in ("small", "vague", "stopped") for word in ("--only", name)]
    text = led(runner, action, tmp_path, *only)
    assert text.count("| pull request |") == 3, text[:2000]
    assert "/answer Only `week` with thousands of days is slow" in text
    assert "The issue was closed, so I have stopped here" in text


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
