"""Questions to the graph: nodes, their neighbours, the reach of a change."""

from collections import defaultdict
from collections.abc import Sequence
from fnmatch import fnmatchcase

from pydantic import Field

from forge_bot.errors import BadOption
from forge_bot.project.graph.project_graph import (
    SEPARATOR,
    Criticality,
    GraphNode,
    NodeKind,
    NodeTier,
    ProjectGraph,
)
from forge_bot.project.graph.verify_graph import matching
from forge_bot.text_format import several
from forge_bot.values import Frozen

_NEAR = 3


class GraphQuestion(Frozen):
    """One question. `touches` or `of` asks for edges; the rest narrows the nodes of the answer."""

    name: str = Field(default="", description="part of an id, or a glob")
    tier: NodeTier | None = Field(default=None, description="subtypes included")
    kind: NodeKind | None = None
    domain: str = ""
    criticality: Criticality | None = Field(default=None, description="this or worse")
    of: str = Field(default="", description="a node: what it uses and what uses it")
    touches: tuple[str, ...] = Field(
        default=(), description="files or folders: what a change of them reaches"
    )
    limit: int = Field(default=20, ge=1, le=1_000)


class GraphAnswer(Frozen):
    """The nodes that answer a question, as many as were asked for, and how many there are."""

    sentence: str
    nodes: tuple[GraphNode, ...]
    total: int

    @property
    def text(self) -> str:
        left = self.total - len(self.nodes)
        more = [f"… {left} more; narrow the question or raise the limit"] if left else []
        return "\n".join([self.sentence, *(node.words for node in self.nodes), *more])


def ask_graph(graph: ProjectGraph, question: GraphQuestion) -> GraphAnswer:
    """Return the answer to a question. Raises BadOption for a node that there is not."""
    noun, tail, nodes = _find_answer(graph, question)
    fitting = [node for node in nodes if _fits(node, question)]
    sentence = f"{several(len(fitting), noun)}{tail}"
    shown = tuple(fitting[: question.limit])
    return GraphAnswer(sentence=sentence, nodes=shown, total=len(fitting))


def _find_answer(graph: ProjectGraph, asked: GraphQuestion) -> tuple[str, str, list[GraphNode]]:
    """Return the nodes with their relations, what they are, and what else is said of them all."""
    if asked.of and asked.touches:
        raise BadOption("Ask for one thing at a time: neighbours, or a change.")
    if asked.of:
        node = _named_node(graph, asked.of)
        return "neighbour", f" of {node.id}", _neighbours(graph, node)
    if asked.touches:
        return "node", *_find_touched(graph, asked.touches)
    symbols = SEPARATOR in asked.name or asked.kind is NodeKind.SYMBOL
    # The worst first.
    nodes = sorted(graph.nodes(symbols=symbols), key=lambda one: (-one.criticality.weight, one.id))
    return "node", "", nodes


def _fits(node: GraphNode, asked: GraphQuestion) -> bool:
    return (
        _is_named(node.id, asked.name)
        and (asked.kind is None or node.kind is asked.kind)
        and (asked.tier is None or (node.tier is not None and node.tier.within(asked.tier)))
        and (not asked.domain or node.domain == asked.domain)
        and (asked.criticality is None or node.criticality.weight >= asked.criticality.weight)
    )


def _is_named(name: str, wanted: str) -> bool:
    """Return whether an id is named as wanted: by a glob, or a part in any case."""
    return fnmatchcase(name, wanted) if "*" in wanted else wanted.lower() in name.lower()


def _named_node(graph: ProjectGraph, name: str) -> GraphNode:
    """Return the node of an id, or the only one whose id ends so."""
    if (node := graph.node(name)) is not None:
        return node
    ending = [path for path in graph.files if path.endswith(f"/{name}")]
    if len(ending) == 1:
        return graph.file_node(ending[0])
    like = ", ".join((ending or [path for path in graph.files if _is_named(path, name)])[:_NEAR])
    raise BadOption(
        f"There is no node {name!r}.",
        hint=f"There are: {like}." if like else "`forge-bot graph query PART` finds ids.",
    )


def _neighbours(graph: ProjectGraph, node: GraphNode) -> list[GraphNode]:
    if SEPARATOR in node.id:
        return [graph.file_node(node.path).replace(how="contains it")]
    if node.kind is NodeKind.COMMAND:
        return []
    file, relations = graph.files[node.id], defaultdict[str, list[str]](list)
    for path in graph.importers.get(node.id, ()):
        relations[path].append("imports it")
    for path in graph.testers.get(node.id, ()):
        relations[path].append("tests it")
    for path, line in file.imports.items():
        relations[path].append(f"imported by it in line {line}")
    for path in file.tests:
        relations[path].append("tested by it")
    near = [graph.file_node(path).replace(how=", ".join(how)) for path, how in relations.items()]
    return [*near, *(part.replace(how="in it") for part in graph.contained(node.id))]


def _find_touched(graph: ProjectGraph, selectors: Sequence[str]) -> tuple[str, list[GraphNode]]:
    changed = [
        path
        for selector in selectors
        for path in matching(graph, selector) or (_named_node(graph, selector).path,)
    ]
    reach = reach_of(graph, changed)
    untested = sum(not graph.testers.get(path) for path in reach.code)
    without = f", {untested} of them with no test of their own" if untested else ""
    counts = f"{several(len(reach.code), 'file')} of code{without}"
    nodes = [
        graph.file_node(path).replace(how="directly" if away == 1 else f"{away} imports away")
        for path, away in reach.distance.items()
    ]
    return f" reached by a change: {counts}, {several(len(reach.tests), 'test')}", nodes


class Reach(Frozen):
    """The files that a change reaches, with their distance; code and tests apart."""

    distance: dict[str, int]
    code: tuple[str, ...]
    tests: tuple[str, ...]


def reach_of(graph: ProjectGraph, changed: Sequence[str]) -> Reach:
    distance = graph.dependents(changed)
    tests = [path for path in distance if graph.files[path].kind is NodeKind.TEST]
    tests += [test for path in (*changed, *distance) for test in graph.testers.get(path, ())]
    code = tuple(path for path in distance if graph.files[path].kind.is_code)
    return Reach(distance=distance, code=code, tests=tuple(dict.fromkeys(tests)))
