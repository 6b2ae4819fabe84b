"""The options that several commands take."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from forge_bot.cli.shell_completion import complete_runs, phase_names, phases_to_repeat
from forge_bot.cli.standard_streams import typed


def words(value: str | None) -> str | None:
    """Return a word of the command line as text."""
    return value if value is None else typed(value)


def every_word(values: list[str]) -> list[str]:
    """Return the words of the command line as text."""
    return [typed(value) for value in values]


Repo = Annotated[
    Path,
    typer.Option("--repo", help="Any folder inside the repository.", show_default="this folder"),
]
RunName = Annotated[
    str | None,
    typer.Option(
        "--run",
        callback=words,
        help="Name or branch of the run, if there is more than one.",
        autocompletion=complete_runs,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        help="provider:model for all tiers, scripted:FILE or replay:FILE.", metavar="NAME"
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(
        help="Append everything the model says to this file, to be replayed.", metavar="FILE"
    ),
]
Push = Annotated[
    bool,
    typer.Option(
        "--push",
        help=(
            "Push the run's branch and the one for merge when the pull request's text is ready, and"
            " at the end."
        ),
    ),
]
Keep = Annotated[
    bool, typer.Option("--keep", help="Keep the run's work tree when the run is done.")
]
OpenPr = Annotated[bool, typer.Option("--open-pr", help="Push, and open the pull request with gh.")]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        help=(
            "Stop with exit code 3 when this phase is complete, before the review or checkpoint"
            " that follows it. Id or name: phase-3, design, tasks, implementation, …"
        ),
        metavar="PHASE",
        autocompletion=phase_names,
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="Go on from this phase, which the run has reached: the same as retry PHASE.",
        metavar="PHASE",
        autocompletion=phases_to_repeat,
    ),
]
ByScript = Annotated[
    bool,
    typer.Option(
        "--by-script", help="Answer from a script of yours, without a terminal; the record says so."
    ),
]

McpConfig = Annotated[
    Path | None,
    typer.Option(
        "--mcp-config",
        help="File that lists MCP servers; forge-mcp.json if left out.",
        metavar="FILE",
    ),
]
SkillsDir = Annotated[
    list[Path] | None,
    typer.Option(
        "--skills-dir", help="Folder of skills; may be given several times.", metavar="DIR"
    ),
]

On = Annotated[
    Literal["local", "temporal"] | None,
    typer.Option(
        "--on",
        help=(
            "Host of the run: this command, or a Temporal server; left out, the one that has it."
        ),
    ),
]
Dev = Annotated[
    bool,
    typer.Option("--dev", help="With --on temporal: start a development server and a worker here."),
]
Address = Annotated[
    str | None,
    typer.Option(help="Temporal server; TEMPORAL_ADDRESS if left out.", metavar="HOST:PORT"),
]
Namespace = Annotated[
    str | None,
    typer.Option(help="Namespace there; TEMPORAL_NAMESPACE if left out.", metavar="NAME"),
]


@dataclass(frozen=True)
class Ending:
    """The options for what happens to the result of a run."""

    push: bool = False
    keep: bool = False
    open_pr: bool = False


@dataclass(frozen=True)
class HostChoice:
    """The options for where a run is led from."""

    on: Literal["local", "temporal"] | None = None
    dev: bool = False
    address: str | None = None
    namespace: str | None = None
