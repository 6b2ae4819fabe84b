"""Gemini CLI as the host, with a home of its own and no key: it connects, takes the prompt, and our
tools reach its model.
"""

import json
import re
from pathlib import Path

import pytest

from tests.fakes.sample import Sample
from tests.mcp_server.at_home import AtHome
from tests.mcp_server.gemini_api import offered, provider, says, uses
from tests.mcp_server.host import shape, tools_of_ours
from tests.mcp_server.programs import programs
from tests.mcp_server.scripted import Provider
from tests.mcp_server.test_plugin import set_up_lines

pytestmark = pytest.mark.clients

TASK = "Nobody is on call before the start"
OURS = "mcp_forge-bot_"


class Gemini(AtHome):
    """The program in the sample repository."""

    def __init__(self, sample: Sample, home: Path) -> None:
        result = programs("gemini-cli")
        program = result.modules / "@google" / "gemini-cli" / "bundle" / "gemini.js"
        # It starts itself a second time otherwise, to give itself more memory.
        super().__init__(sample, home, result.node, program, GEMINI_CLI_NO_RELAUNCH="true")
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        }
        (home / ".gemini").mkdir()
        (home / ".gemini" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    def trusting(self, *words: str, **more: str) -> str:
        """What it says in a folder that it trusts."""
        return self(*words, GEMINI_CLI_TRUST_WORKSPACE="true", **more)

    def session(self, asked: Provider, prompt: str) -> str:
        """A session without a terminal, in which a scripted model answers; a model that is named is
        not chosen by another one.
        """
        words = ("--model", "gemini-scripted", "--yolo", "--prompt", prompt)
        return self.trusting(*words, GOOGLE_GEMINI_BASE_URL=asked.url, GEMINI_API_KEY="not-a-key")


@pytest.fixture
def gemini(sample: Sample, tmp_path: Path) -> Gemini:
    return Gemini(sample, tmp_path / "home")


def test_the_line_of_the_documentation_connects_it_and_leaves_the_tree_clean(
    gemini: Gemini,
) -> None:
    line = set_up_lines()["Gemini CLI"]
    assert line[0] == "gemini"
    gemini(*line[1:])
    assert gemini.sample.git("status", "--porcelain") == ""
    answer = gemini.trusting("mcp", "list")
    assert re.search(r"^. forge-bot: forge-bot mcp \(stdio\) - Connected$", answer, re.MULTILINE), (
        answer
    )
    assert re.search(
        r"^. forge-bot: .* - Disabled$", answer := gemini("mcp", "list"), re.MULTILINE
    ), answer


async def test_the_start_prompt_all_tools_and_their_answers_reach_its_model(gemini: Gemini) -> None:
    gemini(*set_up_lines()["Gemini CLI"][1:])
    begins = {
        "workspace": ".specs/x",
        "task_text": TASK,
        "flags": {"skip_pr": True},
        "user_confirmation": {"effort": "S"},
    }
    steps = [
        uses("read_mcp_resource", uri="forge://project/rota/context"),
        uses(f"{OURS}pipeline_init_with_context", **begins),
        uses(f"{OURS}state_resume_info", workspace=".specs/none"),
        says("Fine."),
    ]
    with provider(*steps) as asked:
        answer = gemini.session(asked, f"/forge/start --project_path={gemini.sample.path}")
    assert "Fine." in answer, answer
    assert {
        name: shape(item) for name, item in offered(asked.asked[0], OURS).items()
    } == await tools_of_ours()
    assert "policy_mode=enforced" in asked.words
    assert "## Commands" in asked.words
    (run,) = (gemini.sample.path / ".specs").iterdir()
    assert f"Resource Link: state at forge://run/{run.name}/state" in asked.words
    assert "REQUEST-004: There is no run 'none'" in asked.words
