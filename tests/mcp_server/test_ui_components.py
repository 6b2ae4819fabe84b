"""Every question to a person is data of one published form, before a run, in it, and past it."""

import json
from typing import Any

import jsonschema_rs
import pytest
from mcp.types import TextResourceContents

from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, hosting

TASK = "Nobody is on call before the start"


async def fitting(host: Host, tool: str, **arguments: Any) -> dict[str, Any]:
    """The question beside an answer, once it fits the published schema."""
    first = (await host.client.read_resource("forge://schema/ui")).contents[0]
    assert isinstance(first, TextResourceContents)
    said = await host.client.call_tool(tool, arguments)
    shown = (said.meta or {})["ui"]
    jsonschema_rs.validator_for(json.loads(first.text)).validate(shown)
    return shown


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_choice_of_an_effort_and_a_discussion_are_components(
    sample: Sample, mode: str
) -> None:
    async with hosting(sample, mode=mode) as host:
        found = await host.call("pipeline_init", arguments=TASK)
        choice = await fitting(
            host, "pipeline_init_with_context", workspace=found["workspace"], task_text=TASK
        )
        assert (choice["kind"], choice["requires_response"]) == ("confirmation", True)
        assert [each["answer"] for each in choice["actions"]] == ["S", "M", "L"]
        talk = await fitting(
            host,
            "pipeline_init_with_context",
            workspace=found["workspace"],
            task_text=TASK,
            flags={"discuss": True},
        )
        assert talk["kind"] == "input"
        assert talk["data"]["questions"]


async def test_a_gate_and_control_past_it_are_components(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK, effort="S")
        await host.drive(await host.next(), "checkpoint-a")
        gate = await fitting(host, "pipeline_next_action", workspace=host.workspace)
        assert gate["data"]["digest"]
        past = await fitting(host, "run_control", workspace=host.workspace, operation="abandon")
        assert past["title"] == "Past an open question"
        assert past["data"]["gate"] == "checkpoint-a"
        assert [each["answer"] for each in past["actions"]] == ["abandon", "decline"]
