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
from forge_bot.project.graph.graph_documents import (
    annotations_document,
    manifest_document,
    named,
    stack_document,
    violations,
)
from forge_bot.project.graph.graph_query import GraphQuestion, ask_graph
from forge_bot.project.graph.manifest import Manifest, declared, matching
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.repo_map import repo_map
from forge_bot.project.graph.scan_graph import scan
from forge_bot.sentences import say

Operation = Literal["query", "map", "verify", "scan"]

_MOST_CHARACTERS = 1_200
"""Characters of an answer: 300 tokens."""
_FINDINGS_LISTED = 200
_MAP_TOKENS = 250
_CONTEXT_TOKENS = 300


class GraphAnswers:
    """Reads the graphs of the served folders. Each is cached; only changed files are read again."""

    def __init__(self, roots: ServedFolders) -> None:
        self._roots = roots
        self._readers: dict[Path, GraphReader] = {}
        self._declared: dict[Path, tuple[ProjectGraph, tuple[ProjectGraph, Manifest]]] = {}
        self._one = threading.Lock()

    def answer(self, operation: Operation, asked: Mapping[str, Any], project: str) -> GraphResult:
        """Answer one call of `forge_graph`. Raises BadArguments, BadOption, BadManifest."""
        root = self._roots.root(project)
        graph, _ = self._with_manifest(root)
        manifest = f"forge://project/{root.id}/manifest"
        if operation in {"verify", "scan"}:
            found = scan(graph) if operation == "scan" else violations(graph)
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
        return manifest_document(*self._with_manifest(self._roots.root(project)))

    def node(self, project: str, node_id: str) -> JsonValue:
        """Return one node with its neighbours. Raises UnknownNode."""
        graph, _ = self._with_manifest(self._roots.root(project))
        found = graph.node(unquote(node_id))
        if found is None:
            raise UnknownNode(say("client.graph_answers.no_node", node=unquote(node_id)))
        answer = ask_graph(graph, GraphQuestion(of=found.id, limit=200))
        return {
            **named(found.id, found.kind, found.tier),
            "problem": found.problem,
            "neighbours": [
                {**named(each.id, each.kind, each.tier), "how": each.how} for each in answer.nodes
            ],
        }

    def glove(self, kind: str, stack: str) -> JsonValue:
        """Return the description of a stack. Raises UnknownNode."""
        return stack_document(kind, stack)

    def annotations(self, project: str) -> JsonValue:
        """Return the current findings of the graph, and the kept annotations."""
        return annotations_document(self._with_manifest(self._roots.root(project))[0])

    def summary(self, root: ServedFolder) -> str:
        """Return a summary of a repository's graph in a few lines; empty while reading the graph
        would take long.
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
                f" {len(violations(graph))} violations"
            ),
        ]
        return "\n".join([*lines, "", repo_map(graph, _CONTEXT_TOKENS).rstrip()])

    def _with_manifest(self, root: ServedFolder) -> tuple[ProjectGraph, Manifest]:
        """Return the graph with its manifest; the same object while no file changes."""
        graph = self._graph(root)
        known = self._declared.get(root.path)
        if known is None or known[0] is not graph:
            known = (graph, declared(graph))
            self._declared[root.path] = known
        return known[1]

    def _graph(self, root: ServedFolder) -> ProjectGraph:
        with self._one:
            return self._reader(root).here()

    def _reader(self, root: ServedFolder) -> GraphReader:
        return self._readers.setdefault(root.path, GraphReader(root.repository))


def _fitted(first: str, lines: list[str]) -> str:
    """Return the lines that fit, and the number of those left out."""
    kept, room = [first], _MOST_CHARACTERS - len(first)
    for at, line in enumerate(lines):
        if len(line) + 1 > room:
            kept.append(f"… {len(lines) - at} more lines; narrow the question")
            break
        kept.append(line)
        room -= len(line) + 1
    return "\n".join(kept)
