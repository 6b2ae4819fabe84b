"""The graph of a project at one state of its files: nodes and their uses."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from forge_bot.project.graph.file_facts import FileFacts
from forge_bot.project.graph.node_types import Criticality, EdgeKind, NodeKind, NodeTier
from forge_bot.values import CommandName

_COMMAND = "command:"
SEPARATOR = "::"
"""Stands in an id between a file and what it contains."""


class GraphNode(NamedTuple):
    """One node. The id is the path of a file, `path::name` of what it contains, or `command:…`."""

    id: str
    kind: NodeKind
    tier: NodeTier | None
    domain: str = ""
    criticality: Criticality = Criticality.NORMAL
    contracts: tuple[str, ...] = ()
    line: int = 0
    text: str = ""
    problem: str = ""

    @property
    def path(self) -> str:
        """The file that it is or that contains it; empty for a command."""
        return "" if self.kind is NodeKind.COMMAND else self.id.partition(SEPARATOR)[0]


class GraphEdge(NamedTuple):
    """One node uses another; `line` is where, in the file of the first."""

    source: str
    target: str
    kind: EdgeKind
    line: int = 0


class MissingImport(NamedTuple):
    """An import that names a file of the project which is not there."""

    path: str
    line: int
    module: str


class FileNode(NamedTuple):
    """A file with its imports, by path and line, and the packages it uses."""

    kind: NodeKind
    imports: Mapping[str, int] = {}
    outside: Mapping[str, int] = {}
    missing: tuple[tuple[str, int], ...] = ()
    tests: tuple[str, ...] = ()
    problem: str = ""
    generated: bool = False


class GraphCommand(NamedTuple):
    """A command of the project, as its profile has it."""

    name: CommandName
    words: str
    reason: str

    @property
    def id(self) -> str:
        """The id of its node."""
        return f"{_COMMAND}{self.name}:{self.words}"


class Overrides(NamedTuple):
    """The declarations of the manifest for a node; None for each that is absent."""

    tier: NodeTier | None = None
    domain: str = ""
    criticality: Criticality = Criticality.NORMAL
    contracts: tuple[str, ...] = ()


def _any_name(_: str) -> bool:
    return True


@dataclass(frozen=True)
class ProjectGraph:
    """All nodes and edges.

    When a node is requested, the manifest's kind replaces its own. `facts` reads the content of
    files, and is called only if their definitions are wanted. `text` reads a file, and `blob` gives
    git's id of it; both are empty for a missing file.
    """

    files: Mapping[str, FileNode]
    commands: tuple[GraphCommand, ...]
    notes: tuple[str, ...]
    facts: Callable[[Iterable[str]], Mapping[str, FileFacts]] = field(repr=False)
    text: Callable[[str], str] = field(repr=False)
    blob: Callable[[str], str] = field(repr=False)
    overrides: Mapping[str, Overrides] = field(default_factory=dict[str, Overrides])

    @cached_property
    def importers(self) -> Mapping[str, tuple[str, ...]]:
        """The files that import each file."""
        return _reversed((path, node.imports) for path, node in self.files.items())

    @cached_property
    def testers(self) -> Mapping[str, tuple[str, ...]]:
        """The tests of each file."""
        return _reversed((path, node.tests) for path, node in self.files.items())

    @cached_property
    def _file_nodes(self) -> tuple[GraphNode, ...]:
        return tuple(map(self.file_node, self.files))

    @property
    def missing(self) -> tuple[MissingImport, ...]:
        """Imports of the project itself that name nothing."""
        return tuple(
            MissingImport(path, line, module)
            for path, node in self.files.items()
            for module, line in node.missing
        )

    def file_node(self, path: str) -> GraphNode:
        """Return the node of a file. Raises KeyError."""
        found = self.files[path]
        said = self.overrides.get(path, Overrides())
        return GraphNode(
            path,
            found.kind,
            said.tier or found.kind.tier,
            said.domain,
            said.criticality,
            said.contracts,
            problem=found.problem,
        )

    def contained(self, path: str) -> tuple[GraphNode, ...]:
        """Return the contents of a file: definitions, or the phases of a pipeline."""
        facts = self.facts((path,)).get(path, FileFacts())
        return tuple(_inside(self.file_node(path), facts, _any_name))

    def nodes(
        self, *, symbols: bool = False, named: Callable[[str], bool] = _any_name
    ) -> Iterator[GraphNode]:
        """Yield the nodes of all files and commands, and with `symbols` those of their definitions.
        `named` selects them by id.
        """
        facts = self.facts(self.files if symbols else ())
        for node in self._file_nodes:
            if named(node.id):
                yield node
            if node.id in facts:
                yield from _inside(node, facts[node.id], named)
        for command in self.commands:
            kind = NodeKind.COMMAND
            if named(command.id):
                yield GraphNode(command.id, kind, kind.tier, text=command.reason)

    def node(self, name: str) -> GraphNode | None:
        """Return the node of an id; None if there is none."""
        if name in self.files:
            return self.file_node(name)
        path = name.partition(SEPARATOR)[0]
        if path in self.files:
            return next((each for each in self.contained(path) if each.id == name), None)
        if name.startswith(_COMMAND):
            return next((each for each in self.nodes() if each.id == name), None)
        return None

    def edges_from(self, path: str) -> Iterator[GraphEdge]:
        """Yield the edges that begin at a file, without those to its own content."""
        node = self.files[path]
        kind = EdgeKind.READS if node.kind is NodeKind.PIPELINE else EdgeKind.IMPORTS
        for target, line in node.imports.items():
            yield GraphEdge(path, target, kind, line)
        for target in node.tests:
            yield GraphEdge(path, target, EdgeKind.TESTS)

    def phase_edges(self, name: str) -> Iterator[GraphEdge]:
        """Yield the edges that begin at a phase of a pipeline, by its id."""
        path, _, phase = name.partition(SEPARATOR)
        facts, node = self.facts((path,)).get(path, FileFacts()), self.files[path]
        for line in facts.imports if node.kind is NodeKind.PIPELINE else ():
            ending = "/" + line.module.removeprefix("../").removeprefix("./").rstrip("/")
            ends = (ending, f"{ending}/action.yml")
            target = next((path for path in node.imports if f"/{path}".endswith(ends)), None)
            if phase in line.names and target is not None:
                yield GraphEdge(name, target, EdgeKind.READS, line.line)

    def edges_to(self, path: str) -> Iterator[GraphEdge]:
        """Yield the edges that end at a file."""
        around = (self.importers, self.testers)
        for source in dict.fromkeys(each for some in around for each in some.get(path, ())):
            yield from (edge for edge in self.edges_from(source) if edge.target == path)

    def dependents(self, paths: Iterable[str]) -> dict[str, int]:
        """Return the files that use these, directly or through others, with their distance."""
        reached = dict.fromkeys(paths, 0)
        begun = dict(reached)
        queue = list(reached)
        for path in queue:
            for source in self.importers.get(path, ()):
                if source not in reached:
                    reached[source] = reached[path] + 1
                    queue.append(source)
        return {path: away for path, away in reached.items() if path not in begun}

    def path_between(self, start: str, end: str) -> tuple[str, ...]:
        """Return the shortest path of imports from one file to another; empty without one."""
        came: dict[str, str] = {start: ""}
        queue = [start]
        for path in queue:
            if path == end:
                way = [path]
                while came[way[-1]]:
                    way.append(came[way[-1]])
                return tuple(reversed(way))
            for target in self.files[path].imports:
                if target not in came:
                    came[target] = path
                    queue.append(target)
        return ()


def _inside(
    outer: GraphNode, facts: FileFacts, named: Callable[[str], bool]
) -> Iterator[GraphNode]:
    """Yield the nodes of what a file contains, as far as their ids are `named` so."""
    for symbol in facts.symbols:
        name = f"{outer.id}{SEPARATOR}{symbol.name}"
        if named(name):
            yield GraphNode(
                name,
                NodeKind.PHASE if symbol.kind == "phase" else NodeKind.SYMBOL,
                outer.tier,
                outer.domain,
                outer.criticality,
                line=symbol.line,
                text=symbol.text,
            )


def _reversed(edges: Iterable[tuple[str, Iterable[str]]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for source, targets in edges:
        for target in targets:
            found[target].append(source)
    return {target: tuple(sources) for target, sources in found.items()}
