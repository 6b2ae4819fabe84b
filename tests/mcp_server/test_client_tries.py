"""What a client's agents changed is run by the project's commands when it is reported, and goes back
while it is red.
"""

from collections.abc import Mapping

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, hosting
from tests.mcp_server.test_tree import at, files


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
