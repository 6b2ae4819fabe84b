"""`forge-bot capabilities`: the capabilities of agents here, each problem, and the one question
before servers of a repository are started.
"""

import asyncio
import shlex
from dataclasses import replace
from pathlib import Path

import typer
from rich.markup import escape

from forge_bot.agent.capabilities import CapabilitySpec, CapabilityType, Effect
from forge_bot.agent.tools.server_start import boxes_work, program_digests, servers_digest
from forge_bot.agent.tools.setup import CapabilitySetup, variables_of
from forge_bot.agent.tools.tool_catalogue import ToolCatalogue, discover_capabilities
from forge_bot.cli.console import Console
from forge_bot.cli.options import CapabilityChoice
from forge_bot.cli.terminal_session import at_terminal
from forge_bot.errors import BadOption
from forge_bot.git import Repository
from forge_bot.runs.capabilities.outside_capabilities import (
    CapabilityOptions,
    agree,
    capability_setup,
)
from forge_bot.settings.capability_file import MCPHttpServerConfig, MCPServerConfig
from forge_bot.settings.config import load_config

_BROKEN = 5


def list_capabilities(folder: Path, source: CapabilityChoice) -> int:
    """Print the catalogue and each problem; return 5 if something is broken."""
    root, setup = load_capabilities(folder, source)
    setup = ask_consent(root, setup)
    catalogue = asyncio.run(discover_capabilities(setup))
    console = Console()
    if setup.empty:
        console.print(
            f"No tools and no skills are configured: there is no {setup.config_name} and "
            "no .forge/skills. docs/capabilities.md has an example of both."
        )
        return 0
    _print_servers(setup, catalogue, console)
    for spec in catalogue.specs:
        how_it_runs = _describe_way(spec, asked=spec.name in catalogue.asked)
        console.print(
            f"  [bold]{escape(spec.name)}[/] [dim]{how_it_runs}[/] {escape(spec.description)}"
        )
    for name in catalogue.denied:
        console.print(f"  [dim]{escape(name)} is denied by .forge/config.yml[/]")
    for problem in catalogue.problems:
        mark = "[red]✗[/]" if problem.broken else "[yellow]![/]"
        console.print(f"{mark} [bold]{escape(problem.about)}[/] {escape(problem.sentence)}")
    return _BROKEN if catalogue.broken else 0


def _print_servers(setup: CapabilitySetup, catalogue: ToolCatalogue, console: Console) -> None:
    broken = {problem.about for problem in catalogue.broken}
    for name, server in setup.config.mcp_servers.items():
        if server.disabled:
            console.print(f"[dim]- {escape(name)} is disabled[/]")
            continue
        mark = "[red]✗[/]" if name in broken else "[green]✓[/]"
        facts = "; ".join(describe_server(setup, name, server))
        console.print(f"{mark} [bold]{escape(name)}[/] [dim]{escape(facts)}[/]")


def _describe_way(spec: CapabilitySpec, *, asked: bool) -> str:
    if asked:
        return "a person is asked"
    if spec.effect is Effect.ACTS:
        return "acts without asking"
    return "runs in the sandbox" if spec.kind is CapabilityType.SKILL else "reads"


_NO = 5
_SHOWN_FILES = 5


def load_capabilities(folder: Path, source: CapabilityChoice) -> tuple[Path, CapabilitySetup]:
    """Return the top folder of a repository, and the capabilities configured there."""
    root = Repository.find(folder).root
    named = CapabilityOptions.named(source.mcp_config, source.skills_dir)
    return root, capability_setup(root, load_config(root), named)


def approve_servers(folder: Path, source: CapabilityChoice, digest: str | None) -> int:
    """Show the servers of a repository and keep the person's yes; return 5 without one."""
    root, setup = load_capabilities(folder, source)
    if not setup.servers:
        Console().print("No servers are configured here.")
        return 0
    actual = servers_digest(setup)
    _print_for_consent(root, setup, actual)
    if digest is not None:
        if digest != actual:
            raise BadOption(f"The servers have another digest now: {actual}.")
    elif not at_terminal():
        raise BadOption(
            "Nobody can be asked here.",
            hint=(
                "Look at them, and give their digest: forge-bot capabilities approve --digest "
                f"{actual}"
            ),
        )
    elif not _ask_yes():
        return _NO
    agree(root, actual)
    Console().print("They may be started. A change of anything above asks again.")
    return 0


def ask_consent(root: Path, setup: CapabilitySetup, *, asks: bool = True) -> CapabilitySetup:
    """Return the setup with the person's yes to its servers, asked for if somebody is here. Without
    one, say how to give it.
    """
    if not setup.servers or setup.agreed is None:
        return setup
    digest = servers_digest(setup)
    if digest in setup.agreed:
        return setup
    if asks and at_terminal():
        _print_for_consent(root, setup, digest)
        if _ask_yes():
            agree(root, digest)
            return replace(setup, agreed=setup.agreed | {digest})
    else:
        Console(stderr=True).print(
            "! No server is started before you say yes: forge-bot capabilities approve"
        )
    return setup


def describe_server(
    setup: CapabilitySetup, name: str, server: MCPServerConfig | MCPHttpServerConfig
) -> list[str]:
    """Return where a server runs, and the variables that it is given."""
    facts = [_describe_place(setup, name) if isinstance(server, MCPServerConfig) else "over HTTP"]
    if variables := variables_of(server):
        facts.append(f"given {', '.join(variables)}")
    return facts


def _print_for_consent(root: Path, setup: CapabilitySetup, digest: str) -> None:
    console = Console()
    console.print(f"{escape(str(root))} configures servers for the agents' tools:")
    for name, server in setup.servers.items():
        stdio = isinstance(server, MCPServerConfig)
        what = shlex.join((server.command, *server.args)) if stdio else server.url
        files = [*program_digests(setup, server)]
        facts = [*describe_server(setup, name, server), *([_name_files(files)] if files else [])]
        console.print(f"  [bold]{escape(name)}[/] {escape(what)}")
        console.print(f"    [dim]{escape('; '.join(facts))}[/]")
        for key, value in (server.env if stdio else server.headers).items():
            console.print(f"    [dim]{escape(f'{key}={value}')}[/]")
    console.print(f"Their digest: {digest}")


def _name_files(files: list[str]) -> str:
    left = len(files) - _SHOWN_FILES
    more = f" and {left} more files" if left > 0 else ""
    return f"made of {', '.join(files[:_SHOWN_FILES])}{more} in the repository"


def _ask_yes() -> bool:
    if typer.confirm("May they be started as they are now, with these variables?"):
        return True
    Console().print("No server is started.")
    return False


def _describe_place(setup: CapabilitySetup, name: str) -> str:
    if setup.sandbox in {"off", "landlock"} or not boxes_work():
        return "a process without a sandbox"
    return f"in the sandbox, {'with' if name in setup.policy.network else 'no'} network"
