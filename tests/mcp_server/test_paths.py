"""What agents of a client are handed: prompts as paths, files a phase needs, two documents by one
agent.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from mcp import Client

from forge_bot.mcp_server.sdk_server.server import make_server
from tests.fakes import script
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, Refusal, hosting, two_tasks

TASK = "Nobody is on call before the start"
INVESTIGATION = script.document(
    "Root Cause or Integration Points", "Edge Cases and Risks", "Impact", "Open Questions"
)["artifact_markdown"]


@asynccontextmanager
async def by_path(sample: Sample) -> AsyncGenerator[Host]:
    """A client of a server that hands out paths."""
    async with Client(make_server(sample.path, by_path=True)) as client:
        yield Host(client, sample.path)


async def test_a_prompt_is_a_file_that_git_does_not_see_until_the_run_is_over(
    sample: Sample,
) -> None:
    async with by_path(sample) as host:
        await host.begin(TASK)
        action = await host.next()
        prompt = (host.path / action["prompt_path"]).read_text(encoding="utf-8")
        assert len(prompt) == action["prompt_characters"]
        assert "## Input Files" in prompt
        assert action["prompt_path"] in action["prompt"]
        assert ".prompts" not in host.git("status", "--porcelain", "--untracked-files=all")
        await host.drive(action)
        done = await host.drive(await host.next(user_response="approve"))
        assert done["type"] == "done"
        assert "write_file" not in {asked["type"] for asked in host.asked}
        assert not list((host.path / ".specs").glob(".prompts/*/*"))


@pytest.mark.slow
async def test_each_agent_of_a_wave_has_a_prompt_of_its_own(sample: Sample) -> None:
    async with by_path(sample) as host:
        host.answers = {**script.usual(), **two_tasks()}
        await host.begin(TASK, "M")
        await host.drive(await host.next())
        wave = await host.drive(await host.next(user_response="approve"), "implementer")
        first, second = (
            (host.path / wave["prompt_path"].replace("{task}", task)).read_text(encoding="utf-8")
            for task in wave["parallel_task_ids"]
        )
        assert "Task 1: Nobody before the start" in first
        assert "Task 1: Nobody before the start" not in second


async def test_one_agent_may_write_further_documents_and_each_is_read(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK, "M")
        action = await host.next()
        assert "/design.md` too, files of their own" in action["prompt"]
        host.perform(action)
        host.write("investigation.md", "# Investigation\n")
        with pytest.raises(Refusal, match="Impact: the heading is missing"):
            await report(host, action)
        host.write("investigation.md", str(INVESTIGATION))
        after = await report(host, action)
        assert after["agent"] == "architect"


async def report(host: Host, action: Json) -> Json:
    """The action after a report."""
    return await host.next(previous_action_complete=True, action_id=action["action_id"])
