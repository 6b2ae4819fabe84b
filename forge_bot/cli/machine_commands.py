"""The commands that programs start: jobs of GitHub Actions, a Temporal server, an MCP client."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from forge_bot.cli.options import HERE, ServerChoice, with_groups

_PORT = 8765


def work(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help=(
                "Only the worker's part: do what was handed over, push nothing, and "
                "leave it in this "
                "folder."
            ),
        ),
    ] = None,
    prepare: Annotated[
        bool,
        typer.Option(help="Only set the project up for work that was handed over."),
    ] = False,
    wake: Annotated[
        bool,
        typer.Option(help="Only look after the runs that wait, as the scheduled workflow does."),
    ] = False,
) -> int:
    if wake:
        from forge_bot.bot.wake import wake as wake_runs

        return wake_runs()
    if prepare:
        from forge_bot.bot.job import prepare as set_up

        return set_up()
    if out is not None:
        from forge_bot.bot.job import deliver

        return deliver(out)
    from forge_bot.bot.job import work as carry_on

    return carry_on()


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
    from forge_bot.bot.job import publish as carry_on

    return carry_on(folder, last=last)


@with_groups
def worker(
    server: ServerChoice,
    repo: Annotated[
        list[Path] | None,
        typer.Option(
            "--repo",
            help="Folder inside a clone to work in; may be given several times.",
            metavar="PATH",
        ),
    ] = None,
    github: Annotated[
        list[str] | None,
        typer.Option(
            "--github",
            help=(
                "Repository on GitHub whose issues it works for, with GITHUB_TOKEN; may be given "
                "several times."
            ),
            metavar="OWNER/NAME",
        ),
    ] = None,
    at_once: Annotated[
        int,
        typer.Option(
            help="Runs that it works on at the same time in a clone, or a repository.",
            min=1,
            max=100,
        ),
    ] = 8,
) -> int:
    from forge_bot.cli.temporal_commands import work_for_server

    folders = tuple(repo or (() if github else (HERE,)))
    return work_for_server(folders, server, at_once, tuple(github or ()))


def mcp(
    repo: Annotated[
        Path | None,
        typer.Option("--repo", help="Folder inside the repository to serve.", metavar="PATH"),
    ] = None,
    http: Annotated[
        bool,
        typer.Option("--http", help="Serve over HTTP on this machine instead of stdin and stdout."),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(help="Port for --http.", min=1, max=65535, show_default=str(_PORT)),
    ] = None,
    by_path: Annotated[
        bool,
        typer.Option(
            "--by-path",
            help="Hand out prompts as paths, and write documents that need no model.",
        ),
    ] = False,
) -> int:
    if port is not None and not http:
        from forge_bot.errors import BadOption

        raise BadOption("--port goes with --http.")
    if not http:
        from forge_bot.mcp_server.run_server import serve_stdio

        return serve_stdio(repo, by_path=by_path)
    from forge_bot.mcp_server.run_server import serve_http

    return serve_http(repo, port or _PORT, by_path=by_path)


def hook(
    event: Annotated[
        Literal["pre-tool", "post-tool", "stop"],
        typer.Argument(help="Which hook of the host calls it."),
    ],
) -> int:
    from forge_bot.mcp_server.hooks import answer_hook

    return answer_hook(event)
