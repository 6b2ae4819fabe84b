"""The commands that programs start: jobs of GitHub Actions, a Temporal server, an MCP client."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from forge_bot.cli.options import HERE, ServerChoice, with_groups
from forge_bot.sentences import say

_PORT = 8765


def work(
    out: Annotated[Path | None, typer.Option("--out", help=say("help.work.out"))] = None,
) -> int:
    if out is not None:
        from forge_bot.bot.job import deliver

        return deliver(out)
    from forge_bot.bot.job import work as carry_on

    return carry_on()


def publish(
    folder: Annotated[Path | None, typer.Option("--in", help=say("help.publish.in"))] = None,
    last: Annotated[bool, typer.Option("--last", help=say("help.publish.last"))] = False,
) -> int:
    from forge_bot.bot.job import publish as carry_on

    return carry_on(folder, last=last)


@with_groups
def worker(
    server: ServerChoice,
    repo: Annotated[
        list[Path] | None, typer.Option("--repo", help=say("help.worker.repo"), metavar="PATH")
    ] = None,
    github: Annotated[
        list[str] | None,
        typer.Option("--github", help=say("help.worker.github"), metavar="OWNER/NAME"),
    ] = None,
    parts: Annotated[
        list[str] | None,
        typer.Option(
            "--for", help=say("help.worker.for"), metavar="orchestration|execution|publishing"
        ),
    ] = None,
    steps: Annotated[int | None, typer.Option(help=say("help.worker.steps"), min=1)] = None,
    steps_per_repo: Annotated[
        int, typer.Option(help=say("help.worker.steps_per_repo"), min=1, max=100)
    ] = 8,
    metrics: Annotated[
        str | None, typer.Option(help=say("help.worker.metrics"), metavar="URL")
    ] = None,
) -> int:
    from forge_bot.cli.temporal_commands import work_for_server, worker_duty

    duty = worker_duty(tuple(parts or ()), steps or 0, steps_per_repo)
    folders = tuple(repo or (() if github else (HERE,)))
    return work_for_server(folders, server, duty, metrics or "", tuple(github or ()))


def mcp(
    repo: Annotated[
        Path | None, typer.Option("--repo", help=say("help.mcp.repo"), metavar="PATH")
    ] = None,
    http: Annotated[bool, typer.Option("--http", help=say("help.mcp.http"))] = False,
    port: Annotated[
        int | None,
        typer.Option(help=say("help.mcp.port"), min=1, max=65535, show_default=str(_PORT)),
    ] = None,
) -> int:
    if port is not None and not http:
        from forge_bot.errors import BadOption

        raise BadOption(say("cli.machine_commands.port_goes_with_http"))
    if not http:
        from forge_bot.mcp_server.run_server import serve_stdio

        return serve_stdio(repo)
    from forge_bot.mcp_server.run_server import serve_http

    return serve_http(repo, port or _PORT)


def hook(
    event: Annotated[
        Literal["pre-tool", "post-tool", "stop"], typer.Argument(help=say("help.hook.event"))
    ],
) -> int:
    from forge_bot.mcp_server.hooks import answer_hook

    return answer_hook(event)
