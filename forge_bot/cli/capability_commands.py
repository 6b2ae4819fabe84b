"""`forge-bot capabilities`: each command parses its options and hands over."""

from typing import Annotated

import typer

from forge_bot.cli.options import HERE, CapabilityChoice, Repo, SkillOptions, with_groups, words
from forge_bot.sentences import say

capability_app = typer.Typer(
    help=say("help.capabilities.what"),
    invoke_without_command=True,
)


@capability_app.callback()
@with_groups
def list_capabilities(context: typer.Context, source: CapabilityChoice, repo: Repo = HERE) -> int:
    if context.invoked_subcommand is not None:
        return 0
    from forge_bot.cli.capability_output import list_capabilities as look

    return look(repo, source)


@capability_app.command("try", help=say("help.capabilities.try"))
@with_groups
def try_capability(
    source: CapabilityChoice,
    performing: SkillOptions,
    name: Annotated[str, typer.Argument(help=say("help.capabilities.try_name"), callback=words)],
    arg: Annotated[
        list[str] | None,
        typer.Option(help=say("help.capabilities.try_arg"), metavar="NAME=VALUE"),
    ] = None,
    repo: Repo = HERE,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help=say("help.capabilities.try_yes")),
    ] = False,
) -> int:
    from forge_bot.cli.capability_output import try_capability as call

    return call(repo, source, name, tuple(arg or ()), performing, yes=yes)
