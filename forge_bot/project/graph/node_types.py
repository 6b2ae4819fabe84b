"""The kinds of nodes and edges, the tiers with their declared hierarchy, and the kind of a file: by
its path, and by what the project declares to be an entry point.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from posixpath import basename, dirname, normpath, splitext

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.project.file_list import Listing, join, json_object, language_of, string, table, toml
from forge_bot.project.graph.stacks.all_stacks import is_pipeline
from forge_bot.text_format import names


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
    NodeTier.PIPELINE: "steps that are carried out in order: workflows, pipelines, their phases",
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
    PHASE = "phase"
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
    NodeKind.PHASE: NodeTier.PIPELINE,
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
_CAPABILITIES = frozenset({"SKILL.md", "forge-mcp.json", ".mcp.json"})
_ENTRY_NAMES = frozenset({"__main__.py", "manage.py", "main.rs", "main.go"})


def kind_of(path: str, entries: frozenset[str]) -> NodeKind:
    """Return the kind of a file. `entries` are the declared entry points."""
    name = basename(path)
    if is_pipeline(path):
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
