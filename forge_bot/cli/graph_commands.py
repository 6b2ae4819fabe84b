"""`forge-bot graph`: the project as a graph. Each command parses its options and hands over."""

from pathlib import Path
from typing import Annotated

import typer

from forge_bot.cli.options import Repo

graph_app = typer.Typer(
    help="The project as a graph: what uses what, and which rules hold.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
HERE = Path()
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@graph_app.command()
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
        typer.Option(help="The shortest way of imports from one node to another."),
    ] = None,
    touches: Annotated[
        list[str] | None,
        typer.Option(help="What a change of this file or folder/ reaches.", metavar="PATH"),
    ] = None,
    used_by: Annotated[
        str, typer.Option("--pipelines-of", help="Pipelines that use this node.", metavar="NODE")
    ] = "",
    limit: Annotated[int, typer.Option(help="Most nodes of an answer.", min=1, max=1000)] = 20,
    as_json: AsJson = False,
) -> int:
    """Find nodes, their neighbours, the way between two, or what a change reaches."""
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
        "used_by": used_by,
        "limit": limit,
    }
    return print_answer(repo, asked, as_json=as_json)


@graph_app.command("map")
def map_(
    about: Annotated[
        list[str] | None, typer.Argument(help="Words or files that the map is about.")
    ] = None,
    repo: Repo = HERE,
    tokens: Annotated[int, typer.Option(help="Size of the map.", min=1, max=1_000_000)] = 1_000,
) -> int:
    """Print the most imported files and their definitions."""
    from forge_bot.cli.graph_output import print_map

    return print_map(repo, tuple(about or ()), tokens)


@graph_app.command()
def show(
    node: Annotated[
        str, typer.Argument(help="A node, or a folder with / at its end; the whole if left out.")
    ] = "",
    repo: Repo = HERE,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a picture in Mermaid.")] = False,
    as_json: AsJson = False,
) -> int:
    """Show the graph in numbers, or one node with its neighbours."""
    from forge_bot.cli.graph_output import print_node

    return print_node(repo, node, mermaid=mermaid, as_json=as_json)


@graph_app.command()
def verify(
    repo: Repo = HERE,
    base: Annotated[
        str | None, typer.Option(help="Only what was not broken at this commit.", metavar="COMMIT")
    ] = None,
    as_json: AsJson = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print SARIF for code scanning.")
    ] = False,
) -> int:
    """Check the manifest and the rules on imports. It ends with 0 if all hold, 2 if
    some are broken, and 64 when it is called wrongly.
    """
    from forge_bot.cli.graph_output import print_violations

    return print_violations(repo, base, as_json=as_json, as_sarif=as_sarif)
