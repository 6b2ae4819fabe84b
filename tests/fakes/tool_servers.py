"""Configured servers for tests: the unruly one, in each of its ways."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forge_bot.agent.tools.server_start import servers_digest
from forge_bot.runs.capabilities.outside_capabilities import (
    NOTHING_NAMED,
    CapabilityOptions,
    agree,
    capability_setup,
)
from forge_bot.settings.config import load_config

SERVER = Path(__file__).parent / "unruly_server.py"


def unruly(mode: str, *more: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The entry of a server that behaves as `mode` says."""
    # Copied beside the configuration: the box of a server shows it that folder.
    return {"command": sys.executable, "args": ["server.py", mode, *more], "env": dict(env or {})}


def configure(root: Path, servers: Mapping[str, object], **more: object) -> Path:
    """Write forge-mcp.json and the server into a folder; in a repository a person says yes to it."""
    (root / "server.py").write_bytes(SERVER.read_bytes())
    file = root / "forge-mcp.json"
    file.write_text(json.dumps({"mcpServers": dict(servers), **more}))
    if (root / ".git").exists() and "XDG_STATE_HOME" in os.environ:
        agree_here(root)
    return file


def skill(folder: Path, name: str, front: str = "", body: str = "Do it.", **scripts: str) -> Path:
    """Write a skill into a folder of skills; scripts by their names."""
    place = folder / name
    (place / "scripts").mkdir(parents=True, exist_ok=True)
    front = front or f"name: {name}\ndescription: About {name}."
    (place / "SKILL.md").write_text(f"---\n{front}\n---\n\n{body}\n")
    for script, text in scripts.items():
        file = place / "scripts" / script.replace("_", ".")
        file.write_text(text)
        file.chmod(0o755)
    return place


def agree_here(root: Path, options: CapabilityOptions = NOTHING_NAMED) -> None:
    """Say the person's yes to the servers that are configured in a repository."""
    agree(root, digest_here(root, options))


def digest_here(root: Path, options: CapabilityOptions = NOTHING_NAMED) -> str:
    """Return the digest of the servers that are configured in a repository."""
    return servers_digest(capability_setup(root, load_config(root), options))
