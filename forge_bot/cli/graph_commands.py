"""`forge-bot graph`: the project as a graph. Each command parses its options and hands over."""

from pathlib import Path
from typing import Annotated

import typer

from forge_bot.cli.options import CommandGroup, Repo
from forge_bot.sentences import say

graph_app = typer.Typer(
    cls=CommandGroup,
    help=say("help.graph.what"),
    no_args_is_help=True,
    rich_markup_mode=None,
)
HERE = Path()
AsJson = Annotated[bool, typer.Option("--json", help=say("help.graph.as_json"))]


@graph_app.command(help=say("help.graph.query"))
def query(
    name: Annotated[str, typer.Argument(help=say("help.graph.query_name"))] = "",
    repo: Repo = HERE,
    tier: Annotated[str | None, typer.Option(help=say("help.graph.query_tier"))] = None,
    kind: Annotated[str | None, typer.Option(help=say("help.graph.query_kind"))] = None,
    domain: Annotated[str, typer.Option(help=say("help.graph.query_domain"))] = "",
    criticality: Annotated[
        str | None, typer.Option(help=say("help.graph.query_criticality"))
    ] = None,
    of: Annotated[str, typer.Option(help=say("help.graph.query_of"), metavar="NODE")] = "",
    between: Annotated[
        tuple[str, str] | None, typer.Option(help=say("help.graph.query_between"))
    ] = None,
    touches: Annotated[
        list[str] | None, typer.Option(help=say("help.graph.query_touches"), metavar="PATH")
    ] = None,
    used_by: Annotated[
        str,
        typer.Option("--pipelines-of", help=say("help.graph.query_pipelines_of"), metavar="NODE"),
    ] = "",
    limit: Annotated[int, typer.Option(help=say("help.graph.query_limit"), min=1, max=1000)] = 20,
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
        "used_by": used_by,
        "limit": limit,
    }
    return print_answer(repo, asked, as_json=as_json)


@graph_app.command("map", help=say("help.graph.map"))
def map_(
    about: Annotated[list[str] | None, typer.Argument(help=say("help.graph.map_about"))] = None,
    repo: Repo = HERE,
    tokens: Annotated[
        int, typer.Option(help=say("help.graph.map_tokens"), min=1, max=1_000_000)
    ] = 1_000,
) -> int:
    from forge_bot.cli.graph_output import print_map

    return print_map(repo, tuple(about or ()), tokens)


@graph_app.command(help=say("help.graph.show"))
def show(
    node: Annotated[str, typer.Argument(help=say("help.graph.show_node"))] = "",
    repo: Repo = HERE,
    as_json: AsJson = False,
) -> int:
    from forge_bot.cli.graph_output import print_node

    return print_node(repo, node, as_json=as_json)


@graph_app.command(help=say("help.graph.verify"))
def verify(
    repo: Repo = HERE,
    base: Annotated[
        str | None, typer.Option(help=say("help.graph.verify_base"), metavar="COMMIT")
    ] = None,
    as_json: AsJson = False,
) -> int:
    from forge_bot.cli.graph_output import print_violations

    return print_violations(repo, base, as_json=as_json)
