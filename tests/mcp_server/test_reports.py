"""Reports of a client: they count once, only with their effect, and what is wrong with them can be
repaired.
"""

import asyncio
from typing import Any

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.mcp_server.host import Json, Refusal, hosting

TASK = "Nobody is on call before the start"


UNFIT = b"# Analysis\n\n## Relevant Files\n\n- rota/schedule.py\n"
WRONG: list[tuple[bytes, Json, str]] = [
    (b"", {"action_id": "phase-7.99"}, "is not outstanding; what is: phase-1."),
    (b"", {}, "MCP-005: phase-1.2 asks for "),
    (b"# Analysis\n\xff\xfe\n", {}, "is not UTF-8: "),
    *[
        (
            UNFIT,
            Json(),
            "Root Cause or Integration Points: the heading is missing; add `## Root Cause or Integration Points`, ",
        )
    ]
    * 2,
]
"""What an agent left, what is reported, and what the report is told."""


async def test_a_report_that_is_wrong_is_told_and_can_be_repaired(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        action = await host.next()
        same = await host.next(previous_action_complete=True)
        assert (same["action_id"], same["report_result"]) == (action["action_id"], None)
        assert "nothing new" in same["warning"]
        with pytest.raises(Refusal, match=r"phase-1\."):
            await host.call("pipeline_report_result", workspace=host.workspace, phase="phase-7")
        document = host.path / host.workspace / "analysis.md"
        for text, more, words in WRONG:
            if text:
                document.write_bytes(text)
            report = {"previous_action_complete": True, "action_id": action["action_id"], **more}
            with pytest.raises(Refusal) as caught:
                await host.next(**report)
            assert words in str(caught.value)
            assert caught.value.error["node_id"] == "analysis.md"
        # The third document that is unfit is recorded, and the phase is asked again.
        again = await host.next(previous_action_complete=True, action_id=action["action_id"])
        assert (again["phase"], again["action_id"] != action["action_id"]) == ("phase-1", True)
        host.perform(again)
        after = await host.next(previous_action_complete=True, action_id=again["action_id"])
        assert after["phase"] == "phase-3"
        commits = host.git("rev-list", "--count", "HEAD")
        repeated = await host.next(previous_action_complete=True, action_id=again["action_id"])
        assert repeated["action_id"] == after["action_id"]
        assert host.git("rev-list", "--count", "HEAD") == commits


@pytest.mark.slow
async def test_a_clients_word_for_green_tests_is_worth_nothing(sample: Sample) -> None:
    breaks = script.change(script.GUARD, script.TEST, script.BREAKS)
    async with hosting(sample) as host:
        host.answers = {
            **script.usual(),
            ("implementer", "*", "task 1"): breaks,
            ("implementer", "*", "*"): script.change(script.MENDS),
        }
        await host.begin(TASK)
        await host.drive(await host.next())
        action = await host.drive(await host.next(user_response="approve"), "final-verification")
        fixes = [item for item in host.asked if item.get("output_file", "").startswith("impl-fix-")]
        assert len(fixes) == 1
        assert action["phase"] == "final-verification"


@pytest.mark.slow
async def test_an_exec_without_the_address_of_its_pull_request_is_not_believed(
    sample: Sample,
) -> None:
    sample.git("remote", "add", "origin", str(sample.path))
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.drive(await host.next())
        push = await host.drive(await host.next(user_response="approve"))
        failed = await host.next(
            previous_error="remote: permission denied", action_id=push["action_id"]
        )
        assert (failed["type"], failed["name"]) == ("checkpoint", "checkpoint-c")
        assert "permission denied" in failed["present_to_user"]


async def test_calls_at_once_lose_no_report_and_a_long_call_blocks_no_other(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK, "M")
        # Setup and the baseline run in this call; lists are answered meanwhile.
        first = asyncio.create_task(host.next())
        assert len((await host.client.list_tools()).tools) == 9
        assert not first.done()
        host.perform(action := await first)
        reply: dict[str, Any] = {"previous_action_complete": True, "action_id": action["action_id"]}
        answers = await asyncio.gather(*(host.next(**reply) for _ in range(4)))
    assert {answer["phase"] for answer in answers} == {"phase-2"}
    assert sum(answer["report_result"] is not None for answer in answers) == 1
