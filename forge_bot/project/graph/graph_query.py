"""Questions to the graph: nodes, their neighbours, the chain between two, the reach of a change."""

from collections import defaultdict
from collections.abc import Sequence
from fnmatch import fnmatchcase
from heapq import nsmallest

from pydantic import Field

from forge_bot.errors import BadOption
from forge_bot.project.graph.node_types import Criticality, NodeKind, NodeTier
from forge_bot.project.graph.project_graph import SEPARATOR, GraphNode, ProjectGraph
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
    one, more, pairs = _find_answer(graph, question)
    fitting = [(node, how) for node, how in pairs if _fits(node, question)]
    shown = fitting[: question.limit]
    if not (question.of or question.touches):
        shown = nsmallest(question.limit, fitting, _place)
    nodes = tuple(node.replace(how=how) for node, how in shown)
    total = len(fitting)
    sentence = one if total == 1 else more.format(total or "No")
    return GraphAnswer(sentence=sentence, nodes=nodes, total=total)


def _find_answer(
    graph: ProjectGraph, asked: GraphQuestion
) -> tuple[str, str, Sequence[tuple[GraphNode, str]]]:
    """Return the sentence for one node and for more of them, and the nodes with their relations."""
    if asked.of and asked.touches:
        raise BadOption("Ask for one thing at a time: neighbours, or a change.")
    if asked.of:
        node = named_node(graph, asked.of)
        return "1 neighbour", f"{{}} neighbours of {node.id}", _neighbours(graph, node)
    if asked.touches:
        return _find_touched(graph, asked.touches)
    symbols = SEPARATOR in asked.name or asked.kind in {NodeKind.SYMBOL, NodeKind.PHASE}
    return "1 node", "{} nodes", [(node, "") for node in graph.nodes(symbols=symbols)]


def _fits(node: GraphNode, asked: GraphQuestion) -> bool:
    return (
        _is_named(node.id, asked.name)
        and (asked.kind is None or node.kind is asked.kind)
        and (asked.tier is None or (node.tier is not None and node.tier.within(asked.tier)))
        and (not asked.domain or node.domain == asked.domain)
        and (asked.criticality is None or node.criticality.weight >= asked.criticality.weight)
    )


def _place(pair: tuple[GraphNode, str]) -> tuple[int, str]:
    """Return the place in the order: the worst first."""
    return -pair[0].criticality.weight, pair[0].id


def _is_named(name: str, wanted: str) -> bool:
    """Return whether an id is named as wanted: by a glob, or a part in any case."""
    return fnmatchcase(name, wanted) if "*" in wanted else wanted.lower() in name.lower()


def named_node(graph: ProjectGraph, name: str) -> GraphNode:
    """Return the node of an id, or the only one whose id ends so."""
    if (node := graph.node(name)) is not None:
        return node
    ending = [path for path in graph.files if path.endswith(f"/{name}")]
    if len(ending) == 1:
        return graph.file_node(ending[0])
    like = ", ".join(similar_paths(graph, name))
    raise BadOption(
        f"There is no node {name!r}.",
        hint=f"There are: {like}." if like else "`forge-bot graph query PART` finds ids.",
    )


def similar_paths(graph: ProjectGraph, name: str) -> list[str]:
    """Return the first paths that end with a name, or else have it as a part."""
    ending = [path for path in graph.files if path.endswith(f"/{name}")]
    return (ending or [path for path in graph.files if name.lower() in path.lower()])[:_NEAR]


def _neighbours(graph: ProjectGraph, node: GraphNode) -> list[tuple[GraphNode, str]]:
    if SEPARATOR in node.id:
        return [(graph.file_node(node.path), "contains it")]
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
    near = [(graph.file_node(path), ", ".join(hows)) for path, hows in relations.items()]
    return [*near, *((part, "in it") for part in graph.contained(node.id))]


def _find_touched(
    graph: ProjectGraph, selectors: Sequence[str]
) -> tuple[str, str, list[tuple[GraphNode, str]]]:
    changed = [
        path
        for selector in selectors
        for path in matching(graph, selector) or (named_node(graph, selector).path,)
    ]
    reach = reach_of(graph, changed)
    untested = sum(not graph.testers.get(path) for path in reach.code)
    without = f", {untested} of them with no test of their own" if untested else ""
    more = (
        f"{{}} nodes are reached by a change: {several(len(reach.code), 'file')} of code{without},"
        f" {several(len(reach.tests), 'test')}"
    )
    nodes = [
        (graph.file_node(path), "directly" if away == 1 else f"{away} imports away")
        for path, away in reach.distance.items()
    ]
    return "1 node is reached by a change", more, nodes


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
    return Reach(
        distance=distance,
        code=code,
        tests=tuple(dict.fromkeys(tests)),
    )
