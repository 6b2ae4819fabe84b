"""The graph as documents: the manifest with its nodes, findings, stacks, the taxonomy, and a map
of the most imported files within a budget of tokens.
"""

import re
from collections.abc import Collection, Iterator
from functools import partial

from pydantic import JsonValue, ValidationError

from forge_bot.errors import UnknownNode
from forge_bot.project.graph.manifest import Manifest
from forge_bot.project.graph.node_types import EdgeKind, NodeKind, NodeTier
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.stacks.all_stacks import STACKS, named_stack
from forge_bot.project.graph.syntax import SymbolFact
from forge_bot.project.graph.verify_graph import GraphFinding, scan, verify
from forge_bot.project.search_words import words
from forge_bot.values import Frozen

_NODES_LISTED = 1_000
_FINDINGS_LISTED = 200


def manifest_document(graph: ProjectGraph, manifest: Manifest) -> dict[str, JsonValue]:
    """Return the nodes of code with tier and imports."""
    nodes = [path for path, node in graph.files.items() if node.kind is not NodeKind.OTHER]
    return {
        "version": manifest.version,
        "files": len(graph.files),
        "left_out": max(len(nodes) - _NODES_LISTED, 0),
        "nodes": [_node(graph, path) for path in nodes[:_NODES_LISTED]],
    }


def annotations_document(graph: ProjectGraph) -> dict[str, JsonValue]:
    """Return the present findings of the graph, each bound to its node's text, and the kept
    annotations.

    An annotation is stale if that text has changed since.
    """
    findings = [*violations(graph), *scan(graph)]
    kept = kept_annotations(graph)
    return {
        "total": len(findings),
        "annotations": [
            {**finding.model_dump(mode="json"), "text": graph.blob(finding.path)}
            for finding in findings[:_FINDINGS_LISTED]
        ],
        "kept": [annotation.model_dump(mode="json") for annotation in kept[:_FINDINGS_LISTED]],
    }


def violations(graph: ProjectGraph) -> list[GraphFinding]:
    """Return the rules that do not hold, as findings."""
    return [
        GraphFinding(
            code=violation.code,
            node=violation.node_id,
            message=violation.message,
            path=violation.path,
            line=violation.line,
            dependency_ids=violation.dependency_ids,
        )
        for violation in verify(graph)
    ]


def named(name: str, kind: NodeKind, tier: NodeTier | None) -> dict[str, JsonValue]:
    return {"id": name, "kind": str(kind), "tier": str(tier) if tier is not None else None}


def _node(graph: ProjectGraph, path: str) -> dict[str, JsonValue]:
    file, node = graph.files[path], graph.file_node(path)
    more: dict[str, JsonValue] = {
        "domain": node.domain,
        "problem": node.problem,
        "contracts": list(node.contracts),
        "imports": list(file.imports),
        "tests": list(file.tests),
    }
    kept = {name: value for name, value in more.items() if value}
    return {**named(path, node.kind, node.tier), "criticality": str(node.criticality), **kept}


def stack_document(kind: str, stack: str) -> dict[str, JsonValue]:
    """Return the facts that a stack gives for a kind of node. Raises UnknownNode."""
    adapter = named_stack(stack)
    known = {member.value: member for member in NodeKind}
    if adapter is None or kind not in known:
        slugs = [other.slug for other in STACKS]
        raise UnknownNode(
            f"There is no stack for {kind!r} in {stack!r}.",
            hint=f"Kinds: {', '.join(known)}. Stacks: {', '.join(slugs)}.",
        )
    tier = known[kind].tier
    return {
        "stack": adapter.name,
        "kind": kind,
        "tier": str(tier) if tier is not None else None,
        "endings": list(adapter.endings),
        "reads": adapter.promise,
        "resolves_imports": adapter.resolver is not None,
        "scaffolds": bool(adapter.new_file),
    }


def taxonomy() -> dict[str, JsonValue]:
    """Return the tiers with their hierarchy, the kinds of nodes with their tier, and the edges."""
    return {
        "tiers": [
            {
                "tier": tier.value,
                "what": tier.meaning,
                "subtype_of": tier.parent.value if tier.parent is not None else None,
                "kinds": [kind.value for kind in NodeKind if kind.tier is tier],
            }
            for tier in NodeTier
        ],
        "untiered_kinds": [kind.value for kind in NodeKind if kind.tier is None],
        "edges": [kind.value for kind in EdgeKind],
    }


