"""Whole runs over stdin and stdout, by a client that knows nothing but the actions it gets."""

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, over_stdio, two_tasks

TASK = "Nobody is on call before the start"


def steps(host: Host) -> list[str]:
    """What was asked, in order: phases with their tasks, and gates."""
    answer: list[str] = []
    for action in host.asked:
        tasks = ",".join(action.get("parallel_task_ids") or ())
        answer.append(
            " ".join(
                filter(None, (action.get("name") or action.get("phase") or action["type"], tasks))
            )
        )
    return [
        step
        for place, step in enumerate(answer)
        if place == 0 or host.asked[place]["action_id"] != host.asked[place - 1]["action_id"]
    ]


@pytest.mark.slow
async def test_a_large_run_with_revise_fail_reject_a_wave_and_a_human_gate(sample: Sample) -> None:
    tasks = two_tasks()
    plan = str(tasks["task-decomposer", "*", "*"]["artifact_markdown"])
    human = (
        "\n## Task 3: Tell the team\nmode: human_gate\ndepends_on: [1, 2]\n\nAcceptance"
        " criteria:\n- [ ] AC-1: told\n"
    )
    answers = {
        **script.usual(),
        **tasks,
        ("task-decomposer", "*", "*"): {"artifact_markdown": plan + human},
        ("design-reviewer", "*", "1"): script.review("REVISE", "[CRITICAL] The end is missing"),
        ("impl-reviewer", "*", "task 1, 1"): script.review(
            "FAIL", "[MAJOR] Not tested", extra=["Acceptance Criteria"]
        ),
        ("implementer", "*", "task 1, 2"): script.change(),
    }
    async with over_stdio(sample) as host:
        host.answers = answers
        await host.begin(TASK, "L")
        gate = await host.drive(await host.next())
        assert gate["name"] == "checkpoint-a"
        gate = await host.drive(await host.next(user_response="reject keep the old name"))
        gate = await host.drive(await host.next(user_response="approve", digest=gate["digest"]))
        assert gate["name"] == "checkpoint-b"
        gate = await host.drive(await host.next(user_response="approve"))
        assert gate["type"] == "human_gate"
        done = await host.drive(await host.next(user_response="done", action_id=gate["action_id"]))
        assert done["type"] == "done"
        assert steps(host) == [
            "phase-1", "phase-2", "phase-3", "phase-3b", "phase-3", "phase-3b", "checkpoint-a",
            "phase-3", "phase-3b", "checkpoint-a", "phase-4", "phase-4b", "checkpoint-b",
            "phase-5 1,2", "phase-6 1,2", "phase-5", "phase-6", "task-3", "phase-7", "final-verification", "final-summary", "done",
        ]  # fmt: skip
        assert host.git("status", "--porcelain") == ""


async def test_a_run_goes_on_after_the_server_went_away_and_a_report_never_came(
    sample: Sample,
) -> None:
    async with over_stdio(sample) as host:
        await host.begin(TASK, "M")
        lost = await host.drive(await host.next(), "investigator")
        host.perform(lost)
    async with over_stdio(sample, host.workspace) as host:
        resumed = await host.call("state_resume_info", workspace=host.workspace)
        assert (resumed["currentPhase"], resumed["instruction"]) == (
            "phase-2",
            "call pipeline_next_action",
        )
        same = await host.next()
        assert (same["action_id"], same["prompt"]) == (lost["action_id"], lost["prompt"])
        # What the agent wrote before the server went away counts, with and without its name.
        after = await host.next(previous_action_complete=True)
        assert after["phase"] == "phase-3"
