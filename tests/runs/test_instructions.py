"""The standing rules in runs: read at the base commit, shown at the questions, obeyed over every
door.
"""

import json

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.mcp_server.host import hosting, two_tasks

TASK = "Nobody is on call before the start"
REASON = "Only the people on call change the rota."
RULES = f"""---
rules:
  - id: schedule
    when: {{files_match: ["rota/sched*"]}}
    require: human_gate
    reason: {REASON}
---
"""
TITLED = RULES.replace('files_match: ["rota/sched*"]', "title_matches: nobody")


def keep(sample: Sample, text: str = RULES) -> None:
    """Commit the rules."""
    (sample.path / ".specs").mkdir()
    (sample.path / ".specs" / "instructions.md").write_text(text)
    sample.git("add", "-A")
    sample.git("commit", "-qm", "standing rules")


async def test_a_task_that_touches_the_paths_of_a_rule_waits_for_a_person_and_the_rule_is_shown(
    sample: Sample,
) -> None:
    keep(sample)
    async with hosting(sample) as host:
        host.answers = {**script.usual(), **two_tasks()}
        await host.begin(TASK, "L")
        design = await host.drive(await host.next())
        assert design["name"] == "checkpoint-a"
        assert "rule schedule: tasks that touch rota/sched*" in design["present_to_user"]
        assert REASON in design["present_to_user"]
        plan = await host.next(user_response="approve")
        assert plan["agent"] == "task-decomposer"
        assert REASON in plan["prompt"]
        tasks = await host.drive(plan)
        assert tasks["name"] == "checkpoint-b"
        assert "Task 1 (Nobody before the start) waits for a person" in tasks["present_to_user"]
        assert "Task 2" not in tasks["present_to_user"].partition("### ")[0]
        gate = await host.drive(await host.next(user_response="approve"), "impl-reviewer")
        state = json.loads((host.path / host.workspace / "state.json").read_text(encoding="utf-8"))
        assert [task["spec"]["mode"] for task in state["tasks"]] == ["human_gate", "parallel"]
        while gate["type"] != "human_gate":
            host.perform(gate)
            gate = await host.drive(
                await host.next(previous_action_complete=True, action_id=gate["action_id"]),
                "impl-reviewer",
            )
        assert REASON in gate["present_to_user"]
        assert [each for each in host.asked if each.get("output_file") == "impl-1.md"] == []


@pytest.mark.slow
async def test_an_agent_that_touches_such_a_path_without_declaring_it_has_its_change_held(
    sample: Sample,
) -> None:
    keep(sample)
    undeclared = script.TASKS.replace("- rota/schedule.py\n", "")
    async with hosting(sample) as host:
        host.answers = {
            **script.usual(),
            ("task-decomposer", "*", "*"): {"artifact_markdown": undeclared},
        }
        await host.begin(TASK, "M")
        await host.drive(await host.next())
        held = await host.drive(await host.next(user_response="approve"))
        assert held["name"] == "checkpoint-c"
        assert "rota/schedule.py" in held["present_to_user"]
        assert host.git("diff", "HEAD", "--stat", "--", "rota") == ""


@pytest.mark.slow
def test_a_run_keeps_the_rules_of_its_base_commit(sample: Sample) -> None:
    keep(sample, TITLED)
    sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    (sample.path / ".specs" / "instructions.md").write_text("---\nrules: []\n---\n")
    sample.git("commit", "-qam", "no rules any more")
    assert (
        "Something only a person can do" in sample.forge("approve", "--model", sample.model()).out
    )


def test_rules_that_are_broken_stop_a_run_before_it_begins(sample: Sample) -> None:
    keep(sample)
    (sample.path / ".specs" / "instructions.md").write_text("---\nrules: [{id: a}]\n---\n")
    sample.git("commit", "-qam", "broken rules")
    said = sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert said.code == 5
    assert ".specs/instructions.md:2: rules.0.when: Field required" in said.err
    assert sample.git("branch", "--format=%(refname:short)") == "main"
