"""The graph as documents: the manifest with its nodes, findings, stacks, and the taxonomy."""

import re

from pydantic import JsonValue, ValidationError

from forge_bot.errors import UnknownNode
from forge_bot.project.graph.manifest import Manifest
from forge_bot.project.graph.node_types import EdgeKind, NodeKind, NodeTier
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.scan_graph import GraphFinding, scan
from forge_bot.project.graph.stacks.all_stacks import STACKS, named_stack
from forge_bot.project.graph.verify_graph import verify
from forge_bot.sentences import say
from forge_bot.values import Frozen

_NODES_LISTED = 1_000
_FINDINGS_LISTED = 200


def manifest_document(graph: ProjectGraph, manifest: Manifest) -> dict[str, JsonValue]:
    """Return the nodes of code with tier and imports, and the rules that are declared."""
    nodes = [path for path, node in graph.files.items() if node.kind is not NodeKind.OTHER]
    return {
        "version": manifest.version,
        "files": len(graph.files),
        "left_out": max(len(nodes) - _NODES_LISTED, 0),
        "nodes": [_node(graph, path) for path in nodes[:_NODES_LISTED]],
        "rules": [
            rule.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            for rule in manifest.rules
        ],
    }


def annotations_document(graph: ProjectGraph) -> dict[str, JsonValue]:
    """Return the present findings of the graph, each bound to its node's text, and the kept
    annotations.

    An annotation is stale if that text has changed since.
    """
    found = [*violations(graph), *scan(graph)]
    kept = kept_annotations(graph)
    return {
        "total": len(found),
        "annotations": [
            {**each.model_dump(mode="json"), "text": graph.blob(each.path)}
            for each in found[:_FINDINGS_LISTED]
        ],
        "kept": [each.model_dump(mode="json") for each in kept[:_FINDINGS_LISTED]],
    }


def violations(graph: ProjectGraph) -> list[GraphFinding]:
    """Return the rules that do not hold, as findings."""
    return [
        GraphFinding(
            code=each.code,
            node=each.node_id,
            message=each.message,
            path=each.path,
            line=each.line,
            dependency_ids=each.dependency_ids,
        )
        for each in verify(graph)
    ]


def named(name: str, kind: NodeKind, tier: NodeTier | None) -> dict[str, JsonValue]:
    """Return a node as documents name it."""
    return {"id": name, "kind": str(kind), "tier": str(tier) if tier is not None else None}


def _node(graph: ProjectGraph, path: str) -> dict[str, JsonValue]:
    node, found = graph.files[path], graph.file_node(path)
    more: dict[str, JsonValue] = {
        "domain": found.domain,
        "problem": found.problem,
        "contracts": list(found.contracts),
        "imports": list(node.imports),
        "tests": list(node.tests),
    }
    kept = {name: value for name, value in more.items() if value}
    return {**named(path, found.kind, found.tier), "criticality": str(found.criticality), **kept}


def stack_document(kind: str, stack: str) -> dict[str, JsonValue]:
    """Return the facts that a stack gives for a kind of node. Raises UnknownNode."""
    found = named_stack(stack)
    known = {each.value: each for each in NodeKind}
    if found is None or kind not in known:
        slugs = [each.slug for each in STACKS]
        raise UnknownNode(
            say("project.graph_documents.no_stack", kind=kind, stack=stack),
            hint=say(
                "project.graph_documents.known_kinds_and_stacks",
                known=", ".join(known),
                slugs=", ".join(slugs),
            ),
        )
    tier = known[kind].tier
    return {
        "stack": found.name,
        "kind": kind,
        "tier": str(tier) if tier is not None else None,
        "endings": list(found.endings),
        "reads": found.promise,
        "resolves_imports": found.resolver is not None,
        "scaffolds": found.scaffold is not None,
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
    found: list[KeptAnnotation] = []
    for path in graph.files:
        if not path.startswith(f"{FOLDER}/"):
            continue
        try:
            said = _AnnotationFile.model_validate_json(graph.text(path))
        except ValidationError:
            continue
        stale = graph.blob(said.path) != said.text
        found.append(
            KeptAnnotation(
                file=path, code=said.code, node=said.node, message=said.message, stale=stale
            )
        )
    return found
