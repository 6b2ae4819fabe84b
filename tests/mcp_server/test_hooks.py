"""Hooks of a host, asked over stdin as the host asks them; the plugin, and what its pages name."""

import json
import re
import shlex
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from forge_bot.mcp_server.hooks import answer_hook
from forge_bot.mcp_server.sdk_server.server import make_server
from forge_bot.resources import templates
from tests.fakes.rows import rows
from tests.fakes.sample import Sample
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import hosting

ROWS = rows(__file__)

TASK = "Nobody is on call before the start"


def hook(sample: Sample, event: str, **payload: Any) -> tuple[int, str]:
    return asked(sample, event, json.dumps({"cwd": str(sample.path), **payload}).encode())


def asked(sample: Sample, event: str, said: bytes) -> tuple[int, str]:
    words = [warm_python(), "-m", "forge_bot", "hook", event]
    done = subprocess.run(words, input=said, capture_output=True, check=False, cwd=sample.path)
    return done.returncode, done.stderr.decode()


async def test_nothing_is_stopped_where_no_run_is_under_way(sample: Sample) -> None:
    assert hook(
        sample, "pre-tool", tool_name="Write", tool_input={"file_path": "rota/schedule.py"}
    ) == (0, "")
    assert hook(sample, "stop") == (0, "")


@pytest.mark.slow
async def test_before_the_implementation_only_the_runs_folder_is_written(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
        folder = host.workspace
    code, why = hook(
        sample,
        "pre-tool",
        tool_name="Edit",
        tool_input={"file_path": str(sample.path / "rota" / "schedule.py")},
    )
    assert (code, "phase-1" in why) == (2, True)
    assert hook(
        sample, "pre-tool", tool_name="Write", tool_input={"file_path": f"{folder}/analysis.md"}
    ) == (0, "")
    record = {"file_path": f"{folder}/reports.jsonl"}
    assert hook(sample, "pre-tool", tool_name="Write", tool_input=record)[0] == 2
    code, why = hook(sample, "post-tool", tool_name="Agent", tool_response="All done.")
    assert (code, "analysis.md is not there yet" in why) == (2, True)
    code, why = hook(sample, "stop")
    assert (code, "pipeline_next_action" in why) == (2, True)
    assert hook(sample, "stop", stop_hook_active=True) == (0, "")


COMMANDS = ROWS["commands"]


@pytest.mark.slow
async def test_commands_that_would_leave_the_run_are_stopped(sample: Sample) -> None:
    sample.git("branch", "other")
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()

    def judged(command: str) -> int:
        payload = {"cwd": str(sample.path), "tool_name": "Bash", "tool_input": {"command": command}}
        return answer_hook("pre-tool", StringIO(json.dumps(payload)))

    assert {command: judged(command) for command in COMMANDS} == COMMANDS


@pytest.mark.parametrize("said", ["{", "[]", '{"cwd": "/nowhere\\u0000"}', '"\\ud800"'])
def test_a_call_that_cannot_be_read_is_let_pass(said: str) -> None:
    assert answer_hook("pre-tool", StringIO(said)) == 0


@pytest.mark.slow
async def test_an_agent_that_works_beside_the_session_is_waited_for(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        action = await host.next()
        launched = {"isAsync": True, "status": "async_launched", "agentId": "a1"}
        assert hook(sample, "post-tool", tool_name="Agent", tool_response=launched) == (0, "")
        at_work = [{"id": "a1", "type": "subagent", "status": "running"}]
        assert hook(sample, "stop", stop_hook_active=False, background_tasks=at_work) == (0, "")
        assert hook(sample, "stop", stop_hook_active=False, background_tasks=[])[0] == 2
        # The agent ends: this is where it can still write what it has only said.
        ends: dict[str, Any] = {
            "hook_event_name": "SubagentStop",
            "stop_hook_active": False,
        }
        code, why = hook(sample, "post-tool", **ends)
        assert (code, "analysis.md is not there yet" in why) == (2, True)
        assert hook(sample, "post-tool", **{**ends, "stop_hook_active": True}) == (0, "")
        assert hook(sample, "post-tool", **{**ends, "agent_type": "Explore"}) == (0, "")
        host.perform(action)
        assert hook(sample, "post-tool", **ends) == (0, "")


PLUGIN = templates() / "plugin"
DOCS = templates().parent / "docs" / "mcp.md"


def set_up_lines() -> dict[str, list[str]]:
    """The words of the documentation that tell each client of the server."""
    section = DOCS.read_text(encoding="utf-8").split("## Set up")[1].split("##")[0]
    rows = re.findall(r"^\| ([A-Z][^|]*) \| `(.*)` \|$", section, re.MULTILINE)
    return {client: [line] if line.startswith("{") else shlex.split(line) for client, line in rows}


def test_every_hook_of_the_plugin_is_a_command_that_exists() -> None:
    hooks: dict[str, Any] = json.loads(
        (PLUGIN / "hooks" / "hooks.json").read_text(encoding="utf-8")
    )["hooks"]
    commands = [
        hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]
    ]
    assert [*dict.fromkeys(commands)] == [
        "forge-bot hook pre-tool",
        "forge-bot hook post-tool",
        "forge-bot hook stop",
    ]
    server = json.loads((PLUGIN / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"][
        "forge-bot"
    ]
    assert server == {"command": "forge-bot", "args": ["mcp", "--by-path"]}


def test_every_client_starts_the_same_command_and_editors_name_the_folder_that_is_open() -> None:
    lines = set_up_lines()
    assert len(lines) == 5
    editors = {"VS Code", "Cursor, and others with a file"}
    for client, (program, *words) in lines.items():
        described = [json.loads(word) for word in (program, *words) if word.startswith("{")]
        result = (
            described[0].get("mcpServers", {}).get("forge-bot", described[0]) if described else None
        )
        answer = (
            (result["command"], *result["args"])
            if result is not None
            else tuple(word for word in words[-2:] if word != "--")
        )
        assert answer == (
            "forge-bot",
            "mcp",
            *(("--repo", "${workspaceFolder}") if client in editors else ()),
        ), client


async def test_documentation_names_every_resource_and_prompt_and_no_other(tmp_path: Path) -> None:
    server = make_server(tmp_path)
    text = DOCS.read_text(encoding="utf-8")
    answer: set[str] = set()
    for row in re.findall(
        r"^\| (`forge://.*?) \| ",
        text.split("## Resources")[1].split("## Prompts")[0],
        re.MULTILINE,
    ):
        first, *others = re.findall(r"`([^`]+)`", row)
        # What follows the first address stands in its last place, or is one of its own.
        stem = first.rpartition("/")[0]
        answer |= {
            first,
            *(
                item if item.startswith("forge:") else f"{stem}/{item.lstrip('/')}"
                for item in others
            ),
        }
    assert answer == {
        *(item.uri_template for item in await server.list_resource_templates()),
        *(item.uri for item in await server.list_resources()),
    }
    prompts = re.findall(r"`(forge/\w+)", text.split("## Prompts")[1].split("## Hooks")[0])
    assert prompts == [prompt.name for prompt in await server.list_prompts()]


async def test_documentation_and_skill_name_every_tool_and_no_other() -> None:
    tools = {tool.name for tool in await make_server(None).list_tools()}
    skill = (PLUGIN / "skills" / "forge" / "SKILL.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`((?:pipeline|state|run)_\w+)`", skill)) <= tools
    section = DOCS.read_text(encoding="utf-8").split("## Tools")[1].split("## Resources")[0]
    answer = {
        name
        for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        for name in re.findall(r"`(\w+)", row)
    }
    assert answer == tools
