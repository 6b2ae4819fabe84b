"""The graph of a project at one state of its files: nodes and their uses, from tests to the files
that they test too.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import basename, dirname
from typing import NamedTuple

from pydantic import Field

from forge_bot.project.graph.node_types import Criticality, NodeKind, NodeTier
from forge_bot.project.graph.syntax import FileFacts
from forge_bot.values import Frozen

SEPARATOR = "::"
"""Stands in an id between a file and what it contains."""


class GraphNode(Frozen):
    """One node. The id is the path of a file, `path::name` of what it contains, or `command:…`.

    In an answer `how` is its relation to the subject of the question.
    """

    id: str
    kind: NodeKind
    tier: NodeTier | None = None
    domain: str = ""
    criticality: Criticality = Criticality.NORMAL
    contracts: tuple[str, ...] = ()
    how: str = ""
    line: int = 0
    text: str = ""
    problem: str = ""

    @property
    def path(self) -> str:
        """The file that it is or that contains it; empty for a command."""
        return "" if self.kind is NodeKind.COMMAND else self.id.partition(SEPARATOR)[0]

    @property
    def words(self) -> str:
        """The node in one line."""
        about = list(dict.fromkeys((str(self.kind), str(self.tier or ""), self.domain)))
        about.append("" if self.criticality is Criticality.NORMAL else str(self.criticality))
        place = f":{self.line}" if self.line else ""
        facts = " ".join(part for part in about if part)
        tail = "; ".join(part for part in (self.how, self.problem) if part)
        return f"{self.id}{place} ({facts}){f' {tail}' if tail else ''}"


class FileNode(NamedTuple):
    """A file with its imports, by path and line, and the packages it uses."""

    kind: NodeKind
    imports: Mapping[str, int] = {}
    outside: Mapping[str, int] = {}
    missing: tuple[tuple[str, int], ...] = ()
    tests: tuple[str, ...] = ()
    problem: str = ""


class DeclaredNode(Frozen):
    """A declaration of a node; fields that are left out are inferred, or stay empty."""

    tier: NodeTier | None = Field(default=None, description="the tier, if not that of its kind")
    domain: str = Field(default="", description="the part of the business it belongs to")
    criticality: Criticality | None = Field(default=None, description="what a fault would do")
    contracts: tuple[str, ...] = Field(
        default=(), description="nodes whose interface it keeps: shop/models.py::Order"
    )
    dependencies: tuple[str, ...] = Field(
        default=(), description="nodes or outside:NAME that it imports; the code must agree"
    )
    proposed_dependencies: tuple[str, ...] = Field(
        default=(), description="nodes it will import, which have to be written"
    )
    proposed_contracts: tuple[str, ...] = Field(
        default=(), description="nodes whose interface it will keep, which have to be written"
    )


@dataclass(frozen=True)
class ProjectGraph:
    """All nodes and edges.

    When a node is requested, the manifest's tier replaces its own. `text` reads a file, and `blob`
    gives git's id of it; both are empty for a missing file.
    """

    files: Mapping[str, FileNode]
    commands: tuple[GraphNode, ...]
    facts: Mapping[str, FileFacts] = field(repr=False)
    text: Callable[[str], str] = field(repr=False)
    blob: Callable[[str], str] = field(repr=False)
    declared: Mapping[str, DeclaredNode] = field(default_factory=dict[str, DeclaredNode])

    @cached_property
    def importers(self) -> Mapping[str, tuple[str, ...]]:
        """The files that import each file."""
        return _reverse((path, node.imports) for path, node in self.files.items())

    @cached_property
    def testers(self) -> Mapping[str, tuple[str, ...]]:
        return _reverse((path, node.tests) for path, node in self.files.items())

    def file_node(self, path: str) -> GraphNode:
        """Return the node of a file. Raises KeyError."""
        file, stated = self.files[path], self.declared.get(path, DeclaredNode())
        return GraphNode(
            id=path,
            kind=file.kind,
            tier=stated.tier or file.kind.tier,
            domain=stated.domain,
            criticality=stated.criticality or Criticality.NORMAL,
            contracts=stated.contracts,
            problem=file.problem,
        )

    def contained(self, path: str) -> tuple[GraphNode, ...]:
        """Return the contents of a file: definitions, or the phases of a pipeline."""
        return tuple(_inside(self.file_node(path), self.facts.get(path, FileFacts())))

    def nodes(self, *, symbols: bool = False) -> Iterator[GraphNode]:
        """Yield the nodes of all files and commands, and with `symbols` those of definitions."""
        for node in map(self.file_node, self.files):
            yield node
            if symbols:
                yield from _inside(node, self.facts.get(node.id, FileFacts()))
        yield from self.commands

    def node(self, name: str) -> GraphNode | None:
        """Return the node of an id; None if there is none."""
        if name in self.files:
            return self.file_node(name)
        path = name.partition(SEPARATOR)[0]
        if path in self.files:
            return next((node for node in self.contained(path) if node.id == name), None)
        return next((node for node in self.commands if node.id == name), None)

    def dependents(self, paths: Iterable[str]) -> dict[str, int]:
        """Return the files that use these, directly or through others, with their distance."""
        distances = dict.fromkeys(paths, 0)
        queue = list(distances)
        for path in queue:
            for source in self.importers.get(path, ()):
                if source not in distances:
                    distances[source] = distances[path] + 1
                    queue.append(source)
        return {path: distance for path, distance in distances.items() if distance}


def _inside(outer: GraphNode, facts: FileFacts) -> Iterator[GraphNode]:
    """Yield the nodes of what a file contains."""
    for symbol in facts.symbols:
        yield GraphNode(
            id=f"{outer.id}{SEPARATOR}{symbol.name}",
            kind=NodeKind.PHASE if symbol.kind == "phase" else NodeKind.SYMBOL,
            tier=outer.tier,
            domain=outer.domain,
            criticality=outer.criticality,
            line=symbol.line,
            text=symbol.text,
        )


def _reverse(edges: Iterable[tuple[str, Iterable[str]]]) -> dict[str, tuple[str, ...]]:
    reverse: dict[str, list[str]] = defaultdict(list)
    for source, targets in edges:
        for target in targets:
            reverse[target].append(source)
    return {target: tuple(sources) for target, sources in reverse.items()}


def with_tests(nodes: Mapping[str, FileNode]) -> dict[str, FileNode]:
    """Return the nodes with the edges from tests to the files that they test.

    A test tests the files that it imports, what a package that it imports passes on, and in Go the
    files of its folder.
    """
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in nodes:
        if path.endswith(".go"):
            by_folder[dirname(path)].append(path)
    linked = dict(nodes)
    for path, node in nodes.items():
        if node.kind is not NodeKind.TEST:
            continue
        targets = [*node.imports]
        for package in node.imports:
            targets += nodes[package].imports if basename(package) == "__init__.py" else ()
        targets += by_folder[dirname(path)] if path.endswith("_test.go") else ()
        linked[path] = node._replace(
            tests=tuple(
                target
                for target in dict.fromkeys(targets)
                if target != path and nodes[target].kind.is_code
            )
        )
    return linked
