"""Runs in a thread that a Temporal server leads: a job hands each event over, and a worker does the
rest.
"""

import asyncio
import base64
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter

from forge_bot.cli.options import ServerChoice
from forge_bot.cli.temporal_commands import work_for_server
from forge_bot.errors import ForgeError, NotOnGitHub
from forge_bot.github_api.app_tokens import APP_ID, APP_KEY
from forge_bot.sentences import hint_of
from forge_bot.temporal.thread_address import thread_workflow_id
from forge_bot.temporal.worker_parts import WorkerDuty
from tests.actions.runner import below
from tests.bot.stage import SECRET, heard
from tests.bot.test_order import Laptop
from tests.fakes.batches import BatchServer
from tests.fakes.github import FakeGitHub
from tests.github_api.test_app_tokens import key_pair
from tests.temporal.histories import kinds as recorded_steps
from tests.temporal.scene import Server, free_port
from tests.temporal.scene import server as own_server
from tests.temporal.test_worker_parts import found
from tests.temporal.thread_scene import ServedStage, served


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path, server: Server) -> Iterator[ServedStage]:
    with served(github, tmp_path, server.address) as it:
        it.hub.add_label(it.repo, it.issue, "forge:S", by="maint")
        yield it


def workflow_of(stage: ServedStage) -> str:
    """The name of the thread's workflow in the server."""
    return thread_workflow_id(stage.hub.url, stage.repo.full_name, stage.issue.number)


def history(stage: ServedStage, below: str = "") -> WorkflowHistory:
    """What the server knows of the thread, or of a workflow `below` it."""
    name = f"{workflow_of(stage)}/{below}" if below else workflow_of(stage)

    async def fetched() -> WorkflowHistory:
        client = await Client.connect(stage.address, data_converter=pydantic_data_converter)
        return await client.get_workflow_handle(name).fetch_history()

    return asyncio.run(fetched())


def payloads(value: Any) -> str:
    """Everything that a history holds as data, readable."""
    if isinstance(value, list):
        return "\n".join(payloads(part) for part in cast("list[Any]", value))
    if not isinstance(value, dict):
        return ""
    whole = cast("dict[str, Any]", value)
    if set(whole) >= {"metadata", "data"}:
        return base64.b64decode(whole["data"]).decode()
    return "\n".join(payloads(part) for part in whole.values())


def steps_of(kept: WorkflowHistory) -> list[str]:
    """The activities of a history, in order."""
    return recorded_steps(kept.to_json_dict())


def kinds(stage: ServedStage) -> Counter[str]:
    """The kinds of events in the history, counted."""
    return Counter(EventType.Name(event.event_type) for event in history(stage).events)


def test_a_label_leads_to_a_question_and_an_approval_to_a_pull_request(
    stage: ServedStage,
) -> None:
    stage.start_worker()
    job = stage.label()
    assert (job.code, job.outcome) == (0, "working"), job.log
    assert stage.visited() == "waiting", stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    assert stage.state["currentPhaseStatus"] == "awaiting_human"

    stale = heard(stage.say("/approve 0123456789ab"))
    assert (stale.code, "GATE-002" in stale.log) == (0, True), stale.log
    assert stage.visited() == "waiting", stage.log
    assert any("0123456789ab" in said for said in stage.said("reply"))
    assert kinds(stage)["EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED"] == 1

    comment = stage.comment("/approve")
    jobs = [stage.delivered(comment), stage.delivered(comment)]
    assert [job.code for job in jobs] == [0, 0], jobs
    assert stage.visited() == "done", stage.log
    assert stage.state["currentPhaseStatus"] == "completed"
    assert stage.pull.pull is not None
    assert stage.pull.pull.head == stage.offered
    assert kinds(stage)["EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED"] == 2
    steps = Counter(steps_of(history(stage)))
    assert (steps["visit"], steps["agents"]) == (3, 4)
    assert {"setup", "write_document", "checks", "publish"} <= set(steps)
    kept = payloads(history(stage).to_json_dict())
    assert "/approve" in kept
    assert SECRET not in kept
    assert not [token for token in stage.hub.tokens if token in kept]


