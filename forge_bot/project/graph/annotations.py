"""Kept findings: one small file each, bound to a node and its text. When that text changes, the
annotation is stale.
"""

import re

from pydantic import ValidationError

from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.scan_graph import GraphFinding
from forge_bot.values import Frozen

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
