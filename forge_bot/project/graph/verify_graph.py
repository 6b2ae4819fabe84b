"""Find what breaks a graph's manifest or the rules on tiers: each violation with code and node."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from posixpath import commonprefix
from typing import NamedTuple

from forge_bot.errors import (
    ForbiddenImport,
    ManifestAndCodeDiffer,
    ProposedContractUnresolved,
    ProposedDependencyUnresolved,
)
from forge_bot.project.graph.manifest import (
    MANIFEST,
    Manifest,
    ManifestRule,
    declared,
    matching,
    outside_names,
)
from forge_bot.project.graph.node_types import NodeKind, NodeTier
from forge_bot.project.graph.project_graph import ProjectGraph

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
    for rule in manifest.rules:
        violations += _rule(stated, rule)
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

    def lacking(
        node: str, word: str, message: str, *, rule: str = "", target: str = ""
    ) -> Violation:
        code = ManifestAndCodeDiffer.code
        return _violation(graph, code, node, message, _line(graph, word), rule=rule, target=target)

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
    for rule in manifest.rules:
        for selector in _selectors(rule):
            if not selector.startswith("outside:") and not matching(graph, selector):
                message = f"The rule {rule.name!r} names {selector}, which is nothing here."
                yield lacking(selector, rule.name, message, rule=rule.name)


def _imports(graph: ProjectGraph, name: str, dependency: str) -> bool:
    sources = matching(graph, name)
    if outside := outside_names((dependency,)):
        return any(outside & graph.files[path].outside.keys() for path in sources)
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
                yield _forbidden(graph, path, target, line, message, f"{TIER_RULE}: {tier}")


def _forbidden(
    graph: ProjectGraph, path: str, target: str, line: int, message: str, rule: str
) -> Violation:
    return _violation(
        graph, ForbiddenImport.code, path, message, (path, line), rule=rule, target=target
    )


# -- the manifest's rules


def _selectors(rule: ManifestRule) -> Iterator[str]:
    yield from (rule.within + name for layer in rule.layers for name in layer)
    yield from (*rule.sources, *rule.may_import, *rule.may_not_import)
    if rule.without_circles:
        yield rule.without_circles


def _rule(graph: ProjectGraph, rule: ManifestRule) -> Iterator[Violation]:
    if rule.layers:
        yield from _layers(graph, rule)
    elif rule.without_circles:
        yield from _without_circles(graph, rule)
    else:
        yield from _check_allowed(graph, rule)
        yield from _check_denied(graph, rule)


def _layers(graph: ProjectGraph, rule: ManifestRule) -> Iterator[Violation]:
    place: dict[str, tuple[int, str]] = {}
    for depth, layer in enumerate(rule.layers):
        for name in layer:
            place.update((path, (depth, name)) for path in matching(graph, rule.within + name))
    if rule.within:
        for path in matching(graph, rule.within):
            own = path.removeprefix(rule.within).partition("/")[0].startswith("__init__.")
            if path not in place and not own and graph.files[path].kind.is_code:
                message = f"{path} has no layer in the rule {rule.name!r}."
                yield _forbidden(graph, path, "", 1, message, rule.name)
    for path, (depth, name) in place.items():
        for target, line in graph.files[path].imports.items():
            below, other = place.get(target, (depth + 1, ""))
            if below < depth or (below == depth and other != name):
                message = f"{name} imports {other} ({target}), which is not below it."
                yield _forbidden(graph, path, target, line, message, rule.name)


def _without_circles(graph: ProjectGraph, rule: ManifestRule) -> Iterator[Violation]:
    for circle, (path, target, line) in circles(graph, rule.without_circles):
        message = f"These import each other in a circle: {', '.join(circle)}."
        yield _forbidden(graph, path, target, line, message, rule.name)


def _check_allowed(graph: ProjectGraph, rule: ManifestRule) -> Iterator[Violation]:
    if not rule.may_import:
        return
    sources = _files(graph, rule.sources)
    allowed = {*sources, *_files(graph, rule.may_import)}
    for path in sources:
        for target, line in graph.files[path].imports.items():
            if target not in allowed:
                message = f"{path} imports {target}, which {rule.name!r} does not name."
                yield _forbidden(graph, path, target, line, message, rule.name)


def _check_denied(graph: ProjectGraph, rule: ManifestRule) -> Iterator[Violation]:
    denied = frozenset(_files(graph, rule.may_not_import))
    outside = outside_names(rule.may_not_import)
    for start in _files(graph, rule.sources):
        # The line of the import by which each file is reached; 0 for the file itself.
        lines, queue = {start: 0}, [start]
        for path in queue:
            node = graph.files[path]
            hits = [(name, line) for name, line in node.imports.items() if name in denied]
            packages = node.outside.items()
            hits += [(f"outside:{name}", line) for name, line in packages if _is_in(name, outside)]
            through = f" through {path}" if path != start else ""
            for hit, line in hits:
                message = f"{start} imports {hit}{through}, which {rule.name!r} forbids."
                yield _forbidden(graph, start, hit, lines[path] or line, message, rule.name)
            for target, line in node.imports.items() if rule.through_others else ():
                if target not in lines and target not in denied:
                    lines[target] = lines[path] or line
                    queue.append(target)


def _is_in(name: str, wanted: frozenset[str]) -> bool:
    return name in wanted or any(
        name.startswith((f"{package}/", f"{package}.")) for package in wanted
    )


def _files(graph: ProjectGraph, selectors: Iterable[str]) -> tuple[str, ...]:
    """Return the code that selectors name, tests left out."""
    return tuple(
        dict.fromkeys(
            path
            for selector in selectors
            for path in matching(graph, selector)
            if graph.files[path].kind is not NodeKind.TEST
        )
    )


Import = tuple[str, str, int]


def circles(graph: ProjectGraph, folder: str) -> Iterator[tuple[tuple[str, ...], Import]]:
    """Yield each circle of children that import each other, with one import that closes it."""
    edges: dict[str, dict[tuple[str, str], Import]] = defaultdict(dict)
    for path in graph.files:
        for target, line in graph.files[path].imports.items():
            around = commonprefix([path, target]).rpartition("/")[0]
            around += "/" if around else ""
            if path.startswith(folder) and around.startswith(folder):
                one, other = _child(path, around), _child(target, around)
                if one and other and one != other:
                    edges[around].setdefault((one, other), (path, target, line))
    for around in sorted(edges):
        for group in _strong(edges[around].keys()):
            at = next(edge for pair, edge in edges[around].items() if {*pair} <= group)
            yield tuple(sorted(around + child for child in group)), at


def _child(path: str, folder: str) -> str:
    """Return the child of a folder that holds a path; empty for the folder's own `__init__`."""
    child = path[len(folder) :].partition("/")[0]
    return "" if child.startswith("__init__.") else child.partition(".")[0]


def _strong(pairs: Iterable[tuple[str, str]]) -> Iterator[set[str]]:
    """Yield the groups of more than one in which each reaches each other."""
    after: dict[str, set[str]] = defaultdict(set)
    before: dict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        after[one].add(other)
        before[other].add(one)
    left = set(after) & set(before)
    while left:
        start = min(left)
        group = _reach(start, after) & _reach(start, before)
        left -= {start, *group}
        if len(group) > 1:
            yield group


def _reach(start: str, edges: dict[str, set[str]]) -> set[str]:
    reached, queue = {start}, [start]
    for node in queue:
        for other in edges.get(node, ()):
            if other not in reached:
                reached.add(other)
                queue.append(other)
    return reached
