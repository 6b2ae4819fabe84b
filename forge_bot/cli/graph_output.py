"""Print the broken rules of the project's graph at the terminal."""

import json
from pathlib import Path

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.errors import registry
from forge_bot.git import Repository
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.verify_graph import GraphFinding, newly_broken, verify
from forge_bot.sentences import say

BROKEN = 2


def print_violations(folder: Path, base: str | None, *, as_json: bool) -> int:
    """Print the violations; return 2 if there are any, else 0."""
    reader = GraphReader(Repository.find(folder))
    now = reader.here()
    violations = verify(now) if base is None else newly_broken(now, reader.at(base))
    if as_json:
        found = json.dumps([_violation_json(violation) for violation in violations], indent=2)
        Console().print(found, markup=False)
    else:
        console = Console()
        for error in violations:
            place = f"{error.path}:{error.line}"
            console.print(
                f"[bold red]✗[/] {escape(place)} {escape(error.message)} [dim]{error.code}[/]"
            )
        for code in sorted({violation.code for violation in violations}):
            console.print(f"  [bold]→[/] {code}: {escape(say(registry()[code].hint))}")
        if not violations:
            new = " newly" if base is not None else ""
            console.print(f"[green]✓[/] Nothing is{new} broken: {len(now.files)} files.")
    return BROKEN if violations else 0


def _violation_json(violation: GraphFinding) -> dict[str, object]:
    """Return a violation in the form of forge-bot's other errors."""
    return {
        "code": violation.code,
        "domain": violation.code.partition("-")[0],
        "message": violation.message,
        "node_id": violation.node,
        "dependency_ids": list(violation.dependency_ids),
        "check_class": registry()[violation.code].__name__,
        "path": violation.path,
        "line": violation.line,
    }
