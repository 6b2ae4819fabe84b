"""The project's graph for clients: answers of `forge_graph`, and the resources made of it."""

import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote

from pydantic import JsonValue, ValidationError

from forge_bot.errors import BadArguments, UnknownNode
from forge_bot.mcp_server.served_folders import ServedFolder, ServedFolders
from forge_bot.mcp_server.side_tool_results import GraphResult
from forge_bot.project.graph.graph_query import GraphQuestion, ask_graph
from forge_bot.project.graph.manifest import declared, matching
from forge_bot.project.graph.node_types import EdgeKind, NodeKind, NodeTier
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.repo_map import repo_map
from forge_bot.project.graph.scan_graph import GraphFinding, scan
from forge_bot.project.graph.stacks.all_stacks import STACKS, stack_named
from forge_bot.project.graph.verify_graph import verify

Operation = Literal["query", "map", "verify", "scan"]

_MOST_CHARACTERS = 1_200
"""Characters of an answer: 300 tokens."""
_NODES_LISTED = 1_000
_FINDINGS_LISTED = 200
_MAP_TOKENS = 250
_CONTEXT_TOKENS = 300


class GraphAnswers:
    """Reads the graphs of the served folders; each is kept and only what changed is read again."""

    def __init__(self, roots: ServedFolders) -> None:
        self._roots = roots
        self._readers: dict[Path, GraphReader] = {}
        self._one = threading.Lock()

    def answer(self, operation: Operation, asked: Mapping[str, Any], project: str) -> GraphResult:
        """Answer one call of `forge_graph`. Raises BadArguments, BadOption, BadManifest."""
        root = self._roots.root(project)
        graph, _ = declared(self._graph(root))
        manifest = f"forge://project/{root.id}/manifest"
        if operation in {"verify", "scan"}:
            found = scan(graph) if operation == "scan" else _violations(graph)
            lines = [each.words for each in found]
            text = _fitted(f"{len(found)} found" if found else "Nothing found", lines)
            nodes = [
                f"forge://project/{root.id}/node/{quote(each.node, safe='')}" for each in found
            ]
            annotations = f"forge://project/{root.id}/annotations"
            links = (annotations, *dict.fromkeys(nodes))[:_FINDINGS_LISTED]
            return GraphResult(text=text, count=len(found), links=links)
        if operation == "map":
            said = str(asked.get("name", ""))
            about = [path for each in asked.get("touches", ()) for path in matching(graph, each)]
            return GraphResult(text=repo_map(graph, _MAP_TOKENS, about, said), links=(manifest,))
        try:
            question = GraphQuestion.model_validate(asked)
        except ValidationError as error:
            first = error.errors()[0]
            raise BadArguments(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from None
        found_nodes = ask_graph(graph, question)
        lines = found_nodes.text.splitlines()
        text = _fitted(lines[0], lines[1:])
        return GraphResult(text=text, count=found_nodes.total, links=(manifest,))

    def manifest(self, project: str) -> JsonValue:
        """Return the nodes of code with tier and imports, and the rules that are declared."""
        graph, manifest = declared(self._graph(self._roots.root(project)))
        nodes = [path for path, node in graph.files.items() if node.kind is not NodeKind.OTHER]
        return {
            "version": manifest.version,
            "files": len(graph.files),
            "left_out": max(len(nodes) - _NODES_LISTED, 0),
            "nodes": [_node(graph, path) for path in nodes[:_NODES_LISTED]],
            "rules": [
                rule.model_dump(mode="json", by_alias=True, exclude_defaults=True)
                for rule in manifest.rules
            ],
        }

    def node(self, project: str, node_id: str) -> JsonValue:
        """Return one node with its neighbours. Raises UnknownNode."""
        graph, _ = declared(self._graph(self._roots.root(project)))
        found = graph.node(unquote(node_id))
        if found is None:
            raise UnknownNode(f"The graph has no node {unquote(node_id)!r}.")
        answer = ask_graph(graph, GraphQuestion(of=found.id, limit=200))
        return {
            **_named(found.id, found.kind, found.tier),
            "problem": found.problem,
            "neighbours": [
                {**_named(each.id, each.kind, each.tier), "how": each.how} for each in answer.nodes
            ],
        }

    def annotations(self, project: str) -> JsonValue:
        """Return what is found in the graph as it is now, each finding bound to its node's text."""
        graph, _ = declared(self._graph(self._roots.root(project)))
        found = [*_violations(graph), *scan(graph)]
        return {
            "total": len(found),
            "annotations": [
                {**each.model_dump(mode="json"), "text": graph.blob(each.path)}
                for each in found[:_FINDINGS_LISTED]
            ],
        }

    def summary(self, root: ServedFolder) -> str:
        """Return what the graph says of a repository in a few lines; empty while reading it would
        take long.
        """
        with self._one:
            found = self._reader(root).if_quick()
        if found is None:
            return ""
        graph, _ = declared(found)
        kinds = Counter(str(node.kind) for node in graph.files.values())
        code = [path for path, node in graph.files.items() if node.kind.is_code]
        untested = sum(not graph.testers.get(path) for path in code)
        lines = [
            ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()),
            (
                f"{sum(len(node.imports) for node in graph.files.values())} imports;"
                f" {untested} of {len(code)} files of code have no test of their own;"
                f" {len(_violations(graph))} violations"
            ),
        ]
        return "\n".join([*lines, "", repo_map(graph, _CONTEXT_TOKENS).rstrip()])

    def _graph(self, root: ServedFolder) -> ProjectGraph:
        with self._one:
            return self._reader(root).here()

    def _reader(self, root: ServedFolder) -> GraphReader:
        return self._readers.setdefault(root.path, GraphReader(root.repository))


