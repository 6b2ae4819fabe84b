"""What stands in the way of a thread that a server leads is said there, and goes away by itself."""

import asyncio
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from forge_bot.errors import NotOnGitHub
from forge_bot.github_api.app_tokens import APP_ID, APP_KEY
from forge_bot.temporal.thread_address import HEAR, ORCHESTRATION, THREAD_WORKFLOW, WAKE
from tests.bot.stage import heard
from tests.fakes.github import FakeGitHub
from tests.github_api.test_app_tokens import key_pair
from tests.temporal.deaf_line import LineThatGoesDeaf
from tests.temporal.scene import Server
from tests.temporal.scene import server as own_server
from tests.temporal.test_killed_workers import answers_heard
from tests.temporal.test_threads_on_server import history, looks_again_after, workflow_of
from tests.temporal.test_worker_parts import without_bubblewrap
from tests.temporal.thread_scene import ServedStage, served

_PUBLISHING = ((False, "POST .*/issues/[0-9]+/comments"), (True, "POST .*/pulls$"))
"""Requests that publish, and whether they come after the first question."""


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path, server: Server) -> Iterator[ServedStage]:
    with served(github, tmp_path, server.address) as it:
        it.hub.add_label(it.repo, it.issue, "forge:S", by="maint")
        yield it


def test_a_repository_that_vanishes_is_looked_for_again_and_a_retry_begins_the_run(
    stage: ServedStage,
) -> None:
    assert heard(stage.label()).code == 0
    stage.hub.remove(stage.repo)
    stage.start_worker()
    assert stage.visited().startswith("git"), stage.log
    assert looks_again_after(stage, 60)
    stage.hub.bring_back(stage.repo)
    assert stage.branches() == ["main"]
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.visited() == "waiting", stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1


def test_a_retry_begins_the_run_of_a_thread_whose_first_visit_failed_for_good(
    stage: ServedStage,
) -> None:
    broken: dict[str, str | bytes | None] = {".forge/config.yml": "sandbox: castle\n"}
    stage.hub.commit(stage.repo, "main", broken)
    stage.start_worker()
    assert heard(stage.label()).code == 0
    assert stage.visited().startswith("config-"), stage.log
    assert stage.branches() == ["main"]
    assert any("sandbox" in said for said in stage.said())
    stage.hub.commit(stage.repo, "main", {".forge/config.yml": None})
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.visited() == "waiting", stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1


def test_an_installation_that_is_revoked_is_told_once_and_its_return_lets_the_run_go_on(
    stage: ServedStage,
) -> None:
    private, public = key_pair()
    app = stage.hub.app("github-actions[bot]", public, **stage.permissions)
    stage.hub.install(app, stage.repo)
    stage.environ |= {APP_ID: str(app.id), APP_KEY: private, "GITHUB_TOKEN": ""}
    stage.start_worker()
    for name in (APP_ID, APP_KEY, "GITHUB_TOKEN"):
        del stage.environ[name]
    assert heard(stage.label()).code == 0
    assert stage.visited() == "waiting", stage.log
    stage.hub.uninstall(app, stage.repo)
    assert heard(stage.say("/approve")).code == 0
    stage.visited()
    for _ in range(3):
        # The first one may have had a token that was taken back.
        assert heard(stage.say("/forge status")).code == 0
        assert stage.visited() == NotOnGitHub.code.lower(), stage.log
    assert looks_again_after(stage, 60)
    told = [said for said in stage.said() if "cannot reach this repository" in said]
    assert 1 <= len(told) <= 2, told
    stage.hub.install(app, stage.repo)
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.visited() == "done", stage.log


def test_a_worker_without_a_sandbox_says_so_in_the_thread_and_another_one_goes_on(
    stage: ServedStage, tmp_path: Path
) -> None:
    files: dict[str, str | bytes | None] = {".forge/config.yml": "sandbox: bubblewrap\n"}
    stage.hub.commit(stage.repo, "main", files)
    empty = without_bubblewrap(tmp_path / "bin")
    (tmp_path / "bin" / "python3").symlink_to(str(shutil.which("python3")))
    usual = dict(stage.environ)
    stage.environ |= empty
    stage.start_worker()
    stage.environ = usual
    assert heard(stage.label()).code == 0
    assert stage.visited() == "no-sandbox", stage.log
    (told,) = stage.said("tracking")
    assert "The worker's machine has no sandbox" in told
    assert "I try again by myself" in told
    assert looks_again_after(stage, 60)
    stage.stop()
    stage.start_worker("another-machine")
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.visited() == "waiting", stage.log


