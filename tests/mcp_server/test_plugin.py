"""The plugin for hosts: its commands exist, and its words are those of the server."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from forge_bot.mcp_server.sdk_server.server import make_server
from forge_bot.resources import templates

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
