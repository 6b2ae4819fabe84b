"""`forge-bot capabilities`: its parsing. It imports nothing heavy."""

from typing import Annotated

import typer

from forge_bot.cli.options import (
    HERE,
    CapabilityChoice,
    CommandGroup,
    Repo,
    with_groups,
)

capability_app = typer.Typer(
    cls=CommandGroup,
    help="List the tools and skills that agents may ask for here, with each problem; or call one.",
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
        typer.Option(
            help="Say yes to the servers with this digest without a question, for scripts.",
        ),
    ] = None,
    repo: Repo = HERE,
) -> int:
    from forge_bot.cli.server_question import approve_servers as approve

    return approve(repo, source, digest)


@capability_app.command(
    "try",
    help="Call one tool as a run would, and show what comes of it.",
)
@with_groups
def _try_capability(
    source: CapabilityChoice,
    name: Annotated[str, typer.Argument(help="Name of a tool, as the list shows it.")],
    arg: Annotated[
        list[str] | None,
        typer.Option(help="An argument; may be given several times.", metavar="NAME=VALUE"),
    ] = None,
    repo: Repo = HERE,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask before a tool that may change something."),
    ] = False,
) -> int:
    from forge_bot.cli.capability_output import try_capability as call

    return call(repo, source, name, tuple(arg or ()), yes=yes)
