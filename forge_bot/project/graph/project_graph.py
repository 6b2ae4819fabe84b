"""The graph of a project at one state of its files: kinds of nodes, the tiers with their declared
hierarchy, nodes and their uses, from tests to the files that they test too.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from posixpath import basename, dirname, normpath, splitext
from typing import NamedTuple

from pydantic import Field

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.forge import WORKFLOWS
from forge_bot.project.file_list import Listing, join, json_object, language_of, string, table, toml
from forge_bot.project.graph.syntax import FileFacts
from forge_bot.text_format import names
from forge_bot.values import Frozen


class NodeTier(StrEnum):
    """The place of a node in the architecture."""

    SURFACE = "surface"
    WORKER = "worker"
    GLOVE = "glove"
    GATE = "gate"
    SCHEMA = "schema"
    REGISTRY = "registry"
    PIPELINE = "pipeline"

    @property
    def parent(self) -> "NodeTier | None":
        return _PARENTS.get(self)

    @property
    def meaning(self) -> str:
        """One sentence on what belongs to the tier."""
        return _MEANINGS[self]

    def within(self, other: "NodeTier") -> bool:
        return self is other or (self.parent is not None and self.parent.within(other))


_PARENTS = {
    NodeTier.GLOVE: NodeTier.WORKER,
    NodeTier.GATE: NodeTier.WORKER,
    NodeTier.REGISTRY: NodeTier.SCHEMA,
}
_MEANINGS = {
    NodeTier.SURFACE: "what somebody outside calls: entry points, commands, prompts",
    NodeTier.WORKER: "internal code",
    NodeTier.GLOVE: "an adapter that fits one stack or service to an interface",
    NodeTier.GATE: "the boundary where somebody confirms",
    NodeTier.SCHEMA: "typed contracts: models, types, interface descriptions",
    NodeTier.REGISTRY: "tables in which something is looked up by name",
    NodeTier.PIPELINE: "steps that are carried out in order: workflows, pipelines",
}


class NodeKind(StrEnum):
    """The kind of a node. Its tier follows from it, unless the manifest names another."""

    MODULE = "module"
    ENTRY = "entry"
    ADAPTER = "adapter"
    GATE = "gate"
    SCHEMA = "schema"
    REGISTRY = "registry"
    TEST = "test"
    PIPELINE = "pipeline"
    PROMPT = "prompt"
    CAPABILITY = "capability"
    COMMAND = "command"
    SYMBOL = "symbol"
    DOCUMENT = "document"
    OTHER = "other"

    @property
    def tier(self) -> NodeTier | None:
        """The tier of nodes of this kind; a symbol has that of its file."""
        return _TIERS.get(self)

    @property
    def is_code(self) -> bool:
        """Return whether the architecture's rules speak of such a file."""
        return self in _CODE


_TIERS = {
    NodeKind.MODULE: NodeTier.WORKER,
    NodeKind.ENTRY: NodeTier.SURFACE,
    NodeKind.ADAPTER: NodeTier.GLOVE,
    NodeKind.GATE: NodeTier.GATE,
    NodeKind.SCHEMA: NodeTier.SCHEMA,
    NodeKind.REGISTRY: NodeTier.REGISTRY,
    NodeKind.TEST: NodeTier.WORKER,
    NodeKind.PIPELINE: NodeTier.PIPELINE,
    NodeKind.PROMPT: NodeTier.SURFACE,
    NodeKind.CAPABILITY: NodeTier.SURFACE,
    NodeKind.COMMAND: NodeTier.SURFACE,
}
_CODE = frozenset(names("module entry adapter gate schema registry"))


EDGES = ("imports", "tests", "contains")
"""The ways in which one node uses another."""


class Criticality(StrEnum):
    """The damage that a fault in a node would do."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def weight(self) -> int:
        """The place in the order, the worst highest."""
        return [*Criticality].index(self)


_SCHEMA_ENDINGS = (".proto", ".graphql", ".gql", ".avsc", ".xsd", ".thrift", ".prisma", ".d.ts")
_SCHEMA_NAME = re.compile(r".*\.schema\.json|openapi\.(?:ya?ml|json)|swagger\.(?:ya?ml|json)")
_BY_WORD = {
    **dict.fromkeys(("schema", "schemas", "models", "types", "interfaces", "contracts"), "schema"),
    **dict.fromkeys(("registry", "registries", "catalogue", "catalog", "constants"), "registry"),
    **dict.fromkeys(("adapter", "adapters", "glove", "gloves", "connectors"), "adapter"),
    **dict.fromkeys(("gate", "gates", "approval", "approvals"), "gate"),
}
_DOCUMENTS = (".md", ".mdx", ".rst", ".adoc", ".txt")
_PROMPT = re.compile(r"(?:^|/)prompts/[^/]+\.(?:md|txt|j2|jinja2?)$|\.prompt\.md$|\.md\.j2$")
_PIPELINE = re.compile(rf"(?:^|/)(?:{re.escape(WORKFLOWS)}|pipelines)/[^/]+\.ya?ml$")
_CAPABILITIES = frozenset({"SKILL.md", "forge-mcp.json", ".mcp.json"})
_ENTRY_NAMES = frozenset({"__main__.py", "manage.py", "main.rs", "main.go"})


def kind_of(path: str, entries: frozenset[str]) -> NodeKind:
    """Return the kind of a file. `entries` are the declared entry points."""
    name = basename(path)
    if _PIPELINE.search(path):
        return NodeKind.PIPELINE
    if name in _CAPABILITIES:
        return NodeKind.CAPABILITY
    if _PROMPT.search(path):
        return NodeKind.PROMPT
    if name.endswith(_SCHEMA_ENDINGS) or _SCHEMA_NAME.fullmatch(name):
        return NodeKind.SCHEMA
    if not language_of(path) or name.endswith((".css", ".scss", ".less", ".html")):
        ending = splitext(name)[1].lower()
        return NodeKind.DOCUMENT if ending in _DOCUMENTS else NodeKind.OTHER
    if belongs_to_tests(path):
        return NodeKind.TEST
    if path in entries or name in _ENTRY_NAMES:
        return NodeKind.ENTRY
    words = (name.partition(".")[0].lower(), *reversed(path.lower().split("/")[:-1]))
    kind = next((_BY_WORD[word] for word in words if word in _BY_WORD), "module")
    return NodeKind(kind)


def entry_points(listing: Listing) -> Iterator[str]:
    """Yield the files that manifests declare to be started: scripts of Python projects, `bin`."""
    for path in listing.own():
        folder, name = dirname(path), basename(path)
        if name == "pyproject.toml":
            scripts = table(toml(listing.text(path)), "project", "scripts").values()
            for script in map(string, scripts):
                module = script.partition(":")[0].strip().replace(".", "/")
                roots = (folder, join(folder, "src"))
                forms = (f"{module}/__init__.py", f"{module}.py")
                yield from filter(None, (listing.first(root, forms) for root in roots))
        elif name == "package.json":
            declared = json_object(listing.text(path)).get("bin")
            targets = (string(declared), *map(string, table(declared).values()))
            yield from (normpath(join(folder, target)) for target in targets if target)


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
        """Return the contents of a file: its definitions."""
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
            kind=NodeKind.SYMBOL,
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
