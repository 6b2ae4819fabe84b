"""The commands about a repository: prepare it, look at it and at its graph, its rules and its
capabilities, and tidy up behind runs. Each parses its options and hands over.
"""

from pathlib import Path
from typing import Annotated

import typer

from forge_bot.cli.options import (
    HERE,
    CapabilityChoice,
    CommandGroup,
    Model,
    Repo,
    with_groups,
)


def clean(
    repo: Repo = HERE,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove what ended runs left, without asking.")
    ] = False,
) -> int:
    from forge_bot.cli.doctor import clean as go

    return go(repo, remove=remove)


def init(
    repo: Repo = HERE,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Renew the workflow: the version of the action and the names of your checks.",
        ),
    ] = False,
    workflow: Annotated[
        bool | None,
        typer.Option(
            "--workflow/--no-workflow",
            help="Write .github/workflows/forge-bot.yml too; by default if origin is on GitHub.",
        ),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Create the labels on GitHub; needs GITHUB_TOKEN.")
    ] = False,
) -> int:
    from forge_bot.cli.init_command import init as write
    from forge_bot.cli.init_command import update_workflow

    if update:
        return update_workflow(repo)
    return write(repo, workflow=workflow, labels=labels)


def doctor(
    repo: Repo = HERE,
    model: Model = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask each model one short question; costs a few tokens.")
    ] = False,
    github: Annotated[
        str | None,
        typer.Option(
            help="Check only what the bot needs of this repository on GitHub; reads GITHUB_TOKEN, "
            "needs no clone and no model's key.",
            metavar="OWNER/REPO",
        ),
    ] = None,
) -> int:
    from forge_bot.cli.doctor import doctor as look
    from forge_bot.cli.doctor import doctor_of_github

    if github is not None:
        return doctor_of_github(github)
    return look(repo, model, ask=ask)


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
    help="The project as a graph: what uses what, and which rules hold.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@graph_app.command(help="Find nodes, their neighbours, or what a change reaches.")
def query(
    name: Annotated[str, typer.Argument(help="Part of a node's id, or a glob.")] = "",
    repo: Repo = HERE,
    tier: Annotated[str | None, typer.Option(help="Only this tier and its subtypes.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind, such as entry or test.")] = None,
    domain: Annotated[str, typer.Option(help="Only this domain of the manifest.")] = "",
    criticality: Annotated[
        str | None,
        typer.Option(help="Only this criticality or worse: low, normal, high, critical."),
    ] = None,
    of: Annotated[str, typer.Option(help="Neighbours of this node.", metavar="NODE")] = "",
    touches: Annotated[
        list[str] | None,
        typer.Option(help="What a change of this file or folder/ reaches.", metavar="PATH"),
    ] = None,
    limit: Annotated[int, typer.Option(help="The most nodes to show.", min=1, max=1000)] = 20,
    as_json: AsJson = False,
) -> int:
    from forge_bot.cli.graph_output import print_answer

    asked = {
        "name": name,
        "tier": tier,
        "kind": kind,
        "domain": domain,
        "criticality": criticality,
        "of": of,
        "touches": tuple(touches or ()),
        "limit": limit,
    }
    return print_answer(repo, asked, as_json=as_json)


@graph_app.command(
    help=(
        "Check the manifest and the rules on imports. It ends with 0 if all hold, 2 if some are "
        "broken, and 64 when it is called wrongly."
    )
)
def verify(
    repo: Repo = HERE,
    base: Annotated[
        str | None, typer.Option(help="Only what was not broken at this commit.", metavar="COMMIT")
    ] = None,
    as_json: AsJson = False,
) -> int:
    from forge_bot.cli.graph_output import print_violations

    return print_violations(repo, base, as_json=as_json)


policy_app = typer.Typer(cls=CommandGroup, help="Try the rules on who may approve.")


@policy_app.callback()
def _keep_words() -> None:
    """Keep `test` a word of its own, though it is the only one."""


@policy_app.command(
    "test",
    help="Say whether approvals count in a thread, and by which rule; with GITHUB_TOKEN by the "
    "roles and teams there. It ends with 0 if they are enough, 3 if not yet, 5 if the last one "
    "is refused.",
)
def _try_case(
    logins: Annotated[
        list[str],
        typer.Argument(help="Who approves, in this order."),
    ],
    gate: Annotated[str, typer.Option(help="Id of the gate; the first one by default.")] = "",
    path: Annotated[
        list[str] | None,
        typer.Option(help="A path of the change; may be repeated."),
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
        typer.Option(
            help="Say yes to the servers with this digest without a question, for scripts.",
        ),
    ] = None,
    repo: Repo = HERE,
) -> int:
    from forge_bot.cli.capability_output import approve_servers as approve

    return approve(repo, source, digest)
