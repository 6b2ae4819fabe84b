"""`forge-bot capabilities`: the capabilities of agents here, each problem, and one call as a run
would make it.
"""

import asyncio
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import typer
from rich.markup import escape

from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityType,
    Effect,
    ResultStatus,
    canonical,
)
from forge_bot.agent.providers.provider_catalogue import CapabilitySpec
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.tool_catalogue import ToolCalls, ToolCatalogue, discover_capabilities
from forge_bot.cli.console import Console
from forge_bot.cli.options import CapabilityChoice
from forge_bot.cli.server_question import ask_consent, describe_server, load_capabilities
from forge_bot.errors import BadArgument, UnknownCapability

_BROKEN = 5
_SHOWN = 100_000


def list_capabilities(folder: Path, source: CapabilityChoice) -> int:
    """Print the catalogue and each problem; return 5 if something is broken."""
    setup, catalogue = _discover(folder, source)
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


def try_capability(
    folder: Path,
    source: CapabilityChoice,
    name: str,
    given: Sequence[str],
    *,
    yes: bool,
) -> int:
    """Call one tool as a run would; return 0 if it succeeded."""
    setup, catalogue = _discover(folder, source)
    spec = next((candidate for candidate in catalogue.specs if candidate.name == name), None)
    if spec is None:
        known = tuple(candidate.name for candidate in catalogue.specs)
        raise UnknownCapability(
            f"There is no capability {name}.",
            details=(*known, *(problem.sentence for problem in catalogue.broken)),
        )
    params = canonical(json.dumps(_read_arguments(given, catalogue, name))) or "{}"
    wanted = CapabilityRequest(key="1.1", capability=name, params=params)
    calls = ToolCalls(setup, catalogue)
    console = Console()
    complaint = calls.complaint(wanted)
    if (
        complaint is None
        and spec.effect is Effect.ACTS
        and not _ask_to_call(wanted, console, yes=yes)
    ):
        return _BROKEN
    result = complaint or calls.call(wanted, _SHOWN)
    console.print(escape(result.content))
    if result.note:
        console.print(f"[dim]{escape(result.note)}[/]")
    if result.status is not ResultStatus.OK:
        Console(stderr=True).print(f"{name}: {result.status.value}")
    return 0 if result.status is ResultStatus.OK else 1


def _discover(folder: Path, source: CapabilityChoice) -> tuple[CapabilitySetup, ToolCatalogue]:
    root, setup = load_capabilities(folder, source)
    setup = ask_consent(root, setup)
    return setup, asyncio.run(discover_capabilities(setup))


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
    if spec.kind is CapabilityType.SKILL:
        return "runs in the sandbox"
    return "reads"


def _read_arguments(given: Sequence[str], catalogue: ToolCatalogue, name: str) -> dict[str, object]:
    """Return `key=value` words as arguments: text where the schema wants text, else JSON."""
    tool = catalogue.mcp_tools.get(name)
    schema = cast("dict[str, Any]", json.loads(tool.input_schema)) if tool else {}
    fields = cast("dict[str, Any]", schema.get("properties") or {})
    arguments: dict[str, object] = {}
    for word in given:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise BadArgument(f"{word} is not of the form name=value.")
        shape = fields.get(key)
        text = not isinstance(shape, dict) or cast("dict[str, Any]", shape).get("type") == "string"
        try:
            arguments[key] = value if text else json.loads(value)
        except ValueError:
            arguments[key] = value
    return arguments


def _ask_to_call(wanted: CapabilityRequest, console: Console, *, yes: bool) -> bool:
    digest = hashlib.sha256(f"{wanted.capability}\n{wanted.params}".encode()).hexdigest()[:12]
    console.print(
        f"{escape(wanted.capability)} may change something. Its arguments, {digest}:\n"
        f"{escape(wanted.params)}"
    )
    if yes:
        return True
    if not sys.stdin.isatty():
        Console(stderr=True).print("Nothing was called: say --yes to call it.")
        return False
    return typer.confirm("Call it?")
