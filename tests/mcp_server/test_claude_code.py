"""Claude Code as the host, with a home of its own and no key: it connects, takes the prompt, and
its hooks stop what they should.
"""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forge_bot.resources import templates
from tests.fakes.sample import Sample
from tests.mcp_server.host import hosting
from tests.mcp_server.messages_api import Block, Provider, provider, says, uses
from tests.mcp_server.programs import programs
from tests.mcp_server.test_hooks import set_up_lines

pytestmark = pytest.mark.clients

TASK = "Nobody is on call before the start"
PLUGIN = templates() / "plugin"
_LONGEST = 180


def machine() -> str:
    """This machine as npm's packages call it: linux-x64."""
    kinds = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    return (
        f"{'darwin' if sys.platform == 'darwin' else 'linux'}-{kinds[platform.machine().lower()]}"
    )


class Claude:
    """The program in the sample repository, with a home of its own and next to nothing of our
    environment.
    """

    def __init__(self, sample: Sample, home: Path) -> None:
        self.sample = sample
        # npm's own script would put the program elsewhere; no script of a package is run here.
        modules = programs("claude-code").modules / "@anthropic-ai"
        self.program = modules / f"claude-code-{machine()}" / "claude"
        self.environ = {
            "HOME": str(home),
            # `forge-bot` is what stands beside this Python.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        home.mkdir()

    def __call__(self, *words: str, **more: str) -> str:
        """What it says; exit codes of such programs say little."""
        done = subprocess.run(
            [self.program, *words],
            env={**self.environ, **more},
            cwd=self.sample.path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST,
        )
        return f"{done.stdout}\n{done.stderr}"

    def session(self, asked: Provider, prompt: str, *words: str) -> str:
        """A session without a terminal, in which a scripted model answers; servers are connected
        before it begins.
        """
        return self(
            *("-p", *words, "--", prompt),
            ANTHROPIC_BASE_URL=asked.url,
            ANTHROPIC_API_KEY="not-a-key",
            MCP_CONNECTION_NONBLOCKING="0",
        )


@pytest.fixture
def claude(sample: Sample, tmp_path: Path) -> Claude:
    return Claude(sample, tmp_path / "home")


def test_the_line_of_the_documentation_connects_it(claude: Claude) -> None:
    line = set_up_lines()["Claude Code"]
    assert line[0] == "claude"
    claude(*line[1:])
    claude("mcp", "add", "nothing", "--", "forge-bot", "no-such-command")
    answer = claude("mcp", "list")
    assert re.search(r"^forge-bot: forge-bot mcp - . Connected$", answer, re.MULTILINE), answer
    assert re.search(r"^nothing: .*Failed to connect", answer, re.MULTILINE), answer


def test_the_plugin_is_valid_and_brings_the_server(claude: Claude) -> None:
    answer = claude("plugin", "validate", str(PLUGIN))
    assert "Validation passed" in answer, answer
    answer = claude("--plugin-dir", str(PLUGIN), "mcp", "list")
    assert re.search(
        r"^plugin:forge-bot:forge-bot: forge-bot mcp --by-path - . Connected$", answer, re.MULTILINE
    ), answer


def test_the_start_prompt_is_a_command_that_brings_the_context(claude: Claude) -> None:
    claude(*set_up_lines()["Claude Code"][1:])
    with provider(says("Fine.")) as asked:
        answer = claude.session(asked, f"/mcp__forge-bot__forge/start {claude.sample.path}")
    assert "Fine." in answer, answer
    assert "[Resource from forge-bot at forge://project/rota/context] # rota" in asked.words
    assert "policy_mode=enforced" in asked.words


async def test_hooks_stop_what_an_agent_must_not_do_and_hold_a_session_in_the_middle(
    claude: Claude,
) -> None:
    sample = claude.sample
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
    before, file = sample.git("rev-parse", "HEAD"), sample.path / "rota" / "schedule.py"
    steps: list[Block] = [
        uses("Bash", command="git commit --allow-empty -m x", description="commit"),
        uses("Read", file_path=str(file)),
        uses("Edit", file_path=str(file), old_string="A rota. Shifts", new_string="Shifts"),
        says("That was all."),
    ]
    with provider(*steps) as asked:
        claude.session(asked, "go", "--plugin-dir", str(PLUGIN), "--allowedTools", "Bash Read Edit")
    assert "forge-bot commits what an agent did when it is reported" in asked.words
    assert "phase-1 of the run" in asked.words
    assert "Stop hook feedback" in asked.words
    assert "go on with pipeline_next_action" in asked.words
    assert (sample.git("rev-parse", "HEAD"), sample.git("status", "--porcelain")) == (before, "")