@workflow.defn(name=THREAD_WORKFLOW)
class LaterThreadWorkflow:
    """A workflow of a later version: it begins with work that today's does not know."""

    @workflow.run
    async def run(self, begin: RawValue) -> str:
        await workflow.execute_activity(
            "drink_tea", task_queue="nobody", start_to_close_timeout=timedelta(minutes=1)
        )
        return str(begin)

    @workflow.update(name=HEAR)
    async def hear(self, wake: RawValue) -> dict[str, Any]:
        del wake
        return {}

    @workflow.signal(name=WAKE)
    def wake(self, wake: RawValue) -> None:
        del wake


@pytest.mark.usefixtures("server")  # skipped where its program is not installed
def test_a_history_that_a_worker_cannot_read_is_told_of_in_the_thread(
    github: FakeGitHub, tmp_path: Path
) -> None:
    async def begun_by_later_version(stage: ServedStage) -> None:
        client = await Client.connect(stage.address, data_converter=pydantic_data_converter)
        leading = Worker(
            client,
            task_queue=ORCHESTRATION,
            workflows=[LaterThreadWorkflow],
            workflow_runner=UnsandboxedWorkflowRunner(),
        )
        async with leading:
            assert (await asyncio.to_thread(stage.label)).code == 0

    with own_server(tmp_path / "server") as own, served(github, tmp_path, own.address) as stage:
        stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
        asyncio.run(begun_by_later_version(stage))
        assert len(history(stage).events) > 5
        stage.start_worker()
        job = heard(stage.say("/forge status"))
        assert (job.code, "another version of forge-bot" in job.log) == (0, True), job.log
        assert any("start one of the version that began the run" in each for each in stage.said())


def test_threads_that_meet_a_limit_of_github_leave_it_alone_until_it_ends(
    stage: ServedStage,
) -> None:
    stage.start_worker()
    stage.hub.faults.secondary("PATCH .*/issues/comments", 1234, times=99)
    assert heard(stage.label()).code == 0
    assert stage.visited() == "github-limited", stage.log
    others = [stage.hub.issue(stage.repo, f"Another {n}", "", by="maint") for n in range(3)]
    for other in others:
        stage.hub.add_label(stage.repo, other, "forge", by="maint")
        words: dict[str, Any] = {"issue": other, "label": "forge"}
        payload = stage.hub.payload("issues.labeled", stage.repo, "maint", **words)
        assert stage.job("issues", payload, "maint").code == 0
        assert stage.visited() == "github-limited", stage.log
        assert len([line for line in stage.log if f"#{other.number}: " in line]) == 1
    stage.hub.faults.waiting.clear()
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.visited() == "waiting", stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1


@pytest.mark.parametrize(("asked", "limited"), _PUBLISHING, ids=["question", "pull-request"])
def test_a_limit_of_github_while_a_run_publishes_is_told_and_is_no_question_to_a_person(
    stage: ServedStage, asked: bool, limited: str
) -> None:
    stage.start_worker()
    faults = stage.hub.faults
    if asked:
        assert heard(stage.label()).code == 0
        assert stage.visited() == "waiting", stage.log
    # What the gate says comes before.
    faults.meanwhile("PATCH .*/issues/comments", lambda: faults.secondary(limited, 1234, times=99))
    assert heard(stage.say("/approve") if asked else stage.label()).code == 0
    assert stage.visited() == "github-limited", stage.log
    assert looks_again_after(stage, 1234)
    (told,) = stage.said("tracking")
    assert "GitHub lets me write no more for now" in told
    assert "I try again by myself" in told
    assert len(stage.said("checkpoint")) == asked
    faults.waiting.clear()
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.visited() == ("done" if asked else "waiting"), stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    assert asked_once(stage)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "limited", "times"),
    [(False, "PATCH .*/issues/comments", 2), (True, _PUBLISHING[1][1], 1)],
    ids=["comments", "pull-request"],
)
def test_a_run_goes_on_without_a_word_when_a_limit_of_github_has_ended(
    stage: ServedStage, asked: bool, limited: str, times: int
) -> None:
    stage.start_worker()
    if asked:
        assert heard(stage.label()).code == 0
        assert stage.visited() == "waiting", stage.log
    stage.hub.faults.secondary(limited, 61, times=times)
    assert heard(stage.say("/approve") if asked else stage.label()).code == 0
    assert stage.visited() == "github-limited", stage.log
    assert stage.visited() == ("done" if asked else "waiting"), stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1


