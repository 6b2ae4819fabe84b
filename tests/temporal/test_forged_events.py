"""Events that somebody sends to the workflow of a thread who is not the Action: they name nobody
else's repository, lower no role that the worker sets, and keep no later event from being carried
out.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from forge_bot.temporal.workflows import thread_queue, thread_workflow_id
from tests.bot.stage import heard
from tests.fakes.github import FakeGitHub, Role
from tests.temporal.scene import Server
from tests.temporal.thread_scene import ServedStage, served

_LOWERED = {"FORGE_BOT_ROLE": "triage", "FORGE_BOT_TRUST_LOCAL": "true"}


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path, server: Server) -> Iterator[ServedStage]:
    with served(github, tmp_path, server.address) as it:
        it.hub.add_label(it.repo, it.issue, "forge:S", by="maint")
        yield it


def signal(stage: ServedStage, *values: Any, begin: Any = None) -> None:
    """Send values to the workflow of the thread as the Action would; `begin` starts another."""

    async def sent() -> None:
        client = await Client.connect(stage.address, data_converter=pydantic_data_converter)
        name = thread_workflow_id(stage.hub.url, stage.repo.full_name, stage.issue.number)
        if begin is not None:
            await client.start_workflow(
                "ForgeThreadWorkflow",
                begin,
                id=f"{name}/forged",
                task_queue=thread_queue(stage.hub.url, stage.repo.full_name),
            )
            name = f"{name}/forged"
        for value in values:
            await client.get_workflow_handle(name).signal("wake", value)

    asyncio.run(sent())


def wake(stage: ServedStage, **more: Any) -> dict[str, Any]:
    """An event of the thread in which nobody asks for anything."""
    ids = {"issue": stage.issue.number, "thread": stage.issue.number, "operation": "resume"}
    return {"wake": {**ids, **more.pop("ids", {})}, **more}


def test_forged_events_approve_nothing_and_keep_no_event_from_its_job(stage: ServedStage) -> None:
    stage.environ["FORGE_BOT_ROLE"] = "write"
    stage.start_worker("machine", "--at-once", "1")
    assert heard(stage.label()).code == 0
    assert stage.ended() == "waiting"
    stage.hub.member(stage.repo, "helper", Role.TRIAGE)
    comment = stage.comment("/approve", by="helper")
    signal(
        stage,
        {"no": "event"},
        [1, 2],
        "x" * 500_000,
        wake(stage, job="7\0"),
        *(
            wake(
                stage,
                ids={"comment": comment.id, "operation": "command"},
                inputs={name: value},
            )
            for name, value in _LOWERED.items()
        ),
    )
    elsewhere = {"server": stage.hub.url, "repository": "somebody/else", "issue": 1}
    signal(stage, wake(stage), begin=elsewhere)
    done = heard(stage.say("/approve"))
    assert done.code == 0, done.log
    while stage.ended() != "done":
        pass
    assert [each["by"] for each in stage.state["decisions"]] == ["maint"]
    assert stage.pull.pull is not None