def test_a_run_goes_from_a_job_to_a_server_to_a_laptop_and_back(
    stage: ServedStage, tmp_path: Path
) -> None:
    there, stage.address = stage.address, ""
    assert heard(stage.label()).outcome == "waiting"
    stage.address = there
    stage.start_worker()
    assert heard(stage.say("/forge status")).outcome == "working"
    assert stage.visited() == "waiting", stage.log
    laptop = Laptop(stage, tmp_path)
    assert laptop.forge("approve", "--until", "final-verification") in {0, 3}
    laptop.push()
    assert heard(stage.say("/forge status")).code == 0
    assert stage.visited() == "waiting", stage.log
    assert stage.state["gate"]["reason"] == "unverified_approval"
    assert heard(stage.say("/approve")).code == 0
    assert stage.visited() == "done", stage.log
    assert len(stage.said("tracking")) == 1
    assert stage.pull.pull is not None
    assert stage.pull.pull.head == stage.offered


def test_who_may_not_is_refused_before_anything_is_installed_or_asked(stage: ServedStage) -> None:
    stage.address = f"127.0.0.1:{free_port()}"
    job = heard(stage.say("/forge", by="stranger"))
    assert (job.result, job.code, job.log) == ("refused", 0, "")


@pytest.mark.usefixtures("server")  # skipped where its program is not installed
def test_an_event_waits_on_the_server_until_there_is_a_worker(
    github: FakeGitHub, tmp_path: Path
) -> None:
    # On a server of its own: a worker of another test would take the event.
    with own_server(tmp_path / "server") as own, served(github, tmp_path, own.address) as stage:
        stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
        job = stage.label()
        assert (job.code, "No worker answers now" in job.log) == (0, True), job.log
        stage.start_worker()
        assert stage.visited() == "waiting", stage.log
        assert len(stage.said("checkpoint")) == 1


@pytest.mark.parametrize(
    ("address", "namespace", "code", "words"),
    [
        ("", "default", "TEMPORAL-003", "does not answer"),
        ("the server's", "no-such-namespace", "TEMPORAL-004", "no namespace 'no-such-namespace'"),
    ],
)
def test_a_server_that_does_not_take_the_event_is_told_of_in_the_thread(
    stage: ServedStage, address: str, namespace: str, code: str, words: str
) -> None:
    stage.address = stage.address if address else f"127.0.0.1:{free_port()}"
    stage.namespace = namespace
    job = stage.label()
    assert (job.code, code in job.log, words in job.summary) == (5, True, True), job.log
    (told,) = stage.said("tracking")
    assert words in told
    assert "Nothing is lost" in told
    assert stage.branches() == ["main"]


