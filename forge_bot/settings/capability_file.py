"""forge-mcp.json: the MCP servers whose tools the agents may ask for, and the folders of skills.

Placeholders such as ${TOKEN} stay as they are here. Only the process that starts a server resolves
them (`agent/tools/setup.py`).
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, field_validator

from forge_bot.errors import BadCapabilities
from forge_bot.values import Frozen

CAPABILITY_FILE = "forge-mcp.json"
SKILLS = ".forge/skills"
"""The folder of skills that needs no configuration."""


class _Server(Frozen):
    disabled: bool = Field(default=False, description="the server is left out")


class MCPServerConfig(_Server):
    """A server that is started as a process and answers on its standard output."""

    type: Literal["stdio"] = "stdio"
    command: str = Field(min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict[str, str])


class MCPHttpServerConfig(_Server):
    """A server that is reached by its address (Streamable HTTP)."""

    type: Literal["http", "streamable-http"] = "http"
    url: str = Field(min_length=1)
    headers: dict[str, str] = Field(default_factory=dict[str, str])

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if not re.match(r"https?://|\$\{", url):
            raise ValueError("an address begins with https:// or http://")
        return url


def _kind(entry: object) -> str:
    if isinstance(entry, MCPHttpServerConfig):
        return "http"
    given = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    by_type = given.get("type") in {"http", "streamable-http"}
    return "http" if by_type or ("url" in given and "command" not in given) else "stdio"


AnyServer = Annotated[
    Annotated[MCPServerConfig, Tag("stdio")] | Annotated[MCPHttpServerConfig, Tag("http")],
    Discriminator(_kind),
]


class MCPConfig(Frozen):
    """The content of forge-mcp.json."""

    model_config = ConfigDict(populate_by_name=True)

    mcp_servers: dict[Annotated[str, Field(min_length=1, max_length=100)], AnyServer] = Field(
        default_factory=dict[str, "MCPServerConfig | MCPHttpServerConfig"], alias="mcpServers"
    )
    skills_dirs: tuple[str, ...] = Field(default=(), alias="skillsDirs")


_MCP_CONFIG: TypeAdapter[MCPConfig] = TypeAdapter(MCPConfig)
_KEYS = ("mcpServers", "skillsDirs")


def parse_capability_file(text: str, name: str = CAPABILITY_FILE) -> MCPConfig:
    """Return the servers and folders in a text. Raises BadCapabilities with all problems."""
    from forge_bot.settings.yaml_file import read_yaml

    # JSON is YAML, but for tabs at the beginning of lines.
    plain = re.sub(r"^\t+", "", text, flags=re.MULTILINE)
    return read_yaml(plain, name, _MCP_CONFIG, BadCapabilities, _KEYS)


def load_capability_file(file: Path, *, named: bool = False) -> MCPConfig:
    """Return the configuration in a file, an empty one if there is none.

    `named` if a person named the file, which then has to be there.
    """
    name = str(file) if named else file.name
    if file.is_file():
        return parse_capability_file(file.read_text(encoding="utf-8", errors="replace"), name)
    if named:
        raise BadCapabilities(f"There is no file {name}.")
    return MCPConfig()
