"""The MCP servers and skills that a repository configures, read without starting anything.

A client may read an address without a person's word, and a server is a program that the repository
names. So tools are listed by `forge-bot capabilities` only.
"""

import asyncio
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from forge_bot.agent.tools.placeholders import variables_of
from forge_bot.agent.tools.tool_catalogue import discover_capabilities
from forge_bot.errors import BadCapabilities
from forge_bot.runs.capabilities.capability_setup import capability_setup
from forge_bot.settings import Config
from forge_bot.settings.capability_file import MCPConfig, MCPServerConfig

_NOTE = (
    "Runs at the terminal and in the issue thread use these. In a run over MCP the client's agents"
    " have their own tools and skills, and may read a skill's file. `forge-bot capabilities` starts"
    " the servers and lists their tools."
)


def configured_capabilities(root: Path, config: Config) -> JsonValue:
    """Return the servers, skills, policy and the problems of their files in a repository."""
    try:
        setup = capability_setup(root, config)
    except BadCapabilities as error:
        return {"problems": [error.message, *error.details], "note": _NOTE}
    skills = asyncio.run(discover_capabilities(replace(setup, config=MCPConfig())))
    return {
        "servers": [
            {
                "name": name,
                "kind": "stdio" if isinstance(server, MCPServerConfig) else "http",
                "disabled": server.disabled,
                "network": name in setup.policy.network,
                "variables": [*variables_of(server)],
            }
            for name, server in setup.config.mcp_servers.items()
        ],
        "skills": [
            {"name": each.name, "description": each.description, "file": f"{each.source}/SKILL.md"}
            for each in skills.specs
        ],
        "policy": setup.policy.model_dump(mode="json", exclude_defaults=True),
        "problems": [f"{each.about}: {each.sentence}" for each in skills.problems],
        "note": _NOTE,
    }
