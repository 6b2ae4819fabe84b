"""An answer that comes once more counts once, another one is told what counted; a failure has a way
out that a client can take.
"""

import pytest

from tests.fakes.sample import Sample
from tests.mcp_server.host import Json, Refusal, hosting


async def test_an_answer_that_comes_later_is_told_which_one_counted(clients_sample: Sample) -> None:
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
