"""The capabilities that a repository configures: its files, its policy, and where servers run.

Placeholders in forge-mcp.json, ${NAME} and ${NAME:-default}, are resolved only where a server is
started. Everything that is told afterwards is masked.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from forge_bot.agent.models.known_providers import KEYS
from forge_bot.agent.redaction import password_in, secrets_of
from forge_bot.forge import CREDENTIALS
from forge_bot.settings.capability_file import (
    CAPABILITY_FILE,
    MCPConfig,
    MCPHttpServerConfig,
    MCPServerConfig,
)
from forge_bot.settings.config import CapabilityPolicy

TREE = "FORGE_BOT_TREE"
"""The variable for the folder of the agents' work tree."""

SERVER_VARIABLES = "FORGE_BOT_SERVER_VARIABLES"
"""The variable with the names of those that servers may have. Without it they may have any."""

_PLACEHOLDER = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_OURS = re.compile(
    rf"(?:{CREDENTIALS}|TEMPORAL_API_KEY|GEMINI_API_KEY|{'|'.join(KEYS.values())}"
    rf"|AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|BEARER_TOKEN_BEDROCK)"
    rf"|FORGE_BOT_(?!TREE$)\w+)"
)
_PLAIN = frozenset({"HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TMPDIR", "USER", TREE})


def texts_of(server: MCPServerConfig | MCPHttpServerConfig) -> tuple[str, ...]:
    """Return the texts of a server's configuration that may hold placeholders."""
    if isinstance(server, MCPServerConfig):
        return server.command, *server.args, *server.env.values()
    return server.url, *server.headers.values()


def variables_of(server: MCPServerConfig | MCPHttpServerConfig) -> tuple[str, ...]:
    matches = (match for text in texts_of(server) for match in _PLACEHOLDER.finditer(text))
    return tuple(dict.fromkeys(match[1] for match in matches))


def variable_faults(
    server: MCPServerConfig | MCPHttpServerConfig, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Return a sentence for every variable that is missing or that no server gets."""
    faults: list[str] = []
    for match in (match for text in texts_of(server) for match in _PLACEHOLDER.finditer(text)):
        if _OURS.fullmatch(match[1]):
            faults.append(
                f"{match[1]} belongs to forge-bot and is given to no server: make a token of its"
                " own for the server, with only the rights it needs, under another name."
            )
        elif match[1] not in environ and match[2] is None and match[1] != TREE:
            named = (
                " Name it in the input `server-variables` of the action."
                if SERVER_VARIABLES in environ
                else ""
            )
            faults.append(f"The variable {match[1]} is not set.{named}")
    return tuple(dict.fromkeys(faults))


def resolved(text: str, environ: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: environ.get(match[1], match[2] or ""), text)


def secrets_for(
    servers: Iterable[MCPServerConfig | MCPHttpServerConfig], environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the values to mask in all words of these servers, by variable.

    They are every value of a placeholder, except folders and the like, the password in an address,
    and the keys in the configuration itself.
    """
    secrets: dict[str, str] = {}
    for server in servers:
        named = server.env if isinstance(server, MCPServerConfig) else server.headers
        secrets |= {
            name: text for name, text in secrets_of(named).items() if not _PLACEHOLDER.search(text)
        }
        for name in variables_of(server):
            value = environ.get(name, "")
            # A Path raises for names that are too long.
            is_file = value.startswith("/") and os.path.exists(value)  # noqa: PTH110
            if name not in _PLAIN and not is_file:
                secrets[name] = value
                if password := password_in(value):
                    secrets[f"{name} password"] = password
    return secrets


@dataclass(frozen=True)
class CapabilitySetup:
    """Everything that starting a server or a skill needs.

    `root` is the folder whose configuration counts; `tree` is the work tree that the agents look
    at; `repository` is the top of the person's checkout; `base` is a folder with the files of the
    base commit, where agents may have changed those that servers are started from. `environ` has
    the variables that placeholders may name. `agreed` are the digests of servers that a person said
    yes to; None if the job itself is that yes.
    """

    root: Path
    tree: Path
    config: MCPConfig = field(default_factory=MCPConfig)
    policy: CapabilityPolicy = field(default_factory=CapabilityPolicy)
    config_name: str = CAPABILITY_FILE
    skill_folders: tuple[Path, ...] = ()
    sandbox: Literal["auto", "bubblewrap", "landlock", "off"] = "auto"
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    repository: Path | None = None
    base: Path | None = None
    agreed: frozenset[str] | None = frozenset()

    @property
    def servers(self) -> dict[str, MCPServerConfig | MCPHttpServerConfig]:
        return {
            name: server for name, server in self.config.mcp_servers.items() if not server.disabled
        }

    @property
    def empty(self) -> bool:
        """Return whether nothing is configured, so that nothing has to be looked for."""
        return not self.servers and not any(folder.is_dir() for folder in self.skill_folders)

    def denies(self, name: str) -> bool:
        """Return whether the policy takes a capability out."""
        return matches_a_glob(name, self.policy.deny)

    def asks(self, name: str, *, reads_only: bool) -> bool:
        """Return whether a person is asked first. A capability that only reads is allowed."""
        allowed = reads_only or matches_a_glob(name, self.policy.allow)
        return matches_a_glob(name, self.policy.ask) or not allowed


def matches_a_glob(name: str, globs: Iterable[str]) -> bool:
    """Return whether a list names a capability; `*` stands for any characters."""
    return any(fnmatchcase(name, glob) for glob in globs)