FOLDER = ".annotations"
"""The folder of the kept findings."""


class _AnnotationFile(Frozen):
    code: str
    node: str
    path: str
    line: int
    message: str
    text: str


class KeptAnnotation(Frozen):
    """A kept finding; stale if its node's text is another now, or gone."""

    file: str
    code: str
    node: str
    message: str
    stale: bool


def annotation_file(graph: ProjectGraph, finding: GraphFinding) -> tuple[str, str]:
    """Return the path and the text of the file that keeps a finding."""
    kept = _AnnotationFile(
        code=finding.code,
        node=finding.node,
        path=finding.path,
        line=finding.line,
        message=finding.message,
        text=graph.blob(finding.path),
    )
    place = re.sub(r"[^A-Za-z0-9.]+", "-", f"{finding.path}-{finding.line}").strip("-")
    return f"{FOLDER}/{finding.code}-{place}.json", kept.model_dump_json(indent=1) + "\n"


def kept_annotations(graph: ProjectGraph) -> list[KeptAnnotation]:
    """Return the kept findings by file. A file that is none is left out."""
    annotations: list[KeptAnnotation] = []
    for path in graph.files:
        if not path.startswith(f"{FOLDER}/"):
            continue
        try:
            stored = _AnnotationFile.model_validate_json(graph.text(path))
        except ValidationError:
            continue
        stale = graph.blob(stored.path) != stored.text
        annotations.append(
            KeptAnnotation(
                file=path, code=stored.code, node=stored.node, message=stored.message, stale=stale
            )
        )
    return annotations


_CHARACTERS = 4
"""Characters of a token, as models count source text, on the careful side."""
_MOST_LINES = 8
_LONGEST = 110
_BATCH = 64


def repo_map(
    graph: ProjectGraph, tokens: int, about: Collection[str] = (), request: str = ""
) -> str:
    """Return files with their definitions, the most imported first, within `tokens`.

    The files `about`, and those whose names share words with the request, come before all others,
    and after them what they import and what imports them.
    """
    room = max(tokens, 0) * _CHARACTERS
    wanted = set(words(request))
    begin = {*about} | {path for path in graph.files if wanted & set(words(path))}
    code = [path for path, node in graph.files.items() if node.kind.is_code and not node.generated]
    ranked = sorted(code, key=partial(_place, graph, begin))
    chosen: dict[str, str] = {}
    for part in _parts(ranked):
        facts = graph.facts(part)
        for path in part:
            lines = _definitions(facts[path].symbols) if path in facts else []
            entry = "\n".join((path, *lines)) + "\n"
            if len(entry) > room:
                entry = path + "\n"
            if len(entry) > room:
                return _write_map(chosen, len(ranked))
            room -= len(entry)
            chosen[path] = entry
    return _write_map(chosen, len(ranked))


def _parts(paths: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(paths), _BATCH):
        yield paths[start : start + _BATCH]


def _definitions(symbols: tuple[SymbolFact, ...]) -> list[str]:
    """Return the first lines of definitions that others may use."""
    shown = [
        f"  {symbol.text[:_LONGEST].rstrip(' {:')}"
        for symbol in symbols
        if symbol.name.count(".") == 0 and not symbol.name.startswith("_")
    ]
    return shown[:_MOST_LINES] + (["  …"] if len(shown) > _MOST_LINES else [])


def _write_map(chosen: dict[str, str], count: int) -> str:
    left = count - len(chosen)
    more = f"… {left} more files of code\n" if left else ""
    return "".join(chosen.values()) + more


def _place(graph: ProjectGraph, begin: Collection[str], path: str) -> tuple[bool, bool, int, str]:
    importers = graph.importers.get(path, ())
    near = not {*importers, *graph.files[path].imports}.isdisjoint(begin)
    uses = sum(graph.files[importer].kind.is_code for importer in importers)
    return path not in begin, not near, -uses, path
