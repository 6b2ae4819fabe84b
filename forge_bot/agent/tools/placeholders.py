"""Placeholders in forge-mcp.json: ${NAME}, ${NAME:-default}, and $${ for a plain ${.

They are resolved only where a server is started. Everything that is told afterwards is masked.
"""

import os
import re
from collections.abc import Iterable, Mapping

from forge_bot.agent.models.known_providers import KEYS
from forge_bot.agent.redaction import password_in, secrets_of
from forge_bot.settings.capability_file import MCPHttpServerConfig, MCPServerConfig

TREE = "FORGE_BOT_TREE"
"""The variable for the folder of the agents' work tree."""

SERVER_VARIABLES = "FORGE_BOT_SERVER_VARIABLES"
"""The variable with the names of those that servers may have. Without it they may have any."""

_PLACEHOLDER = re.compile(r"\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_OURS = re.compile(
    rf"(?:GITHUB_TOKEN|GH_TOKEN|ACTIONS_\w+|TEMPORAL_API_KEY|GEMINI_API_KEY|{'|'.join(KEYS.values())}"
    rf"|AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|BEARER_TOKEN_BEDROCK)"
    rf"|FORGE_BOT_(?!TREE$)\w+)"
)
_PLAIN = frozenset({"HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TMPDIR", "USER", TREE})


class Unresolved(Exception):
    """A server cannot be started with the variables that there are. The sentences say why."""

    def __init__(self, why: tuple[str, ...]) -> None:
        super().__init__(" ".join(why))
        self.why = why


def texts_of(server: MCPServerConfig | MCPHttpServerConfig) -> tuple[str, ...]:
    """Return the texts of a server's configuration that may hold placeholders."""
    if isinstance(server, MCPServerConfig):
        return server.command, *server.args, *server.env.values()
    return server.url, *server.headers.values()


def variables_of(server: MCPServerConfig | MCPHttpServerConfig) -> tuple[str, ...]:
    matches = (match for text in texts_of(server) for match in _PLACEHOLDER.finditer(text))
    return tuple(dict.fromkeys(match[1] for match in matches if not match[0].startswith("$$")))


def check_variables(
    server: MCPServerConfig | MCPHttpServerConfig, environ: Mapping[str, str]
) -> None:
    """Raise Unresolved with every variable that is missing or that no server gets."""
    why: list[str] = []
    for match in (match for text in texts_of(server) for match in _PLACEHOLDER.finditer(text)):
        if match[0].startswith("$$"):
            continue
        if _OURS.fullmatch(match[1]):
            why.append(
                f"{match[1]} belongs to forge-bot and is given to no server: make a token of its"
                " own for the server, with only the rights it needs, under another name."
            )
        elif match[1] not in environ and match[2] is None and match[1] != TREE:
            named = (
                " Name it in the input `server-variables` of the action."
                if SERVER_VARIABLES in environ
                else ""
            )
            why.append(f"The variable {match[1]} is not set.{named}")
    if why:
        raise Unresolved(tuple(dict.fromkeys(why)))


def resolved(text: str, environ: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[0].startswith("$$"):
            return match[0][1:]
        return environ.get(match[1], match[2] or "")

    return _PLACEHOLDER.sub(value, text)


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
