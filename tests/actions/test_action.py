"""The shipped action, called by its name as a consumer does, on the events of GitHub; seen by what it left there."""

from pathlib import Path

import pytest

from tests.actions.runner import ACTION, Runner, consumer, missing, shipped
from tests.bot.stage import SECRET, Job
from tests.fakes.github import FakeGitHub

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture
def runner(github: FakeGitHub, tmp_path: Path) -> Runner:
    runner = Runner(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    runner.workflow = consumer(runner.environ["FORGE_BOT_MODEL"])
    runner.uses = {ACTION: shipped(tmp_path / "action")}
    return runner


def heard(job: Job | None) -> Job:
    assert job is not None
    assert job.code == 0, job.log
    return job


def test_a_label_leads_to_a_question_and_an_approval_to_a_pull_request(runner: Runner) -> None:
    log = heard(runner.label()).log
    assert len(runner.said("tracking")) == len(runner.said("checkpoint")) == 1, log
    assert runner.state["currentPhaseStatus"] == "awaiting_human"

    log += heard(runner.say("/approve")).log
    assert runner.state["currentPhaseStatus"] == "completed", log
    pull = next(issue.pull for issue in runner.repo.issues.values() if issue.pull is not None)
    assert pull.head == runner.branch
    assert "return None" in runner.files()["rota/schedule.py"]
    assert any(name.startswith(".specs/") for name in runner.files())
    assert SECRET not in log
