"""A person's answer: bound to what was shown, never guessed, asked by the client itself where it
can; one that comes later changes nothing.
"""

from typing import Any

import pytest
from mcp.types import ElicitResult

from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, Refusal, hosting

TASK = "Nobody is on call before the start"


class Person:
    """Answers the forms of a client in order, and keeps what it was shown."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.answers = list(answers)
        self.seen: list[Any] = []

    async def __call__(self, _context: Any, params: Any) -> ElicitResult:
        self.seen.append(params)
        return self.answers.pop(0)


def says(answer: str, notes: str = "") -> ElicitResult:
    return ElicitResult(action="accept", content={"answer": answer, "notes": notes})


async def to_gate(host: Host) -> Json:
    await host.begin(TASK)
    return await host.drive(await host.next())


NO_ANSWERS = {
    "looks good to me": "GATE-004",
    "approve, but rename it": "GATE-004",
    "approve deadbee": "GATE-002",
    "reject": "GATE-003",
}


async def test_an_answer_that_the_model_passes_on_is_bound_to_what_was_shown_and_unverified(
    clients_sample: Sample,
) -> None:
    async with hosting(clients_sample) as host:
        gate = await host.asked_now()
        for words, code in NO_ANSWERS.items():
            with pytest.raises(Refusal, match=code):
                await host.next(user_response=words)
        design = host.path / host.workspace / "design.md"
        design.write_text(
            f"{design.read_text(encoding='utf-8')}\nOne more thing.\n", encoding="utf-8"
        )
        with pytest.raises(Refusal, match="GATE-002"):
            await host.next(user_response="approve", digest=gate["digest"])
        fresh = await host.next()
        assert "One more thing." in fresh["present_to_user"]
        after = await host.next(user_response=f"Approve {fresh['digest'][:12]}")
        assert after["type"] == "write_file"
        assert "Approved-by: mcp, unverified via mcp" in host.git("log", "--format=%B")
        with pytest.raises(Refusal, match="GATE-001"):
            await host.next(user_response="approve")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_can_ask_is_asked_and_the_run_goes_on(
    sample: Sample, mode: str
) -> None:
    person = Person(says("approve"))
    async with hosting(sample, mode=mode, elicitation_callback=person) as host:
        # The one gate on the way is answered within the call that reaches it.
        assert (await to_gate(host))["type"] == "done"
        assert "Approved-by: " in (record := host.git("log", "--format=%B"))
        assert "via mcp-elicitation" in record
    assert len(person.seen) == 1
    assert "## Human Reviews Design" in person.seen[0].message
    assert person.seen[0].requested_schema["properties"]["answer"]["enum"] == [
        "approve",
        "reject",
        "abandon",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    "answer",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="accept", content={"answer": "yes"}),
        ElicitResult(action="accept", content={}),
    ],
)
async def test_neither_decline_nor_cancel_nor_a_strange_form_is_an_approval(
    sample: Sample, mode: str, answer: ElicitResult
) -> None:
    person = Person(answer)
    async with hosting(sample, mode=mode, elicitation_callback=person) as host:
        gate = await to_gate(host)
        assert (gate["type"], gate["name"]) == ("checkpoint", "checkpoint-a")
        assert "Nobody has answered yet" in gate["warning"]
        assert "Approved-by" not in host.git("log", "--format=%B")


async def test_where_the_client_asks_a_models_yes_does_not_count(clients_sample: Sample) -> None:
    person = Person(ElicitResult(action="decline"), ElicitResult(action="decline"))
    async with hosting(clients_sample, elicitation_callback=person) as host:
        await host.asked_now()
        with pytest.raises(Refusal, match="MCP-011"):
            await host.next(user_response="approve")
        assert "Approved-by" not in host.git("log", "--format=%B")


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
