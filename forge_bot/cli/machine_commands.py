"""The commands that programs start: jobs of GitHub Actions, a Temporal server, an MCP client."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from forge_bot.cli.options import HERE, ServerChoice, with_groups


def work(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help=(
                "Only the worker's part: do what was handed over, push nothing, and leave it in"
                " this folder."
            ),
        ),
    ] = None,
) -> int:
    """Continue a run in GitHub Actions (reads FORGE_BOT_WAKE)."""
    from forge_bot.cli import job_commands

    return job_commands.work(out)


def publish(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--in", help="Folder that `work --out` left; its commits are looked at and pushed."
        ),
    ] = None,
    last: Annotated[
        bool,
        typer.Option(
            "--last", help="No worker comes after this: say how to go on if there is more to do."
        ),
    ] = False,
) -> int:
    """Run the job of GitHub Actions that holds the token and no model: read commands, check and
    push commits, ask, open the pull request.
    """
    from forge_bot.cli import job_commands

    return job_commands.publish(folder, last=last)


@with_groups
def worker(
    server: ServerChoice,
    repo: Annotated[
        list[Path] | None,
        typer.Option(
            "--repo", help="Folder inside a clone to work in; may be given several times."
        ),
    ] = None,
    github: Annotated[
        list[str] | None,
        typer.Option(
            "--github",
            help="Repository on GitHub whose issues it works for, with GITHUB_TOKEN; may be given"
            " several times.",
            metavar="OWNER/NAME",
        ),
    ] = None,
    parts: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            help="Part of the work that it takes; all if left out. May be given several times.",
            metavar="orchestration|execution|publishing",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(help="Steps that it takes at the same time in all its clones.", min=1),
    ] = None,
    steps_per_repo: Annotated[
        int, typer.Option(help="Steps that it takes at the same time in one clone.", min=1, max=100)
    ] = 8,
    metrics: Annotated[
        str | None,
        typer.Option(
            help="Address of an OpenTelemetry collector that gets the worker's metrics.",
            metavar="URL",
        ),
    ] = None,
) -> int:
    """Work on the runs that a Temporal server leads, in clones or for issues, until stopped."""
    from forge_bot.cli.temporal_commands import work_for_server, worker_duty

    duty = worker_duty(tuple(parts or ()), steps or 0, steps_per_repo)
    folders = tuple(repo or (() if github else (HERE,)))
    return work_for_server(folders, server, duty, metrics or "", tuple(github or ()))


def mcp(
    repo: Annotated[
        list[Path] | None,
        typer.Option(
            "--repo", help="Folder inside a repository to serve; may be given several times."
        ),
    ] = None,
    http: Annotated[
        bool,
        typer.Option("--http", help="Serve over HTTP on this machine instead of stdin and stdout."),
    ] = False,
    port: Annotated[int, typer.Option(help="Port for --http.", min=1, max=65535)] = 8765,
) -> int:
    """Serve the pipeline to an MCP client, which does the agents' work itself."""
    from forge_bot.mcp_server.serve import serve_http, serve_stdio

    return (
        serve_http(tuple(repo or (HERE,)), port)
        if http
        else serve_stdio(tuple(repo or (HERE,)), named=bool(repo))
    )


def hook(
    event: Annotated[
        Literal["pre-tool", "post-tool", "stop"],
        typer.Argument(help="Which hook of the host calls."),
    ],
) -> int:
    """Answer a hook of an MCP host; what it asks comes over stdin."""
    from forge_bot.mcp_server.hooks import answer_hook

    return answer_hook(event)
