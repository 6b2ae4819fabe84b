"""Find what breaks a graph's manifest or the rules on tiers, each violation with code and node; and
findings that need no rule: files that cannot be read whole, imports of nothing, and critical code
without a test.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from forge_bot.errors import (
    ForbiddenImport,
    ManifestAndCodeDiffer,
    ProposedContractUnresolved,
    ProposedDependencyUnresolved,
)
from forge_bot.project.graph.manifest import MANIFEST, OUTSIDE, Manifest, declared, matching
from forge_bot.project.graph.node_types import Criticality, NodeKind, NodeTier
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.values import Frozen

TIER_RULE = "tiers"
_SURFACE_MAY = (NodeTier.SURFACE, NodeTier.SCHEMA, NodeTier.WORKER)
_MOST_DEPENDENCIES = 20


class Violation(NamedTuple):
    """One violation: its code, the node that breaks the rule, its users, and the place."""

    code: str
    node_id: str
    dependency_ids: tuple[str, ...]
    message: str
    path: str
    line: int
    rule: str = ""
    target: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return the identity of the violation across states of the files."""
        return (self.code, self.node_id, self.rule, self.target)


def verify(graph: ProjectGraph) -> tuple[Violation, ...]:
    """Return all violations, sorted by their place. Raises BadManifest."""
    stated, manifest = declared(graph)
    violations = [*_parity(stated, manifest), *_check_proposed(stated, manifest)]
    if manifest.default_rules:
        violations += _tiers(stated)
    unique = {violation.key: violation for violation in reversed(violations)}
    return tuple(
        sorted(
            unique.values(), key=lambda violation: (violation.path, violation.line, violation.key)
        )
    )


def newly_broken(graph: ProjectGraph, base: ProjectGraph) -> tuple[Violation, ...]:
    """Return the violations that are not at the base, as this state's manifest sees both.

    Raises BadManifest.
    """
    before = {violation.key for violation in verify(replace(base, text=graph.text))}
    return tuple(violation for violation in verify(graph) if violation.key not in before)


def _violation(
    graph: ProjectGraph,
    code: str,
    node: str,
    message: str,
    place: tuple[str, int],
    *,
    rule: str = "",
    target: str = "",
) -> Violation:
    uses = graph.importers.get(node.partition("::")[0], ())[:_MOST_DEPENDENCIES]
    return Violation(code, node, uses, message, *place, rule, target)


def _there(graph: ProjectGraph, name: str) -> bool:
    return bool(matching(graph, name)) or graph.node(name) is not None


def _line(graph: ProjectGraph, word: str) -> tuple[str, int]:
    lines = graph.text(MANIFEST).splitlines()
    return MANIFEST, next((at for at, line in enumerate(lines, 1) if word in line), 1)


def _parity(graph: ProjectGraph, manifest: Manifest) -> Iterator[Violation]:
    """Yield what the manifest declares and the code does not have."""

    def lacking(node: str, word: str, message: str, *, target: str = "") -> Violation:
        code = ManifestAndCodeDiffer.code
        return _violation(graph, code, node, message, _line(graph, word), target=target)

    for name, node in manifest.nodes.items():
        if not _there(graph, name):
            message = f"The manifest declares {name}, and there is no such file or folder."
            yield lacking(name, name, message)
            continue
        for wanted in node.contracts:
            if not _there(graph, wanted):
                message = f"{name} keeps the contract {wanted}, which is nowhere in the code."
                yield lacking(name, wanted, message, target=wanted)
        for wanted in node.dependencies:
            if not _imports(graph, name, wanted):
                message = f"The manifest says that {name} imports {wanted}; the code does not."
                yield lacking(name, wanted, message, target=wanted)


def _imports(graph: ProjectGraph, name: str, dependency: str) -> bool:
    sources = matching(graph, name)
    if dependency.startswith(OUTSIDE):
        package = dependency.removeprefix(OUTSIDE)
        return any(package in graph.files[path].outside for path in sources)
    targets = frozenset(matching(graph, dependency.partition("::")[0]))
    return any(targets & graph.files[path].imports.keys() for path in sources)


def _check_proposed(graph: ProjectGraph, manifest: Manifest) -> Iterator[Violation]:
    for name, node in manifest.nodes.items():
        for code, what, wanted in (
            (ProposedDependencyUnresolved.code, "dependency", node.proposed_dependencies),
            (ProposedContractUnresolved.code, "contract", node.proposed_contracts),
        ):
            for proposal in wanted:
                if not _there(graph, proposal):
                    message = f"{name} proposes the {what} {proposal}, which is not there yet."
                    yield _violation(
                        graph, code, name, message, _line(graph, proposal), target=proposal
                    )


def _tiers(graph: ProjectGraph) -> Iterator[Violation]:
    """Yield the imports that the default rules forbid. Tests may import everything."""
    tiers = {
        path: graph.file_node(path).tier
        for path, node in graph.files.items()
        if node.kind.is_code or node.kind in {NodeKind.PIPELINE, NodeKind.PROMPT}
    }
    for path, tier in tiers.items():
        if tier is None or not graph.files[path].kind.is_code:
            continue
        for target, line in graph.files[path].imports.items():
            other = tiers.get(target)
            if other is None:
                continue
            if tier is NodeTier.SURFACE:
                allowed = any(other.within(allowed_tier) for allowed_tier in _SURFACE_MAY)
            else:
                allowed = not (tier.within(NodeTier.WORKER) and other.within(NodeTier.SURFACE))
            if not allowed:
                message = f"{path} ({tier}) imports {target} ({other}); a {tier} may not."
                rule = f"{TIER_RULE}: {tier}"
                yield _violation(
                    graph,
                    ForbiddenImport.code,
                    path,
                    message,
                    (path, line),
                    rule=rule,
                    target=target,
                )


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
