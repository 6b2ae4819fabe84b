"""An answer that comes once more counts once, another one is told what counted; a failure has a way
out that a client can take.
"""

from typing import Any

import pytest
from mcp.types import InputRequiredResult

from tests.fakes.sample import Sample
from tests.mcp_server.host import Json, Refusal, hosting
from tests.mcp_server.test_gates import Person, says

TASK = "Nobody is on call before the start"


async def test_an_answer_that_comes_later_is_told_which_one_counted(
    clients_sample: Sample,
) -> None:
    async with hosting(clients_sample) as host:
        gate = await host.asked_now()
        reply: Json = {
            "user_response": "approve",
            "action_id": gate["action_id"],
            "digest": gate["digest"],
        }
        after = await host.next(**reply)
        commits = host.git("rev-list", "--count", "HEAD")
        for late in (reply, {**reply, "user_response": "abandon"}):
            same = await host.next(**late)
            assert same["action_id"] == after["action_id"]
            assert f"{gate['action_id']} was answered with approve" in same["warning"]
        reported = await host.next(previous_action_complete=True, action_id=gate["action_id"])
        assert reported["action_id"] == after["action_id"]
        recorded = await host.call(
            "pipeline_report_result",
            workspace=host.workspace,
            phase="phase-4",
            action_id=gate["action_id"],
        )
        assert recorded["state_updated"] is False
        assert host.git("rev-list", "--count", "HEAD") == commits


async def test_a_form_that_comes_back_twice_counts_once(sample: Sample) -> None:
    async with hosting(sample, elicitation_callback=Person()) as host:
        await host.begin(TASK)
        design = await host.drive(await host.next(), "architect")
        host.perform(design)
        call: dict[str, Any] = {
            "workspace": host.workspace, "previous_action_complete": True, "action_id": design["action_id"],
        }  # fmt: skip
        first = await host.client.session.call_tool(
            "pipeline_next_action", call, allow_input_required=True
        )
        assert isinstance(first, InputRequiredResult)
        back: dict[str, Any] = {
            "input_responses": {key: says("approve") for key in first.input_requests or ()}
        }
        heard = [
            await host.client.call_tool(
                "pipeline_next_action", call, request_state=first.request_state, **back
            )
            for _ in range(2)
        ]
        one, two = (Json(result.structured_content or {}) for result in heard)
        assert one["type"] == "write_file"
        assert two["action_id"] == one["action_id"]
        assert one["report_result"] is not None


async def test_a_file_that_could_not_be_written_comes_before_a_person(
    clients_sample: Sample,
) -> None:
    async with hosting(clients_sample) as host:
        await host.asked_now()
        write = await host.next(user_response="approve")
        with pytest.raises(Refusal, match="MCP-006"):
            await host.next(previous_error="disk is read-only")
        asked = await host.next(previous_error="disk is read-only", action_id=write["action_id"])
        assert (asked["type"], asked["name"], asked["options"]) == (
            "checkpoint",
            "checkpoint-c",
            ["approve", "reject"],
        )
        assert asked["report_result"]["next_action_hint"] == "revision_required"
        assert "disk is read-only" in asked["present_to_user"]
        assert "go on without tasks.md" in asked["present_to_user"]
        again = await host.next(user_response="reject: the disk is mended")
        assert (again["type"], again["content"]) == ("write_file", write["content"])
        assert (await host.drive(again, "phase-5"))["phase"] == "phase-5"
