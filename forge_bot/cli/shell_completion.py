"""Completions for a shell's <Tab>: names of runs, phases and documents."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from forge_bot.errors import ForgeError

if TYPE_CHECKING:
    from forge_bot.engine import Pipeline
    from forge_bot.runs.finding_runs.find_runs import RunInfo

Offers = list[tuple[str, str]]
"""Words with their meaning; shells without help show the words only."""

_NOT_AGAIN = {"setup", "end", "decision"}


def complete_runs(context: typer.Context) -> Offers:
    """Return the names of runs, for --run."""
    return [(info.name, info.title) for info in _runs(context)]


def run_folders(context: typer.Context) -> Offers:
    """Return the folders of runs that are not over, for `run` to continue."""
    return [(f".specs/{info.name}", info.title) for info in _runs(context) if not info.ended]


def phase_names(context: typer.Context) -> Offers:
    """Return ids of phases to stop after."""
    return [(phase.id, phase.label) for phase in _pipeline(context).phases]


def phases_to_repeat(context: typer.Context) -> Offers:
    """Return ids of phases to continue from."""
    phases = _pipeline(context).phases
    return [(phase.id, phase.label) for phase in phases if phase.kind not in _NOT_AGAIN]


def _folder(context: typer.Context) -> Path:
    return Path(context.params.get("repo") or ".")


def _runs(context: typer.Context) -> "list[RunInfo]":
    from forge_bot.git import Repository
    from forge_bot.runs.finding_runs.find_runs import runs

    try:
        return [*runs(Repository.find(_folder(context)))]
    except ForgeError:
        return []


def _pipeline(context: typer.Context) -> "Pipeline":
    from forge_bot.settings import load_config
    from forge_bot.settings.load_pipeline import load_pipeline

    folder = _folder(context)
    try:
        return load_pipeline(load_config(folder).pipeline, folder)
    except ForgeError:
        return load_pipeline("develop", folder)
