"""Signs of risk in a design, and in how a repository is set up; a person should see them first."""

import re
from collections.abc import Collection, Sequence

from forge_bot.agent.tools.setup import CapabilitySetup, variables_of
from forge_bot.git import Repository
from forge_bot.interaction.house_demands import GUIDES, refusals_of_ai
from forge_bot.interaction.pull_request_template import find_template
from forge_bot.knowledge.profile import Profile
from forge_bot.sandbox.box import BackendName
from forge_bot.settings.capability_file import MCPHttpServerConfig
from forge_bot.settings.protected_paths import protected_changes

_PATH = re.compile(r"`([\w./@+-]+)`")
_LIKE_A_PATH = re.compile(r"\.?[\w-]+(?:/[\w.-]+)*/[\w-]+\.\w{1,8}")
_MANY_FILES = 15


def design_risks(
    design: str, files: Collection[str], patterns: Sequence[str] = ()
) -> tuple[str, ...]:
    """Risk flags of a design: protected paths, many files: signs, not proofs.

    `files` are those of the repository, `patterns` its own protected paths. A name that is none of
    the files counts if it looks like a path with a folder.
    """
    paths = sorted(
        {path for path in _PATH.findall(design) if path in files or _LIKE_A_PATH.fullmatch(path)}
    )
    risks: list[str] = []
    if touched := protected_changes(paths, patterns):
        risks.append(f"names protected files: {', '.join([*touched][:5])}")
    if len(paths) > _MANY_FILES:
        risks.append(f"names {len(paths):,} files")
    return tuple(risks)


def capability_risks(setup: CapabilitySetup) -> tuple[str, ...]:
    """Return the risk flags of the configured servers: each that can reach something outside, and
    the variables that it gets.

    The configuration is enough for this; no server is started.
    """
    risks: list[str] = []
    from forge_bot.agent.tools.server_start import boxes_work

    for name, server in setup.config.mcp_servers.items():
        if server.disabled:
            continue
        if isinstance(server, MCPHttpServerConfig):
            risk = f"the server {name} is asked over the network"
        elif name in setup.policy.network:
            risk = f"the server {name} may use the network"
        elif setup.sandbox in {"off", "landlock"} or not boxes_work():
            risk = f"the server {name} runs without a sandbox"
        else:
            continue
        if given := ", ".join(variables_of(server)):
            risk = f"{risk}, with {given}"
        risks.append(risk)
    return tuple(risks)


def ai_risks(repository: Repository, commit: str) -> tuple[str, ...]:
    """Return what the repository's guide and its template for pull requests say against changes by
    AI.
    """
    template = find_template(repository.list_files(commit))
    texts = repository.read_many(commit, [*GUIDES, *filter(None, [template])])
    return refusals_of_ai({path: raw.decode("utf-8", "replace") for path, raw in texts.items()})


def setup_risks(profile: Profile, backend: BackendName | None) -> tuple[str, ...]:
    """Risk flags of the repository: nothing to verify with, no sandbox around its commands, no
    network namespace around setup.

    `backend` is None where nothing had to be run.
    """
    risks: list[str] = []
    if not profile.commands.test:
        risks.append("there are no tests to verify with")
    if backend is BackendName.OFF:
        risks.append("project commands run without a sandbox: see forge-bot doctor")
        if profile.commands.setup:
            risks.append("setup has the machine's network, without a proxy")
    elif backend is BackendName.LANDLOCK and profile.commands.setup:
        risks.append(
            "setup has no network namespace here: it could call any address at one port, past "
            "the proxy"
        )
    return tuple(risks)
