"""The kinds of nodes and edges, and the tiers with their declared hierarchy."""

from enum import StrEnum


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
_CODE = frozenset(
    {
        NodeKind.MODULE,
        NodeKind.ENTRY,
        NodeKind.ADAPTER,
        NodeKind.GATE,
        NodeKind.SCHEMA,
        NodeKind.REGISTRY,
    }
)


class EdgeKind(StrEnum):
    """The way in which one node uses another."""

    IMPORTS = "imports"
    TESTS = "tests"
    CONTAINS = "contains"
    READS = "reads"

    @property
    def passive(self) -> str:
        """The word for the node at the end of an edge: imported, tested, contained, …"""
        return _PASSIVE[self]


_PASSIVE = {
    EdgeKind.IMPORTS: "imported",
    EdgeKind.TESTS: "tested",
    EdgeKind.CONTAINS: "contained",
    EdgeKind.READS: "read",
}


class Criticality(StrEnum):
    """The damage that a fault in a node would do."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def weight(self) -> int:
        """The place in the order, the worst highest."""
        return _WEIGHTS[self]


_WEIGHTS = {criticality: place for place, criticality in enumerate(Criticality)}
