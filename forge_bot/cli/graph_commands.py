"""`forge-bot graph`: the project as a graph. Each command parses its options and hands over."""

from pathlib import Path
from typing import Annotated

import typer

from forge_bot.cli.options import CommandGroup, Repo

graph_app = typer.Typer(
    cls=CommandGroup,
    help="The project as a graph: what uses what, and which rules hold.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
HERE = Path()
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@graph_app.command(
    help="Find nodes, their neighbours, the chain between two, or what a change reaches."
)
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
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(help="The shortest chain of imports from one node to another."),
    ] = None,
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
        "between": between,
        "touches": tuple(touches or ()),
        "limit": limit,
    }
    return print_answer(repo, asked, as_json=as_json)


@graph_app.command("map", help="Print the most imported files and their definitions.")
def map_(
    about: Annotated[
        list[str] | None, typer.Argument(help="Words or files that the map is about.")
    ] = None,
    repo: Repo = HERE,
    tokens: Annotated[int, typer.Option(help="Size of the map.", min=1, max=1_000_000)] = 1_000,
) -> int:
    from forge_bot.cli.graph_output import print_map

    return print_map(repo, tuple(about or ()), tokens)


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
