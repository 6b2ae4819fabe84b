"""The commands that prepare a repository, look at it, and tidy up behind runs."""

from pathlib import Path
from typing import Annotated

import typer

from forge_bot.cli.options import HERE, Model, Repo


def clean(
    repo: Repo = HERE,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove what ended runs left, without asking.")
    ] = False,
) -> int:
    from forge_bot.cli.clean import clean as go

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
    baseline: Annotated[
        bool,
        typer.Option(
            "--baseline/--no-baseline",
            help="Run the project's commands once, as a run does before its work.",
        ),
    ] = True,
) -> int:
    from forge_bot.cli.init_command import init as write
    from forge_bot.cli.init_command import update_workflow

    if update:
        return update_workflow(repo)
    return write(repo, workflow=workflow, labels=labels, baseline=baseline)


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