@pytest.mark.parametrize(
    ("name", "token", "said"),
    [("widget", "ghs_1", "OWNER/NAME"), ("octo/widget", "", "GITHUB_TOKEN")],
)
def test_a_worker_for_issues_needs_a_repository_and_a_token(
    name: str, token: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", token)
    with pytest.raises(ForgeError) as refused:
        work_for_server((), ServerChoice(), WorkerDuty(), github=(name,))
    assert said in f"{refused.value.message} {hint_of(refused.value)}"


@pytest.fixture
def provider() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


def looks_again_after(stage: ServedStage, seconds: int) -> bool:
    """Whether the workflow has started a timer of so many seconds, once it has heard of a visit."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        attributes = (event.timer_started_event_attributes for event in history(stage).events)
        if any(each.start_to_fire_timeout.seconds == seconds for each in attributes):
            return True
    return False


def test_a_batch_is_waited_for_by_a_timer_and_looked_for_at_once_when_somebody_says_so(
    stage: ServedStage, provider: BatchServer
) -> None:
    stage.environ |= {
        "FORGE_BOT_MODEL": "anthropic:claude-sonnet-5-5",
        "ANTHROPIC_BASE_URL": provider.url,
        "ANTHROPIC_API_KEY": "sk-team-first",
    }
    stage.hub.add_label(stage.repo, stage.issue, "forge:batch", by="maint")
    stage.start_worker()
    assert heard(stage.label()).code == 0
    assert stage.visited() == "batch-under-way", stage.log
    (told,) = stage.said("tracking")
    assert "I look again by myself" in told
    assert looks_again_after(stage, 60)
    word = "batch-under-way"
    while word == "batch-under-way":
        assert provider.end() == 1
        assert heard(stage.say("/forge retry")).code == 0
        word = stage.visited()
    assert word == "waiting", stage.log
    assert set(Counter(provider.handed_in).values()) == {1}


def test_a_model_that_cannot_be_asked_is_asked_again_by_itself(stage: ServedStage) -> None:
    stage.environ |= {
        "FORGE_BOT_MODEL": "anthropic:claude-sonnet-5-5",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{free_port()}",
        "ANTHROPIC_API_KEY": "sk-team-first",
    }
    stage.start_worker()
    stage.label()
    assert stage.visited() == "model-down", stage.log
    (told,) = stage.said("tracking")
    assert "I try again by myself" in told
    assert looks_again_after(stage, 60)
    again = heard(stage.say("/forge status"))
    assert "the last visit of a worker failed: The model could not be asked" in again.log
    assert stage.visited() == "model-down", stage.log


def test_a_worker_whose_token_is_refused_is_told_of_by_the_next_job(stage: ServedStage) -> None:
    stage.environ["GITHUB_TOKEN"] = "ghs_revoked"
    stage.start_worker()
    del stage.environ["GITHUB_TOKEN"]
    first = heard(stage.label())
    assert first.code == 0, first.log
    assert stage.visited().startswith("git"), stage.log
    assert looks_again_after(stage, 60)
    assert not any("cannot reach this repository" in said for said in stage.said())
    second = heard(stage.say("/forge retry"))
    assert second.code == 0, second.log
    assert any("cannot reach this repository" in said for said in stage.said())


def test_a_limit_of_github_is_waited_for_as_long_as_it_says(stage: ServedStage) -> None:
    stage.start_worker()
    stage.hub.faults.secondary("PATCH .*/issues/comments", 1234, times=99)
    assert heard(stage.label()).code == 0
    assert stage.visited() == "github-limited", stage.log
    assert looks_again_after(stage, 1234)
    stage.hub.faults.waiting.clear()
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.visited() == "waiting", stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1


def test_a_worker_with_an_app_goes_on_when_the_app_is_installed_again(stage: ServedStage) -> None:
    private, public = key_pair()
    app = stage.hub.app("github-actions[bot]", public, **stage.permissions)
    stage.environ |= {APP_ID: str(app.id), APP_KEY: private, "GITHUB_TOKEN": ""}
    stage.start_worker()
    for name in (APP_ID, APP_KEY, "GITHUB_TOKEN"):
        del stage.environ[name]
    assert heard(stage.label()).code == 0
    assert stage.visited() == NotOnGitHub.code.lower(), stage.log
    assert looks_again_after(stage, 60)
    stage.hub.install(app, stage.repo)
    again = heard(stage.say("/forge"))
    assert "The App is not installed for" in again.log
    assert any("cannot reach this repository" in said for said in stage.said())
    assert stage.visited() == "waiting", stage.log

    stage.hub.take_back(app)
    assert heard(stage.say("/approve")).code == 0
    assert stage.visited() != "done", "its token was taken back while nothing was visited"
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.visited() == "done", stage.log
    kept = payloads(history(stage).to_json_dict())
    assert not [text for text in (*stage.hub.tokens, private[64:128]) if text in kept]
    assert not [line for line in stage.log if private[64:128] in line]


def test_a_server_finds_threads_by_issue_phase_whom_they_wait_for_and_cost(
    stage: ServedStage,
) -> None:
    stage.start_worker()
    assert heard(stage.label()).code == 0
    assert stage.visited() == "waiting", stage.log
    number = str(stage.issue.number)
    issue = f'ForgeRepository = "{stage.repo.full_name}" AND ForgeIssue = "{number}"'
    where = f'{issue} AND ForgePhase = "checkpoint-a" AND ForgeCost >= 0'
    while number not in found(stage.address, f'{where} AND ForgeWaitsFor = "person"'):
        # The server's list lags behind by a moment.
        pass
    assert number not in found(stage.address, f'{issue} AND ForgeWaitsFor = "operator"')
    assert heard(stage.say("/approve")).code == 0
    assert stage.visited() == "done", stage.log
    while number not in found(stage.address, f'{issue} AND ForgeWaitsFor = "nobody"'):
        pass


@pytest.mark.slow
def test_a_visit_of_a_worker_that_is_killed_is_taken_up_by_another(stage: ServedStage) -> None:
    lost = stage.start_worker()
    assert heard(stage.label()).code == 0
    while not stage.lines.get(timeout=120).endswith(": Setup\n"):
        pass
    visits = [pid for pid, words in below(lost.pid) if "thread_job" in words]
    lost.kill()
    lost.wait()
    stage.start_worker("another-machine")
    assert stage.visited() == "waiting", stage.log
    assert visits
    assert not any(Path(f"/proc/{pid}").exists() for pid in visits)
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