def _violations(graph: ProjectGraph) -> list[GraphFinding]:
    return [
        GraphFinding(
            code=each.code,
            node=each.node_id,
            message=each.message,
            path=each.path,
            line=each.line,
            dependency_ids=each.dependency_ids,
        )
        for each in verify(graph)
    ]


def _fitted(first: str, lines: list[str]) -> str:
    """Return lines as far as they fit, and how many are left out."""
    kept, room = [first], _MOST_CHARACTERS - len(first)
    for at, line in enumerate(lines):
        if len(line) + 1 > room:
            kept.append(f"… {len(lines) - at} more lines; narrow the question")
            break
        kept.append(line)
        room -= len(line) + 1
    return "\n".join(kept)


def _named(name: str, kind: NodeKind, tier: NodeTier | None) -> dict[str, JsonValue]:
    return {"id": name, "kind": str(kind), "tier": str(tier) if tier is not None else None}


def _node(graph: ProjectGraph, path: str) -> dict[str, JsonValue]:
    node, found = graph.files[path], graph.file_node(path)
    more: dict[str, JsonValue] = {
        "domain": found.domain,
        "problem": found.problem,
        "contracts": list(found.contracts),
        "imports": list(node.imports),
        "tests": list(node.tests),
    }
    kept = {name: value for name, value in more.items() if value}
    return {**_named(path, found.kind, found.tier), "criticality": str(found.criticality), **kept}


def stack_resource(kind: str, stack: str) -> JsonValue:
    """Return what is read of a stack for a kind of node. Raises UnknownNode."""
    found = stack_named(stack)
    known = {each.value: each for each in NodeKind}
    if found is None or kind not in known:
        raise UnknownNode(
            f"There is no stack for {kind!r} in {stack!r}.",
            hint=f"Kinds: {', '.join(known)}. Stacks: {', '.join(each.slug for each in STACKS)}.",
        )
    tier = known[kind].tier
    return {
        "stack": found.name,
        "kind": kind,
        "tier": str(tier) if tier is not None else None,
        "endings": list(found.endings),
        "reads": found.promise,
        "resolves_imports": found.resolver is not None,
        "scaffolds": False,
    }


def taxonomy() -> JsonValue:
    """Return the tiers with their hierarchy, the kinds of nodes with their tier, and the edges."""
    return {
        "tiers": [
            {
                "tier": tier.value,
                "what": tier.meaning,
                "subtype_of": tier.parent.value if tier.parent is not None else None,
                "kinds": [kind.value for kind in NodeKind if kind.tier is tier],
            }
            for tier in NodeTier
        ],
        "untiered_kinds": [kind.value for kind in NodeKind if kind.tier is None],
        "edges": [kind.value for kind in EdgeKind],
    }
