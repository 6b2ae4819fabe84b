"""What a client's agents changed is run by the project's commands when it is reported, and goes back
while it is red.
"""

import json
from collections.abc import Mapping

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, hosting, two_tasks
from tests.mcp_server.test_tree import at, files
from tests.runs.test_formatted_edits import FORMATTER


def says(*edits: Mapping[str, str]) -> script.Answer:
    return script.change(*(dict(edit) for edit in edits))


async def reported(host: Host, action: Json, tokens: int = 0) -> Json:
    return await host.next(
        previous_action_complete=True, action_id=action["action_id"], previous_tokens=tokens
    )


async def test_edits_that_break_a_test_come_back_and_are_taken_when_they_are_mended(
    clients_approved_sample: Sample,
) -> None:
    async with hosting(clients_approved_sample) as host:
        host.answers = {
            **script.usual(),
            ("implementer", "*", "task 1, 1"): says(script.GUARD, script.TEST, script.BREAKS),
        }
        host.perform(action := await at(host, "implementer"))
        before = host.git("rev-parse", "HEAD")
        again = await reported(host, action, tokens=600)
        assert (again["type"], again["action_id"]) == ("spawn_agent", action["action_id"])
        result = again["report_result"]
        assert result["next_action_hint"] == "revision_required"
        assert "test_" in result["findings"][0]["description"]
        assert "AssertionError" in result["warning"]
        assert "\x1b" not in result["warning"]
        assert host.git("rev-parse", "HEAD") == before
        assert "return self.people[0]" in (
            clients_approved_sample.path / "rota/schedule.py"
        ).read_text("utf-8")
        mended = (clients_approved_sample.path / "rota/schedule.py").read_text("utf-8")
        (clients_approved_sample.path / "rota/schedule.py").write_text(
            mended.replace(script.MENDS["old"], script.MENDS["new"]), "utf-8"
        )
        after = await reported(host, again, tokens=100)
        assert after["phase"] != "phase-5"
        assert files(host) == {"rota/schedule.py", "tests/test_before.py"}
        document = (clients_approved_sample.path / host.workspace / "impl-1.md").read_text("utf-8")
        assert "- Went back to the implementer: tests are red:" in document
        assert "Nothing is newly red after the last edits." in document
        state = (clients_approved_sample.path / host.workspace / "reports.jsonl").read_text("utf-8")
        assert '"inputTokens":700' in state.replace(" ", "")
        assert host.git("worktree", "list").count("\n") == 0


async def test_the_same_red_files_come_back_three_times_and_run_once(
    clients_approved_sample: Sample,
) -> None:
    async with hosting(clients_approved_sample) as host:
        host.answers = {
            **script.usual(),
            ("implementer", "*", "*"): says(script.GUARD, script.TEST, script.BREAKS),
        }
        host.perform(action := await at(host, "implementer"))
        for _ in range(3):
            action = await reported(host, action)
            assert action["report_result"]["next_action_hint"] == "revision_required"
        after = await reported(host, action)
        assert after["phase"] != "phase-5"
        document = (clients_approved_sample.path / host.workspace / "impl-1.md").read_text("utf-8")
        assert "- Still newly red:" in document


async def test_a_server_that_starts_anew_knows_what_was_red(
    clients_approved_sample: Sample,
) -> None:
    async with hosting(clients_approved_sample) as host:
        host.answers = {
            **script.usual(),
            ("implementer", "*", "*"): says(script.GUARD, script.TEST, script.BREAKS),
        }
        host.perform(action := await at(host, "implementer"))
        first = await reported(host, action)
        workspace = host.workspace
    async with hosting(clients_approved_sample) as host:
        host.workspace = workspace
        second = await reported(host, action)
        assert second["report_result"] == first["report_result"]


async def test_the_tests_of_a_clients_edits_run_without_the_rest_of_them_once(
    clients_approved_sample: Sample,
) -> None:
    async with hosting(clients_approved_sample) as host:
        host.answers = script.usual()
        host.perform(action := await at(host, "implementer"))
        await reported(host, action)
        reports = (clients_approved_sample.path / host.workspace / "reports.jsonl").read_text(
            "utf-8"
        )
        state = json.loads(
            (clients_approved_sample.path / host.workspace / "state.json").read_text("utf-8")
        )
        (fact,) = state["tasks"][0]["withoutChange"]["facts"]
        assert fact == "Without the change, the 1 test in `tests/test_before.py` fails."
        assert reports.count('"without_change"') == 1
        assert host.git("worktree", "list").count("\n") == 0


async def test_what_a_clients_agent_wrote_is_formatted_before_it_is_committed(
    sample: Sample,
) -> None:
    for name, text in {
        ".forge/config.yml": "commands: {format: python3 tools/black}\n",
        "tools/black": FORMATTER,
    }.items():
        (sample.path / name).parent.mkdir(exist_ok=True)
        (sample.path / name).write_text(text)
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "format")
    ugly = {**script.GUARD, "new": script.GUARD["new"].replace("None\n", "None   \n")}
    async with hosting(sample) as host:
        host.answers = {
            **script.usual(),
            ("implementer", "*", "*"): says(ugly, script.TEST),
        }
        host.perform(action := await at(host, "implementer"))
        after = await reported(host, action)
        assert after["phase"] != "phase-5"
        assert files(host) == {"rota/schedule.py", "tests/test_before.py"}
        assert "return None\n" in host.git("show", "HEAD:rota/schedule.py")
        assert "return None\n" in (sample.path / "rota/schedule.py").read_text("utf-8")
        assert host.git("status", "--porcelain") == ""
        document = (sample.path / host.workspace / "impl-1.md").read_text("utf-8")
        assert "- `python3 tools/black` formatted `rota/schedule.py`." in document.splitlines()


async def test_tasks_that_are_reported_together_are_tried_together(
    clients_medium_sample: Sample,
) -> None:
    async with hosting(clients_medium_sample) as host:
        host.answers = {**script.usual(), **two_tasks()}
        host.perform(action := await at(host, "implementer"))
        review = await reported(host, action)
        assert (review["phase"], review["parallel_task_ids"]) == ("phase-6", ["1", "2"])
        for task in "12":
            document = (clients_medium_sample.path / host.workspace / f"impl-{task}.md").read_text(
                "utf-8"
            )
            assert "- Nothing is newly red, compared with the commit before them." in document


async def test_a_change_that_waits_for_a_person_is_not_run(clients_approved_sample: Sample) -> None:
    async with hosting(clients_approved_sample) as host:
        host.answers = {
            **script.usual(),
            ("implementer", "*", "*"): says(script.BREAKS, script.WORKFLOW),
        }
        host.perform(action := await at(host, "implementer"))
        asked = await reported(host, action)
        assert (asked["type"], asked["name"]) == ("checkpoint", "checkpoint-c")
