"""Findings in the graph that need no rule: files that cannot be read whole, imports of
nothing, and critical code without a test.
"""

from collections.abc import Iterator

from forge_bot.project.graph.node_types import Criticality
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.values import Frozen


class GraphFinding(Frozen):
    """One finding at a node; `dependency_ids` are the files that import it."""

    code: str
    node: str
    message: str
    path: str
    line: int = 1
    dependency_ids: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return f"{self.code} {self.path}:{self.line} {self.message}"


def scan(graph: ProjectGraph) -> list[GraphFinding]:
    """Return the findings, sorted by their places."""
    findings = [*_unread(graph), *_missing(graph), *_find_untested(graph)]
    return sorted(findings, key=lambda finding: (finding.path, finding.line, finding.code))


def _finding(graph: ProjectGraph, code: str, path: str, message: str, line: int) -> GraphFinding:
    uses = graph.importers.get(path, ())
    return GraphFinding(
        code=code, node=path, message=message, path=path, line=line, dependency_ids=uses
    )


def _unread(graph: ProjectGraph) -> Iterator[GraphFinding]:
    for path, node in graph.files.items():
        if node.problem:
            yield _finding(graph, "SCAN-001", path, f"is not read whole: {node.problem}", 1)


def _missing(graph: ProjectGraph) -> Iterator[GraphFinding]:
    for missing in graph.missing:
        message = f"imports {missing.module}, which is not there"
        yield _finding(graph, "SCAN-002", missing.path, message, missing.line)


def _find_untested(graph: ProjectGraph) -> Iterator[GraphFinding]:
    for path, stated in graph.overrides.items():
        node = graph.files[path]
        high = stated.criticality.weight >= Criticality.HIGH.weight
        if high and node.kind.is_code and not graph.testers.get(path):
            message = f"is of {stated.criticality} criticality, and no test imports it"
            yield _finding(graph, "SCAN-004", path, message, 1)
