"""The graph of the code: the definitions of a file, its uses in both directions, and a map."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_catalogue import Declined, ProviderResult, head
from forge_bot.agent.text_files import normalise
from forge_bot.errors import BadOption
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from forge_bot.project.graph.project_graph import ProjectGraph

ReadGraph = Callable[[], "ProjectGraph | None"]

_CHARACTERS_OF_A_TOKEN = 4
_INDENT = "  "


class CodeGraph(Frozen):
    """Show the `symbol_list` or the `import_graph` of a file, or a `repo_map`: the files most used
    near a path or words.
    """

    show: Literal["symbol_list", "import_graph", "repo_map"] = Field(
        description="symbol_list, import_graph or repo_map"
    )
    about: str = Field(
        default="",
        max_length=2_000,
        description="a file; for repo_map a file, a folder or words, or nothing",
    )


def code_graph(read: ReadGraph, wanted: CodeGraph, limit: int) -> ProviderResult:
    """Return what the graph of the work tree says, as much as fits into `limit` characters."""
    graph = read()
    if graph is None:
        why = "Reading this repository as a graph would take too long; search_code is quick."
        raise Declined(ResultStatus.TOOL_ERROR, why)
    if wanted.show == "repo_map":
        return _map(graph, wanted.about, limit)
    path = _file(graph, wanted.about)
    lines = _symbols(graph, path) if wanted.show == "symbol_list" else _uses(graph, path)
    shown = "\n".join(lines) or "Nothing."
    return head(shown, limit, "; ".join(part for part in (path, graph.files[path].problem) if part))


def _map(graph: "ProjectGraph", about: str, limit: int) -> ProviderResult:
    from forge_bot.project.graph.graph_documents import repo_map
    from forge_bot.project.graph.manifest import matching

    near = matching(graph, about) or matching(graph, f"{about.rstrip('/')}/") if about else ()
    shown = repo_map(graph, limit // _CHARACTERS_OF_A_TOKEN, near, "" if near else about)
    return ProviderResult(content=shown)


def _file(graph: "ProjectGraph", about: str) -> str:
    """Return the file that is meant. Raises Declined."""
    from forge_bot.project.graph.graph_query import named_node, similar_paths

    if not about:
        raise Declined(ResultStatus.INVALID_PARAMS, "`about` names no file.")
    try:
        path = named_node(graph, normalise(about)).path
    except BadOption:
        near = ", ".join(similar_paths(graph, normalise(about)))
        near = f"There are: {near}." if near else "list_files shows what is."
        raise Declined(ResultStatus.TOOL_ERROR, f"There is no file {about}. {near}") from None
    if not path:
        raise Declined(ResultStatus.INVALID_PARAMS, f"{about} is no file.")
    return path


def _symbols(graph: "ProjectGraph", path: str) -> Iterator[str]:
    """Yield a line for each definition: its lines, and its first line as it is written."""
    facts = graph.facts((path,)).get(path)
    for symbol in facts.symbols if facts is not None else ():
        lines = f"{symbol.line}-{symbol.end}" if symbol.end > symbol.line else str(symbol.line)
        yield f"{lines}: {_INDENT * symbol.name.count('.')}{symbol.text}"


def _uses(graph: "ProjectGraph", path: str) -> Iterator[str]:
    """Yield a line for each file that uses it, and for each file and package that it uses."""
    for edge in graph.edges_to(path):
        yield f"{edge.source}{f':{edge.line}' if edge.line else ''} {edge.kind} it"
    for edge in graph.edges_from(path):
        yield f"{edge.kind} {edge.target}" + (f" in line {edge.line}" if edge.line else "")
    node = graph.files[path]
    for package, line in node.outside.items():
        yield f"imports {package} from outside in line {line}"
    for module, line in node.missing:
        yield f"imports {module} in line {line}, which is not there"
