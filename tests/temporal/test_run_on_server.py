"""A whole run that a Temporal server leads, with a worker in a process of its own."""

import asyncio
import json

from forge_bot.git import Repository
from forge_bot.temporal.temporal_server import TemporalPlace, name_queue
from forge_bot.temporal.workflows import ForgeRunWorkflow, RunBegin, Stands
from tests.fakes import script
from tests.mcp_server.test_four_doors import Way
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, at_server, texts


def activities(place: Clone) -> list[str]:
    """The activities of the run's workflow, in order."""
    return [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in place.history().events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]


def test_the_branch_has_what_the_local_host_leaves(over: Clone) -> None:
    local = over.again()
    assert over.forge("run", TASK, "--effort", "S", "--yes", at=local).code == 3
    assert over.forge("approve", at=local).code == 0
    here, there = Way.left(local), Way.left(over.path)
    assert there.documents() == here.documents()


def test_a_worker_goes_on_once_for_each_side_and_a_persons_answer_is_an_update(over: Clone) -> None:
    events = over.history().events
    assert activities(over) == ["go_on", "go_on"]
    accepted = "workflow_execution_update_accepted_event_attributes"
    assert len([event for event in events if event.HasField(accepted)]) == 1, "the approval"
    assert len(events) <= 24


def test_a_stale_approval_is_refused_and_leaves_no_trace(over: Clone) -> None:
    assert not [text for text in texts(over) if "0123456789ab" in text]
    assert not [line for line in over.reports() if "0123456789ab" in line]


def test_what_travels_is_neither_state_nor_prompt_nor_code_nor_key(over: Clone) -> None:
    whole = "\n".join(texts(over))
    assert over.run in whole
    hidden = (
        *("flow_template", "flowTemplate", "You are", json.dumps(script.GUARD["new"])[1:-1]),
        over.environ["ANTHROPIC_API_KEY"],
    )
    assert not [each for each in hidden if each in whole]


def test_reports_are_pushed_as_they_are_recorded(over: Clone) -> None:
    path = f".specs/{over.run}/reports.jsonl"
    lines = over.pushes.read_text(encoding="utf-8").splitlines()
    pushed = [line.split()[1] for line in lines if line.endswith(over.branch)]
    lengths = [len(over.git("show", f"{head}:{path}").splitlines()) for head in pushed]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) > len(over.reports()) // 2
    assert over.reports(at=over.remote) == over.reports()


def test_a_worker_works_only_in_the_clones_it_was_started_for(over: Clone) -> None:
    elsewhere = over.again("elsewhere")

    async def asked() -> Stands:
        client = await at_server(over.server)
        queue = name_queue(Repository.find(over.path))
        begin = RunBegin(
            repository=str(elsewhere), run=over.run, queue=queue, place=TemporalPlace()
        )
        handle = await client.start_workflow(
            ForgeRunWorkflow.run, begin, id="elsewhere", task_queue=queue
        )
        while (stands := await handle.query(ForgeRunWorkflow.standing)) is None:
            pass
        return stands

    stands = asyncio.run(asked())
    assert (stands.why, stands.seconds) == ("stuck", 0)
    assert "does not work in the folder" in str(stands.trouble)


def test_what_is_wrong_on_a_worker_is_told_at_the_terminal(place: Clone) -> None:
    place.start_worker({**place.environ, "FORGE_BOT_MODEL": "openai-chat:fake"})
    said = place.begin(TASK)
    assert (said.code, "MODEL-001" in said.err) == (5, True), said.out + said.err
