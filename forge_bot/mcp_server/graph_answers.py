"""The project's graph for clients: answers of `forge_graph`, and the resources made of it."""

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue, ValidationError

from forge_bot.errors import BadArguments
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.project.graph.graph_documents import (
    annotations_document,
    manifest_document,
    repo_map,
    stack_document,
    violations,
)
from forge_bot.project.graph.graph_query import GraphQuestion, ask_graph
from forge_bot.project.graph.manifest import Manifest, declared, matching
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.verify_graph import scan

Operation = Literal["query", "map", "verify", "scan"]

_MOST_CHARACTERS = 1_200
"""Characters of an answer: 300 tokens."""
_MAP_TOKENS = 250
_CONTEXT_TOKENS = 300


class GraphResult(NamedTuple):
    """An answer about the project's graph, in lines; `links` lead to more."""

    text: str
    links: tuple[str, ...]
    total: int = 0


class GraphAnswers:
    """Reads the graph of the repository; only changed files are read again."""

    def __init__(self, served: ServedRepository) -> None:
        self._served = served
        self._reader: GraphReader | None = None
        self._one = threading.Lock()

    def answer(self, operation: Operation, asked: Mapping[str, Any]) -> GraphResult:
        """Answer one call of `forge_graph`. Raises BadArguments, BadOption, BadManifest."""
        graph, _ = declared(self._graph())
        project = f"forge://project/{self._served.id}"
        if operation in {"verify", "scan"}:
            findings = scan(graph) if operation == "scan" else violations(graph)
            first = f"{len(findings)} found" if findings else "Nothing found"
            text = _fitted(first, [finding.words for finding in findings])
            return GraphResult(text=text, total=len(findings), links=(f"{project}/annotations",))
        links = (f"{project}/manifest",)
        if operation == "map":
            about = [
                path for selector in asked.get("touches", ()) for path in matching(graph, selector)
            ]
            text = repo_map(graph, _MAP_TOKENS, about, str(asked.get("name", "")))
            return GraphResult(text=text, links=links)
        try:
            question = GraphQuestion.model_validate(asked)
        except ValidationError as error:
            first = error.errors()[0]
            raise BadArguments(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from None
        nodes = ask_graph(graph, question)
        first, *lines = nodes.text.splitlines()
        return GraphResult(text=_fitted(first, lines), total=nodes.total, links=links)

    def manifest(self, project: str) -> JsonValue:
        """Return the nodes of code with tier and imports, and the rules that are declared."""
        return manifest_document(*self._declared(project))

    def annotations(self, project: str) -> JsonValue:
        """Return the current findings of the graph, and the kept annotations."""
        return annotations_document(self._declared(project)[0])

    def glove(self, kind: str, stack: str) -> JsonValue:
        """Return the description of a stack. Raises UnknownNode."""
        return stack_document(kind, stack)

    def summary(self) -> str:
        """Return a summary of the repository's graph in a few lines; empty while reading the graph
        would take long.
        """
        with self._one:
            quick = self._read().if_quick()
        if quick is None:
            return ""
        graph, _ = declared(quick)
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

    def _declared(self, project: str) -> tuple[ProjectGraph, Manifest]:
        self._served.check_project(project)
        return declared(self._graph())

    def _graph(self) -> ProjectGraph:
        with self._one:
            return self._read().here()

    def _read(self) -> GraphReader:
        if self._reader is None:
            self._reader = GraphReader(self._served.repository)
        return self._reader


def _fitted(first: str, lines: list[str]) -> str:
    """Return the lines that fit, and the number of those left out."""
    shown, room = [first], _MOST_CHARACTERS - len(first)
    for at, line in enumerate(lines):
        if len(line) + 1 > room:
            shown.append(f"… {len(lines) - at} more lines; narrow the question")
            break
        shown.append(line)
        room -= len(line) + 1
    return "\n".join(shown)