@pytest.mark.parametrize("gone", ["installation", "repository"])
def test_what_vanishes_during_a_step_is_looked_for_again_and_no_model_is_asked_twice(
    stage: ServedStage, gone: str
) -> None:
    private, public = key_pair()
    app = stage.hub.app("github-actions[bot]", public, **stage.permissions)
    stage.hub.install(app, stage.repo)
    stage.environ["FORGE_BOT_EDIT_SECONDS"] = "0"
    stage.environ |= {APP_ID: str(app.id), APP_KEY: private, "GITHUB_TOKEN": ""}
    stage.start_worker()
    for name in (APP_ID, APP_KEY, "GITHUB_TOKEN"):
        del stage.environ[name]

    def vanish() -> None:
        if gone == "repository":
            stage.hub.remove(stage.repo)
        else:
            stage.hub.uninstall(app, stage.repo)

    # What the first step leaves is shown in the tracking comment before the step ends.
    stage.hub.faults.meanwhile("PATCH .*/issues/comments", vanish, skip=1)
    assert heard(stage.label()).code == 0
    assert stage.visited() not in {"waiting", "done"}, stage.log
    assert looks_again_after(stage, 60)
    if gone == "repository":
        stage.hub.bring_back(stage.repo)
    else:
        stage.hub.install(app, stage.repo)
    assert heard(stage.say("/forge retry")).code == 0
    assert stage.visited() == "waiting", stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    assert asked_once(stage)


def asked_once(stage: ServedStage) -> bool:
    """Whether no question to a model was answered twice."""
    (journal,) = stage.folder.rglob("journal.jsonl")
    return set(answers_heard(journal).values()) == {1}


@pytest.mark.usefixtures("server")
def test_an_event_that_is_handed_over_while_its_server_is_lost_counts_once(
    github: FakeGitHub, tmp_path: Path
) -> None:
    with own_server(tmp_path / "server") as own, served(github, tmp_path, own.address) as stage:
        stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
        stage.hub.add_label(stage.repo, stage.issue, "forge", by="maint")
        words: dict[str, Any] = {"issue": stage.issue, "label": "forge"}
        payload = stage.hub.payload("issues.labeled", stage.repo, "maint", **words)
        job = stage.let_in("issues", payload, "maint")
        known(stage)
        own.kill()
        log, _ = job.communicate(timeout=60)
        assert (job.returncode, "was lost while it was told of this" in log) == (5, True), log
        assert any("nothing counts twice" in said for said in stage.said("tracking"))
        own.start()
        stage.start_worker()
        assert heard(stage.say("/forge")).code == 0
        assert stage.visited() == "waiting", stage.log
        assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1


def test_an_event_whose_answer_is_lost_counts_once_and_its_job_says_so(stage: ServedStage) -> None:
    stage.start_worker()
    assert heard(stage.label()).code == 0
    assert stage.visited() == "waiting", stage.log
    whole = stage.address
    comment = stage.comment("/approve")
    with LineThatGoesDeaf(whole, b"/approve") as line:
        stage.address = line.address
        job = stage.delivered(comment)
    assert (job.code, "was lost while it was told of this" in job.log) == (5, True), job.log
    assert stage.visited() == "done", stage.log
    stage.address = whole
    over(stage)
    told = len(stage.said())
    assert heard(stage.delivered(comment)).code == 0
    # The workflow of the thread has ended. Where the server begins another one for the event, that
    # one finds the comment answered.
    over(stage)
    assert len(stage.said()) == told
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    assert asked_once(stage)


def over(stage: ServedStage) -> None:
    """Wait until the workflow of the thread has heard how its last visit ended, and ends."""

    async def ended() -> None:
        client = await Client.connect(stage.address, data_converter=pydantic_data_converter)
        await client.get_workflow_handle(workflow_of(stage)).result()

    asyncio.run(ended())


def known(stage: ServedStage) -> None:
    """Wait until the server has a workflow for the thread."""

    async def begun() -> None:
        client = await Client.connect(stage.address)
        while not [each async for each in client.list_workflows()]:
            # The server's list lags behind by a moment.
            pass

    asyncio.run(begun())
