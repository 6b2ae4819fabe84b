"""`.forge/manifest.yaml`: a project's declarations about its nodes.

Nothing has to be declared. A node is a file (`shop/prices.py`), a folder (`shop/billing/`), or a
glob (`shop/*/api.py`); the more exact one counts.
"""

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal, cast

from pydantic import Field, TypeAdapter

from forge_bot.errors import BadManifest
from forge_bot.project.graph.node_types import Criticality, NodeTier
from forge_bot.project.graph.project_graph import Overrides, ProjectGraph
from forge_bot.values import Frozen

MANIFEST = ".forge/manifest.yaml"
OUTSIDE = "outside:"
"""Begins the name of a package that is no file of the project."""


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

    return read_yaml(text, MANIFEST, _adapter(), BadManifest, _KEYS)


def problems_of_manifest(text: str | None) -> tuple[str, ...]:
    """Return why a manifest cannot be read; None is no file."""
    try:
        read_manifest(text or "")
    except BadManifest as error:
        return (error.message, *error.details)
    return ()


def manifest_schema() -> dict[str, Any]:
    return _adapter().json_schema()


def declared(graph: ProjectGraph) -> tuple[ProjectGraph, Manifest]:
    """Return the graph with the facts of its manifest, and the manifest. Raises BadManifest."""
    manifest = read_manifest(graph.text(MANIFEST))
    stated: dict[str, Overrides] = {}
    for name, node in sorted(manifest.nodes.items(), key=lambda item: _exactness(item[0])):
        for path in matching(graph, name):
            known = stated.get(path, Overrides())
            stated[path] = Overrides(
                node.tier or known.tier,
                node.domain or known.domain,
                node.criticality or known.criticality,
                node.contracts or known.contracts,
            )
    return (replace(graph, overrides=stated) if stated else graph), manifest


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


@cache
def _adapter() -> TypeAdapter[Manifest]:
    return TypeAdapter(Manifest)


_KEYS = (
    "version",
    "default_rules",
    "nodes",
    *(f"nodes.{name}" for name in cast("dict[str, object]", DeclaredNode.model_fields)),
)
