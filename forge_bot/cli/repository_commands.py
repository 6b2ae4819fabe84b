"""The commands about a repository: prepare it, look at it and at its graph, its rules and its
capabilities, and tidy up behind runs; and those that programs start: jobs of GitHub Actions, a
Temporal server, an MCP client. Each parses its options and hands over.
"""

from pathlib import Path
from typing import Annotated, Literal

import typer

from forge_bot.cli.options import (
    HERE,
    CapabilityChoice,
    CommandGroup,
    Model,
    Repo,
    ServerChoice,
    with_groups,
)


def clean(
    repo: Repo = HERE,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove what ended runs left, without asking.")
    ] = False,
) -> int:
    from forge_bot.cli.repository_setup import clean as go

    return go(repo, remove=remove)


def init(
    repo: Repo = HERE,
    update: Annotated[
        bool, typer.Option("--update", help="Renew the workflow; what you changed stays.")
    ] = False,
) -> int:
    from forge_bot.cli.repository_setup import init as write
    from forge_bot.cli.repository_setup import update_workflow

    return update_workflow(repo) if update else write(repo)


def doctor(
    repo: Repo = HERE,
    model: Model = None,
    github: Annotated[
        str | None,
        typer.Option(metavar="OWNER/REPO", help="Check only this repository, with GITHUB_TOKEN."),
    ] = None,
) -> int:
    from forge_bot.cli.repository_setup import doctor as look
    from forge_bot.cli.repository_setup import doctor_of_hosted

    return doctor_of_hosted(github) if github is not None else look(repo, model)


def demo(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Folder for the sample repository; a new temporary one if left out."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Approve at the checkpoints instead of asking you.")
    ] = False,
) -> int:
    from forge_bot.cli.demo import demo as show_it

    return show_it(folder, yes=yes)


graph_app = typer.Typer(
    cls=CommandGroup,
    help="The project as a graph: which rules hold.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@graph_app.callback()
def _keep_words() -> None:
    """Keep `verify` and `test` words of their own, though each is the only one."""


@graph_app.command(help="Check the manifest and the rules on imports; 2 if some are broken.")
def verify(
    repo: Repo = HERE,
    base: Annotated[
        str | None, typer.Option(help="Only what was not broken at this commit.", metavar="COMMIT")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    from forge_bot.cli.repository_setup import print_violations

    return print_violations(repo, base, as_json=as_json)


policy_app = typer.Typer(cls=CommandGroup, help="Try the rules on who may approve.")
policy_app.callback()(_keep_words)


@policy_app.command(
    "test",
    help="Say whether approvals count in a thread, by which rule: 0 if so, 3 not yet, 5 refused.",
)
def _try_case(
    logins: Annotated[list[str], typer.Argument(help="Who approves, in this order.")],
    gate: Annotated[str, typer.Option(help="Id of the gate; the first one by default.")] = "",
    path: Annotated[
        list[str] | None, typer.Option(help="A path of the change; may be repeated.")
    ] = None,
    requester: Annotated[str, typer.Option(help="Who began the run.")] = "",
    repo: Repo = HERE,
) -> int:
    from forge_bot.cli.pull_request_commands import try_case

    return try_case(repo, logins, gate, tuple(path or ()), requester)


capability_app = typer.Typer(
    cls=CommandGroup,
    help="List the tools and skills that agents may ask for here, with each problem.",
    invoke_without_command=True,
)


@capability_app.callback()
@with_groups
def _list_capabilities(context: typer.Context, source: CapabilityChoice, repo: Repo = HERE) -> int:
    if context.invoked_subcommand is not None:
        return 0
    from forge_bot.cli.capability_output import list_capabilities as look

    return look(repo, source)


@capability_app.command(
    "approve",
    help="Show the servers that the repository configures, and ask whether they may be started.",
)
@with_groups
def _approve_servers(
    source: CapabilityChoice,
    digest: Annotated[
        str | None,
        typer.Option(help="Say yes to the servers with this digest, for scripts."),
    ] = None,
    repo: Repo = HERE,
) -> int:
    from forge_bot.cli.capability_output import approve_servers as approve

    return approve(repo, source, digest)


def work(
    out: Annotated[
        Path | None,
        typer.Option(help="Only the worker's part: push nothing, and leave it in this folder."),
    ] = None,
    prepare: Annotated[bool, typer.Option(help="Only set the project up.")] = False,
    wake: Annotated[bool, typer.Option(help="Only look after the runs that wait.")] = False,
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
        typer.Option("--in", help="Folder that `work --out` left, to be looked at and pushed."),
    ] = None,
    last: Annotated[
        bool, typer.Option("--last", help="No worker comes after this: say how to go on.")
    ] = False,
) -> int:
    from forge_bot.bot.job import publish as carry_on

    return carry_on(folder, last=last)


@with_groups
def worker(
    server: ServerChoice,
    repo: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Clone to work in; may be given several times."),
    ] = None,
    github: Annotated[
        list[str] | None,
        typer.Option(metavar="OWNER/NAME", help="Repository whose issues it works for, too."),
    ] = None,
    at_once: Annotated[
        int,
        typer.Option(min=1, max=100, help="Runs at the same time in a clone or a repository."),
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
    by_path: Annotated[
        bool, typer.Option("--by-path", help="Hand out prompts as files: fewer calls and tokens.")
    ] = False,
) -> int:
    from forge_bot.mcp_server.sdk_server.server import serve

    return serve(repo, by_path=by_path)


def hook(
    event: Annotated[
        Literal["pre-tool", "post-tool", "stop"],
        typer.Argument(help="Which hook of the host calls it."),
    ],
) -> int:
    from forge_bot.mcp_server.hooks import answer_hook

    return answer_hook(event)
