"""A whole run that a Temporal server leads, with a worker in a process of its own."""

import asyncio
import json
from collections import Counter

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from forge_bot.git import Repository
from forge_bot.temporal.payloads import RunBegin, RunStanding
from forge_bot.temporal.run_place import queue_of
from forge_bot.temporal.run_workflow import ForgeRunWorkflow
from forge_bot.temporal.thread_address import ORCHESTRATION
from tests.fakes import script
from tests.mcp_server.test_four_doors import Way
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, texts


def test_the_branch_has_what_the_local_host_leaves(over: Clone) -> None:
    local = over.again()
    assert over.forge("run", TASK, "--effort", "S", "--yes", at=local).code == 3
    assert over.forge("approve", at=local).code == 0
    here, there = Way.left(local), Way.left(over.path)
    assert there.documents() == here.documents()
    assert there.state() == here.state()
    kept = "forge-bot: keep the record"
    assert [each for each in there.subjects if each != kept] == [
        each for each in here.subjects if each != kept
    ]


def test_each_step_is_an_activity_and_a_persons_answer_an_update(over: Clone) -> None:
    events = over.history().events
    activities = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    assert activities[:2] == ["take_up", "setup"]
    assert Counter(activities)["agents"] == 4
    assert {"checks", "write_document", "publish", "record", "finish"} <= set(activities)
    told = [
        event
        for event in events
        if event.HasField("workflow_execution_update_accepted_event_attributes")
    ]
    assert len(told) == 2, "what was shown, and the approval"


def test_a_stale_approval_is_refused_and_leaves_no_trace_in_the_history(over: Clone) -> None:
    assert not [text for text in texts(over) if "0123456789ab" in text]
    assert not [line for line in over.reports() if "0123456789ab" in line]


def test_what_travels_names_commits_and_is_neither_state_nor_prompt_nor_code_nor_key(
    over: Clone,
) -> None:
    whole = "\n".join(texts(over))
    assert over.git("rev-parse", f"{over.branch}~3") in whole
    assert "flow_template" not in whole
    assert "flowTemplate" not in whole
    assert json.dumps(script.GUARD["new"])[1:-1] not in whole
    assert "You are" not in whole
    assert over.environ["ANTHROPIC_API_KEY"] not in whole


def test_every_report_is_pushed_before_the_next_step(over: Clone) -> None:
    path = f".specs/{over.run}/reports.jsonl"
    pushed = [
        line.split()[1]
        for line in over.pushes.read_text(encoding="utf-8").splitlines()
        if line.endswith(over.branch)
    ]
    lengths = [len(over.git("show", f"{head}:{path}").splitlines()) for head in pushed]
    assert lengths == sorted(lengths)
    assert set(lengths) == set(range(1, len(over.reports()) + 1))
    assert over.reports(at=over.remote) == over.reports()


def test_a_worker_works_only_in_the_clones_it_was_started_for(over: Clone) -> None:
    elsewhere = over.again("elsewhere")

    async def asked() -> RunStanding:
        client = await Client.connect(over.server.address, data_converter=pydantic_data_converter)
        begin = RunBegin(
            repository=str(elsewhere),
            run=over.run,
            queue=queue_of(Repository.find(over.path)),
            heartbeat_seconds=20,
        )
        handle = await client.start_workflow(
            ForgeRunWorkflow.run, begin, id="elsewhere", task_queue=ORCHESTRATION
        )
        standing = RunStanding()
        while standing.trouble is None:
            standing = await handle.query(ForgeRunWorkflow.standing)
        return standing

    standing = asyncio.run(asked())
    assert (standing.ready, standing.trouble is not None) == (False, True)
    assert "does not work in the folder" in str(standing.trouble)
