"""Completion for a shell's <Tab>: the names of runs."""

from pathlib import Path

import typer

from forge_bot.errors import ForgeError


def complete_runs(context: typer.Context) -> list[tuple[str, str]]:
    """Return the names of runs with their titles, for --run."""
    from forge_bot.git import Repository
    from forge_bot.runs.finding_runs.find_runs import runs

    try:
        known = runs(Repository.find(Path(context.params.get("repo") or ".")))
    except ForgeError:
        return []
    return [(info.name, info.title) for info in known]
