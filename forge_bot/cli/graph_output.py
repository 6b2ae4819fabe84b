"""Prints the project's graph at the terminal: answers, violations."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError
from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.errors import BadOption, registry
from forge_bot.git import Repository
from forge_bot.project.graph.graph_answers import GraphQuestion, ask_graph
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.verify_graph import GraphFinding, declared, newly_broken, verify
from forge_bot.sentences import say

BROKEN = 2


def print_answer(folder: Path, asked: Mapping[str, object], *, as_json: bool) -> int:
    """Print the answer to a question."""
    try:
        question = GraphQuestion.model_validate(asked)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        raise BadOption(f"--{name} {asked.get(name)}: {first['msg']}.") from None
    answer = ask_graph(declared(_graph(folder))[0], question)
    # In ASCII, since not every standard output can encode the names of files.
    _print(
        json.dumps(answer.model_dump(mode="json"), indent=2, ensure_ascii=True)
        if as_json
        else answer.text
    )
    return 0


def print_violations(folder: Path, base: str | None, *, as_json: bool) -> int:
    """Print the violations; return 2 if there are any, else 0."""
    reader = GraphReader(Repository.find(folder))
    now = reader.here()
    violations = verify(now) if base is None else newly_broken(now, reader.at(base))
    if as_json:
        _print(json.dumps([_violation_json(violation) for violation in violations], indent=2))
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


def _graph(folder: Path) -> ProjectGraph:
    return GraphReader(Repository.find(folder)).here()


def _print(text: str) -> None:
    Console().print(text, markup=False)
