"""A recorded run whose first phase asks for a tool and a skill, at the terminal and in the thread:
a real server, a real script in the sandbox, and the same answers of the model in both. Begun at the
terminal, it can go on over MCP.
"""

import asyncio
import json
import re

import pytest
from mcp.types import TextResourceContents

from tests.bot.stage import Stage, heard
from tests.fakes import team
from tests.fakes.sample import Sample
from tests.fakes.tool_servers import agree_here
from tests.mcp_server.host import Json, hosting

pytestmark = pytest.mark.slow

MODEL = f"replay:{team.RECORD}"
TOOL = r"mcp_tickets_read_ticket`?(?: \||:) 1 call, \d+\.\d s"
SKILL = r"skill_change-note`?(?: \||:) 1 call, \d+\.\d s"
UNUSED = r"mcp_tickets_list_tickets`?(?: \||:) offered, not used"


def shown(text: str) -> list[str]:
    """What a face says of the two that were used and the one that was not."""
    told = " ".join(text.split())
    return [found[0] for each in (TOOL, SKILL, UNUSED) if (found := re.search(each, told))]


def configured(sample: Sample) -> None:
    """Put the team's files into the sample repository."""
    sample.git("rm", "-q", "tests/test_next.py")
    for name, content in team.files().items():
        (sample.path / name).parent.mkdir(parents=True, exist_ok=True)
        (sample.path / name).write_bytes(content)
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "the team's")
    agree_here(sample.path)


def test_at_the_terminal(sample: Sample) -> None:
    configured(sample)
    asked = sample.forge("run", team.REQUEST, "--effort", "S", "--yes", "--model", MODEL)
    assert asked.code == 3, asked.err
    done = sample.forge("approve", "--model", MODEL)
    assert done.code == 0, done.err
    assert len(shown(sample.forge("status").out)) == 3
    assert len(shown(sample.forge("show", "summary.md").out)) == 3
    assert len(shown(sample.forge("show", "pull-request.md").out)) == 3
    # The entry that the skill wrote with what its script said is in the change.
    assert team.ENTRY in sample.git("show", f"{sample.offered}:CHANGES.md").splitlines()


def test_in_the_thread(stage: Stage) -> None:
    stage.hub.commit(stage.repo, "main", {**team.files(), "tests/test_next.py": None})
    title, _, body = team.REQUEST.partition("\n\n")
    stage.issue = stage.hub.issue(stage.repo, title, body, by="maint")
    stage.environ["FORGE_BOT_MODEL"] = MODEL
    stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
    asked = heard(stage.label())
    assert asked.code == 0, asked.log
    assert team.used(stage.state) == team.USED
    assert len(shown(stage.said("tracking")[-1])) == 3
    done = heard(stage.say("/approve"))
    assert done.code == 0, done.log
    assert team.used(stage.state) == team.USED
    assert len(shown(stage.said("tracking")[-1])) == 3
    assert len(shown(stage.document("summary.md"))) == 3
    change = stage.repo.bare.texts(stage.offered, "CHANGES.md")["CHANGES.md"]
    assert team.ENTRY in change.splitlines()


def test_what_was_looked_up_at_the_terminal_is_there_for_a_clients_agents(sample: Sample) -> None:
    configured(sample)
    sample.git("switch", "-qc", "ticket-7")
    words = ("--effort", "S", "--yes", "--here", "--until", "phase-1", "--model", MODEL)
    begun = sample.forge("run", team.REQUEST, *words)
    assert begun.code == 3, begun.err
    (analysis,) = sample.path.glob(".specs/*/analysis.md")
    assert team.ENTRY in analysis.read_text(encoding="utf-8")
    name = analysis.parent.name

    async def over_mcp() -> tuple[Json, Json]:
        async with hosting(sample) as host:
            found = await host.call("pipeline_init", arguments=f".specs/{name}")
            host.workspace = found["workspace"]
            action = await host.next()
            read = await host.client.read_resource(f"forge://run/{name}/state")
            assert isinstance(read.contents[0], TextResourceContents)
            return action, json.loads(read.contents[0].text)

    action, state = asyncio.run(over_mcp())
    assert (action["type"], action["phase"]) == ("spawn_agent", "phase-3")
    assert "analysis.md" in action["prompt"]
    assert team.used(state) == team.USED
