"""`forge-bot policy`: its parsing. It imports nothing heavy."""

from typing import Annotated

import typer

from forge_bot.cli.options import HERE, CommandGroup, Repo

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
    from forge_bot.cli.policy_case import try_case

    return try_case(repo, logins, gate, tuple(path or ()), requester)
