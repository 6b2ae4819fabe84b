"""Reports of a client: they count once, only with their effect, and what is wrong with them can be
repaired.
"""

from pathlib import Path

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, Refusal, hosting, two_tasks

TASK = "Nobody is on call before the start"


UNFIT = b"# Analysis\n\n## Relevant Files\n\n- rota/schedule.py\n"
WRONG: list[tuple[bytes, Json, str]] = [
    (b"", {"action_id": "phase-7.99"}, "is not outstanding; what is: phase-1."),
    (b"", {}, "MCP-005: phase-1.2 asks for "),
    (b"# Analysis\n\xff\xfe\n", {}, "is not UTF-8: "),
    *[(UNFIT, Json(), "Open Questions: the heading is missing; add `## Open Questions`")] * 2,
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
async def test_a_failure_is_reported_as_one_and_asked_again(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        action = await host.next()
        with pytest.raises(Refusal, match="MCP-006"):
            await host.next(previous_error="the agent ran out of tokens")
        again = await host.next(
            previous_error="the agent ran out of tokens", action_id=action["action_id"]
        )
        assert again["phase"] == "phase-1"
        assert "the agent ran out of tokens" in again["prompt"]
        asked = await host.next(previous_error="once more", action_id=again["action_id"])
        assert (asked["name"], asked["options"]) == ("checkpoint-c", ["reject"])


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


PULL = "https://github.com/acme/rota/pull/43"


async def to_pull_request(host: Host, sample: Sample, remote: Path) -> Json:
    """The action that opens the pull request, after the push that comes before it."""
    sample.git("init", "-q", "--bare", str(remote))
    sample.git("remote", "add", "origin", str(remote))
    await host.begin(TASK)
    await host.drive(await host.next())
    push = await host.drive(await host.next(user_response="approve"))
    host.git(*push["commands"][1:])
    return await host.next(
        action_id=push["action_id"],
        previous_output="branch set up to track",
        previous_setup_only=True,
    )


@pytest.mark.slow
async def test_an_exec_that_is_reported_with_its_output_is_reported(
    sample: Sample, tmp_path: Path
) -> None:
    async with hosting(sample) as host:
        create = await to_pull_request(host, sample, tmp_path / "remote.git")
        assert create["commands"][:3] == ["gh", "pr", "create"]
        after = await host.next(action_id=create["action_id"], previous_output=f"{PULL}\n")
        assert (after["type"], after["phase"]) == ("write_file", "final-summary")
        assert after["report_result"]["display_message"] == f"PR Creation: opened {PULL}"
        again = await host.next(action_id=create["action_id"], previous_output=f"{PULL}\n")
        assert (again["action_id"], again["report_result"]) == (after["action_id"], None)
        assert "was recorded before" in again["warning"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "named"),
    [
        ({"previous_output": PULL}, "previous_output"),
        ({"action_id": "pr-creation.9"}, "action_id"),
        ({"previous_tokens": 1000, "previous_model": "opus"}, "previous_tokens, previous_model"),
        ({"previous_setup_only": True}, "previous_setup_only"),
        ({"digest": "3f9c2a1b"}, "digest"),
    ],
)
async def test_what_is_no_report_is_said_to_be_none(sample: Sample, said: Json, named: str) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        action = await host.next()
        answer = await host.next(**said)
        assert answer["action_id"] == action["action_id"]
        assert answer["warning"].startswith(f"nothing was recorded: {named} ")
        assert "previous_action_complete" in answer["warning"]


@pytest.mark.slow
async def test_a_document_that_is_the_same_byte_for_byte_counts_beside_changed_code(
    sample: Sample,
) -> None:
    failing = script.review(
        "FAIL", "[CRITICAL] the guard is at the wrong place", extra=["Acceptance Criteria"]
    )
    async with hosting(sample) as host:
        host.answers = {**script.usual(), ("impl-reviewer", "*", "task 1, 1"): failing}
        await host.begin(TASK, "M")
        await host.drive(await host.next())
        first = await host.drive(await host.next(user_response="approve"), "implementer")
        host.perform(first)
        review = await host.next(previous_action_complete=True, action_id=first["action_id"])
        host.perform(review)
        again = await host.next(previous_action_complete=True, action_id=review["action_id"])
        assert again["agent"] == "implementer"
        document = (host.path / host.workspace / "impl-1.md").read_bytes()
        unchanged = await host.next(previous_action_complete=True)
        assert unchanged["action_id"] == again["action_id"], "neither document nor code has changed"
        with (host.path / "rota" / "schedule.py").open("a", encoding="utf-8") as file:
            file.write("\n# mended\n")
        after = await host.next(previous_action_complete=True)
        assert after["agent"] == "impl-reviewer"
        assert (host.path / host.workspace / "impl-1.md").read_bytes() == document
        assert "# mended" in host.git("show", "HEAD:rota/schedule.py")


@pytest.mark.slow
async def test_in_a_wave_a_task_with_the_same_document_is_known_by_the_files_it_declares(
    sample: Sample,
) -> None:
    failing = script.review("FAIL", "[CRITICAL] both are wrong", extra=["Acceptance Criteria"])
    answers = {**script.usual(), **two_tasks()}
    for task in ("1", "2"):
        answers["impl-reviewer", "*", f"task {task}, 1"] = failing
    async with hosting(sample) as host:
        host.answers = answers
        await host.begin(TASK, "M")
        await host.drive(await host.next())
        wave = await host.drive(await host.next(user_response="approve"), "impl-reviewer")
        host.perform(wave)
        again = await host.next(previous_action_complete=True, action_id=wave["action_id"])
        assert (again["agent"], again["parallel_task_ids"]) == ("implementer", ["1", "2"])
        with (host.path / "rota" / "schedule.py").open("a", encoding="utf-8") as file:
            file.write("\n# mended\n")
        left = await host.next(previous_action_complete=True, action_id=again["action_id"])
        assert left["output_file"] == "impl-2.md", (
            "task 2 declares another file, which is as it was"
        )
