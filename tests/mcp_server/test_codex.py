"""Codex as the host, with a home of its own, no key and no account: our tools reach its model, and
a gate does not open by itself.
"""

import json
from pathlib import Path

import pytest

from tests.fakes.sample import Sample
from tests.mcp_server.at_home import AtHome, machine
from tests.mcp_server.host import hosting, shape, tools_of_ours
from tests.mcp_server.programs import programs
from tests.mcp_server.responses_api import offered, provider, says, uses
from tests.mcp_server.scripted import Provider
from tests.mcp_server.test_plugin import set_up_lines

# What has to be fetched for it takes 400 MB.
pytestmark = pytest.mark.clients

TASK = "Nobody is on call before the start"
OURS = "mcp__forge_bot"


class Codex(AtHome):
    """The program in the sample repository."""

    def __init__(self, sample: Sample, home: Path) -> None:
        vendor = programs("codex").modules / "@openai" / f"codex-{machine()}" / "vendor"
        super().__init__(sample, home, next(vendor.glob("*/bin/codex")))

    def session(self, asked: Provider) -> str:
        """A session without a terminal that waits for our server; a scripted model answers, and
        nobody else is asked anything.
        """
        settings: dict[str, str | bool | dict[str, str]] = {
            "model": "scripted",
            "model_provider": "scripted",
            "model_providers.scripted": {
                "name": "scripted",
                "base_url": f"{asked.url}/v1",
                "wire_api": "responses",
            },
            "analytics.enabled": False,
            "check_for_update_on_startup": False,
            "features.plugins": False,
            "mcp_servers.forge-bot.required": True,
        }
        words = [
            word for key, value in settings.items() for word in ("-c", f"{key}={_toml(value)}")
        ]
        return self("exec", *words, "go")


def _toml(value: str | bool | dict[str, str]) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {json.dumps(item)}' for key, item in value.items())}}}"
    return json.dumps(value)


@pytest.fixture
def codex(sample: Sample, tmp_path: Path) -> Codex:
    return Codex(sample, tmp_path / "home")


def test_the_line_of_the_documentation_is_what_it_keeps(codex: Codex) -> None:
    line = set_up_lines()["Codex"]
    assert line[0] == "codex"
    codex(*line[1:])
    (server,), _ = json.JSONDecoder().raw_decode(codex("mcp", "list", "--json"))
    assert (server["name"], server["enabled"]) == ("forge-bot", True)
    assert (server["transport"]["command"], server["transport"]["args"]) == ("forge-bot", ["mcp"])
    assert codex.sample.git("status", "--porcelain") == ""


async def test_all_tools_and_their_answers_reach_its_model(codex: Codex) -> None:
    codex(*set_up_lines()["Codex"][1:])
    begins = {
        "workspace": ".specs/x",
        "task_text": TASK,
        "flags": {"skip_pr": True},
        "user_confirmation": {"effort": "S"},
    }
    steps = [
        uses("read_mcp_resource", server="forge-bot", uri="forge://project/rota/context"),
        uses("pipeline_init_with_context", of=OURS, **begins),
        uses("state_resume_info", of=OURS, workspace=".specs/none"),
        says("Fine."),
    ]
    with provider(*steps) as asked:
        answer = codex.session(asked)
    assert "Fine." in answer, answer
    assert {
        name: shape(item) for name, item in offered(asked.asked[0], OURS).items()
    } == await tools_of_ours()
    assert "## Commands" in asked.words
    (run,) = (codex.sample.path / ".specs").iterdir()
    assert f".specs/{run.name}" in asked.words
    assert "REQUEST-004: There is no run 'none'" in asked.words


async def test_its_model_cannot_answer_a_gate_where_nobody_is_asked(codex: Codex) -> None:
    codex(*set_up_lines()["Codex"][1:])
    async with hosting(codex.sample) as host:
        await host.begin(TASK)
        gate = await host.drive(await host.next())
    before = codex.sample.git("rev-parse", "HEAD")
    steps = [
        uses("pipeline_next_action", of=OURS, workspace=host.workspace),
        uses(
            "pipeline_next_action",
            of=OURS,
            workspace=host.workspace,
            user_response="approve",
            digest=gate["digest"],
        ),
        says("Fine."),
    ]
    with provider(*steps) as asked:
        answer = codex.session(asked)
    assert "Fine." in answer, answer
    assert "the question was answered with decline, which is neither a yes nor a no" in asked.words
    assert "an answer that the model passes on does not count" in asked.words
    assert codex.sample.git("rev-parse", "HEAD") == before
