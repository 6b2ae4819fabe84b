"""Runs in a thread that a Temporal server leads: a job hands each event over, and a worker does the
rest.
"""

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter

from forge_bot.cli.options import ServerChoice
from forge_bot.cli.temporal_commands import work_for_server
from forge_bot.errors import ForgeError
from forge_bot.sentences import hint_of
from forge_bot.temporal.workflows import thread_workflow_id
from tests.bot.stage import SECRET, heard
from tests.bot.test_order import Laptop
from tests.fakes.github import FakeGitHub
from tests.temporal.scene import Server, free_port
from tests.temporal.scene import server as own_server
from tests.temporal.thread_scene import ServedStage, served


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path, server: Server) -> Iterator[ServedStage]:
    with served(github, tmp_path, server.address) as it:
        it.hub.add_label(it.repo, it.issue, "forge:S", by="maint")
        yield it


def history(stage: ServedStage) -> WorkflowHistory:
    """What the server knows of the thread."""
    name = thread_workflow_id(stage.hub.url, stage.repo.full_name, stage.issue.number)

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


def test_a_label_leads_to_a_question_and_an_approval_to_a_pull_request(stage: ServedStage) -> None:
    stage.start_worker()
    job = stage.label()
    assert (job.code, job.outcome) == (0, "working"), job.log
    assert stage.ended() == "waiting", stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1

    stale = heard(stage.say("/approve 0123456789ab"))
    assert (stale.code, stage.ended()) == (0, "waiting"), stage.log
    assert any("0123456789ab" in said for said in stage.said("reply"))

    comment = stage.comment("/approve")
    twice = [stage.delivered(comment), stage.delivered(comment)]
    assert [job.code for job in twice] == [0, 0], twice
    assert stage.ended() == "done", stage.log
    assert stage.state["currentPhaseStatus"] == "completed"
    assert stage.pull.pull is not None
    assert stage.pull.pull.head == stage.offered
    kept = payloads(history(stage).to_json_dict())
    assert stage.issue.title in kept
    assert not [text for text in (SECRET, *stage.hub.tokens) if text in kept]


def test_a_run_goes_from_a_job_to_a_server_to_a_laptop_and_back(
    stage: ServedStage, tmp_path: Path
) -> None:
    there, stage.address = stage.address, ""
    assert heard(stage.label()).outcome == "waiting"
    stage.address = there
    stage.start_worker()
    assert heard(stage.say("/forge status")).outcome == "working"
    assert stage.ended() == "waiting", stage.log
    laptop = Laptop(stage, tmp_path)
    assert laptop.forge("approve", "--until", "final-verification") in {0, 3}
    laptop.push()
    assert heard(stage.say("/forge status")).code == 0
    assert stage.ended() == "waiting", stage.log
    assert stage.state["gate"]["reason"] == "unverified_approval"
    assert heard(stage.say("/approve")).code == 0
    assert stage.ended() == "done", stage.log
    assert len(stage.said("tracking")) == 1


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
        assert (job.code, "has it" in job.log) == (0, True), job.log
        stage.start_worker()
        assert stage.ended() == "waiting", stage.log
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
        work_for_server((), ServerChoice(), 1, github=(name,))
    assert said in f"{refused.value.message} {hint_of(refused.value)}"
