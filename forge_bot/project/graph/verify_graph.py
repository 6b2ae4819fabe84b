"""`.forge/manifest.yaml`, a project's declarations about its nodes; what breaks them or the rules
on tiers; and what needs no rule: files that cannot be read whole, imports of nothing, and critical
code without a test.

Nothing has to be declared. A node is a file (`shop/prices.py`), a folder (`shop/billing/`), or a
glob (`shop/*/api.py`); the more exact one counts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Literal, cast

from pydantic import Field, TypeAdapter

from forge_bot.errors import (
    BadManifest,
    ForbiddenImport,
    ManifestAndCodeDiffer,
    ProposedContractUnresolved,
    ProposedDependencyUnresolved,
)
from forge_bot.git import Repository
from forge_bot.project.graph.project_graph import Criticality, DeclaredNode, NodeTier, ProjectGraph
from forge_bot.project.graph.read_graph import graph_at
from forge_bot.values import Frozen

MANIFEST = ".forge/manifest.yaml"
OUTSIDE = "outside:"
"""Begins the name of a package that is no file of the project."""


class Manifest(Frozen):
    """The whole file."""

    version: Literal[1] = 1
    default_rules: bool = Field(
        default=True, description="surface imports surface, schema, worker; no worker a surface"
    )
    nodes: Mapping[str, DeclaredNode] = Field(default_factory=dict[str, DeclaredNode])


def read_manifest(text: str) -> Manifest:
    """Return the parsed manifest. Raises BadManifest with each problem and its line."""
    if not text.strip():
        return Manifest()
    from forge_bot.settings.yaml_file import read_yaml

    return read_yaml(text, MANIFEST, TypeAdapter(Manifest), BadManifest, _KEYS)


def problems_of_manifest(text: str | None) -> tuple[str, ...]:
    """Return why a manifest cannot be read; None is no file."""
    try:
        read_manifest(text or "")
    except BadManifest as error:
        return (error.message, *error.details)
    return ()


def declared(graph: ProjectGraph) -> tuple[ProjectGraph, Manifest]:
    """Return the graph with the facts of its manifest, and the manifest. Raises BadManifest."""
    manifest = read_manifest(graph.text(MANIFEST))
    stated: dict[str, DeclaredNode] = {}
    for name, node in sorted(manifest.nodes.items(), key=lambda item: _exactness(item[0])):
        for path in matching(graph, name):
            known = stated.get(path, DeclaredNode())
            stated[path] = known.replace(**{key: value for key, value in node if value})
    return replace(graph, declared=stated), manifest


def matching(graph: ProjectGraph, selector: str) -> tuple[str, ...]:
    """Return the files that a selector names."""
    if selector in graph.files:
        return (selector,)
    if selector.endswith("/"):
        return tuple(path for path in graph.files if path.startswith(selector))
    if "*" in selector:
        return tuple(path for path in graph.files if fnmatchcase(path, selector))
    return ()


def _exactness(name: str) -> tuple[bool, bool, int]:
    return ("*" not in name, not name.endswith("/"), len(name))


_KEYS = (
    "version",
    "default_rules",
    "nodes",
    *(f"nodes.{name}" for name in cast("dict[str, object]", DeclaredNode.model_fields)),
)


_SURFACE_MAY = (NodeTier.SURFACE, NodeTier.SCHEMA, NodeTier.WORKER)
_MOST_DEPENDENCIES = 20
_BROKEN_NAMED = 20


class GraphFinding(Frozen):
    """A broken rule, or another finding at a node; `dependency_ids` are the files that import it.

    `target` is what the rule is about, such as the import that is not allowed.
    """

    code: str
    node: str
    message: str
    path: str
    line: int = 1
    dependency_ids: tuple[str, ...] = ()
    target: str = Field(default="", exclude=True)

    @property
    def words(self) -> str:
        return f"{self.code} {self.path}:{self.line} {self.message}"

    @property
    def key(self) -> tuple[str, str, str]:
        """Return the identity of the finding across states of the files."""
        return (self.code, self.node, self.target)


def verify(graph: ProjectGraph) -> tuple[GraphFinding, ...]:
    """Return what breaks a rule, sorted by its place. Raises BadManifest."""
    stated, manifest = declared(graph)
    broken = [*_parity(stated, manifest), *_check_proposed(stated, manifest)]
    broken += _tiers(stated) if manifest.default_rules else ()
    return _sorted({finding.key: finding for finding in reversed(broken)}.values())


def newly_broken(graph: ProjectGraph, base: ProjectGraph) -> tuple[GraphFinding, ...]:
    """Return the broken rules that hold at the base, as this state's manifest sees both.

    Raises BadManifest.
    """
    before = {finding.key for finding in verify(replace(base, text=graph.text))}
    return tuple(finding for finding in verify(graph) if finding.key not in before)


def scan(graph: ProjectGraph) -> tuple[GraphFinding, ...]:
    """Return the findings that need no rule, sorted by their place."""
    return _sorted([*_find_unread(graph), *_find_untested(graph)])


def _sorted(findings: Iterable[GraphFinding]) -> tuple[GraphFinding, ...]:
    return tuple(sorted(findings, key=lambda one: (one.path, one.line, one.key)))


def _finding(
    graph: ProjectGraph, code: str, node: str, message: str, place: tuple[str, int], target: str
) -> GraphFinding:
    uses = graph.importers.get(node.partition("::")[0], ())[:_MOST_DEPENDENCIES]
    path, line = place
    return GraphFinding(
        code=code,
        node=node,
        message=message,
        path=path,
        line=line,
        dependency_ids=uses,
        target=target,
    )


def _there(graph: ProjectGraph, name: str) -> bool:
    return bool(matching(graph, name)) or graph.node(name) is not None


def _line(graph: ProjectGraph, word: str) -> tuple[str, int]:
    lines = graph.text(MANIFEST).splitlines()
    return MANIFEST, next((at for at, line in enumerate(lines, 1) if word in line), 1)


def _parity(graph: ProjectGraph, manifest: Manifest) -> Iterator[GraphFinding]:
    """Yield what the manifest declares and the code does not have."""

    def lacking(node: str, word: str, message: str) -> GraphFinding:
        code, target = ManifestAndCodeDiffer.code, "" if word == node else word
        return _finding(graph, code, node, message, _line(graph, word), target)

    for name, node in manifest.nodes.items():
        if not _there(graph, name):
            message = f"The manifest declares {name}, and there is no such file or folder."
            yield lacking(name, name, message)
            continue
        for wanted in node.contracts:
            if not _there(graph, wanted):
                message = f"{name} keeps the contract {wanted}, which is nowhere in the code."
                yield lacking(name, wanted, message)
        for wanted in node.dependencies:
            if not _imports(graph, name, wanted):
                message = f"The manifest says that {name} imports {wanted}; the code does not."
                yield lacking(name, wanted, message)


def _imports(graph: ProjectGraph, name: str, dependency: str) -> bool:
    sources = matching(graph, name)
    if dependency.startswith(OUTSIDE):
        package = dependency.removeprefix(OUTSIDE)
        return any(package in graph.files[path].outside for path in sources)
    targets = frozenset(matching(graph, dependency.partition("::")[0]))
    return any(targets & graph.files[path].imports.keys() for path in sources)


def _check_proposed(graph: ProjectGraph, manifest: Manifest) -> Iterator[GraphFinding]:
    for name, node in manifest.nodes.items():
        for code, what, wanted in (
            (ProposedDependencyUnresolved.code, "dependency", node.proposed_dependencies),
            (ProposedContractUnresolved.code, "contract", node.proposed_contracts),
        ):
            for proposal in wanted:
                if not _there(graph, proposal):
                    message = f"{name} proposes the {what} {proposal}, which is not there yet."
                    yield _finding(graph, code, name, message, _line(graph, proposal), proposal)


def _tiers(graph: ProjectGraph) -> Iterator[GraphFinding]:
    """Yield the imports that the default rules forbid. Tests may import everything."""
    code = (path for path, node in graph.files.items() if node.kind.is_code)
    tiers = {path: tier for path in code if (tier := graph.file_node(path).tier) is not None}
    for path, tier in tiers.items():
        for target, line in graph.files[path].imports.items():
            other = tiers.get(target)
            if other is not None and not _may_import(tier, other):
                message = f"{path} ({tier}) imports {target} ({other}); a {tier} may not."
                place = (path, line)
                yield _finding(graph, ForbiddenImport.code, path, message, place, target)


def _may_import(tier: NodeTier, other: NodeTier) -> bool:
    if tier is NodeTier.SURFACE:
        return any(other.within(allowed) for allowed in _SURFACE_MAY)
    return not (tier.within(NodeTier.WORKER) and other.within(NodeTier.SURFACE))


def _find_unread(graph: ProjectGraph) -> Iterator[GraphFinding]:
    for path, node in graph.files.items():
        if node.problem:
            message = f"is not read whole: {node.problem}"
            yield _finding(graph, "SCAN-001", path, message, (path, 1), "")
        for module, line in node.missing:
            message = f"imports {module}, which is not there"
            yield _finding(graph, "SCAN-002", path, message, (path, line), module)


def _find_untested(graph: ProjectGraph) -> Iterator[GraphFinding]:
    for path in graph.declared:
        node = graph.file_node(path)
        high = node.criticality.weight >= Criticality.HIGH.weight
        if high and node.kind.is_code and not graph.testers.get(path):
            message = f"is of {node.criticality} criticality, and no test imports it"
            yield _finding(graph, "SCAN-004", path, message, (path, 1), "")


def broken_rules(repository: Repository, base: str, head: str) -> tuple[str, ...]:
    """Return the rules that hold at the base and not at the head, a sentence each.

    Only where the base has a manifest: nobody agreed to rules that are written down nowhere. A
    manifest that cannot be read, at the base or at the head, is broken too: it switches off all
    rules.
    """
    if repository.read(base, MANIFEST) is None:
        return ()
    before, after = graph_at(repository, base), graph_at(repository, head)
    if before is None or after is None:
        return ()
    try:
        verify(before)
        violations = newly_broken(after, before)
    except BadManifest as error:
        return (f"{error.code}: {error.message} {' '.join(error.details)}".strip(),)
    sentences = [f"{one.code} {one.path}:{one.line}: {one.message}" for one in violations]
    more = len(sentences) - _BROKEN_NAMED
    return (*sentences[:_BROKEN_NAMED], *([f"{more} more rules are broken"] if more > 0 else []))
