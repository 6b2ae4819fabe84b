"""A graph as it is kept in the cache, and read from there."""

from collections.abc import Mapping
from typing import cast

from pydantic_core import to_json

from forge_bot.project.graph.node_types import NodeKind
from forge_bot.project.graph.project_files import ProjectFiles
from forge_bot.project.graph.project_graph import FileNode, GraphCommand, ProjectGraph
from forge_bot.values import CommandName

PROBLEM = 5
"""The place of the problem in a kept node."""


def kept_form(files: ProjectFiles, graph: ProjectGraph, read: Mapping[str, str]) -> bytes:
    """Return a graph as it is kept. `read` are the files that were read for its commands, by id."""
    place = {path: at for at, path in enumerate(graph.files)}
    rows = [
        [
            node.kind,
            [[place[target], line] for target, line in node.imports.items()],
            list(node.outside.items()),
            node.missing,
            [place[target] for target in node.tests],
            node.problem,
            node.generated,
            [[place[target], line] for target, line in node.writes.items()],
        ]
        for node in graph.files.values()
    ]
    blobs = [entry.blob for entry in files.entries.values()]
    seen = list(read.items())
    return to_json(
        {
            "files": rows,
            "blobs": blobs,
            "commands": graph.commands,
            "seen": seen,
            "notes": graph.notes,
        }
    )


def commands_from(
    found: Mapping[str, list[list[object]]],
) -> tuple[dict[str, str], tuple[GraphCommand, ...]]:
    """Return the kept commands, and the files that were read for them with their ids."""
    commands = tuple(
        GraphCommand(
            CommandName(str(name)),
            str(words),
            str(reason),
            tuple(cast("list[str]", reads)),
            tuple(cast("list[str]", writes)),
        )
        for name, words, reason, reads, writes in found["commands"]
    )
    return dict(cast("list[tuple[str, str]]", found["seen"])), commands


def node_from(row: list[object], paths: list[str]) -> FileNode:
    """Return a kept node. Raises ValueError, TypeError, IndexError for one that does not fit."""
    kind, imports, outside, missing, tests, problem, generated, writes = row
    return FileNode(
        NodeKind(str(kind)),
        _lines_at(imports, paths),
        dict(cast("list[tuple[str, int]]", outside)),
        tuple((module, line) for module, line in cast("list[tuple[str, int]]", missing)),
        tuple(paths[target] for target in cast("list[int]", tests)),
        str(problem),
        bool(generated),
        _lines_at(writes, paths),
    )


def _lines_at(rows: object, paths: list[str]) -> dict[str, int]:
    return {paths[target]: line for target, line in cast("list[tuple[int, int]]", rows)}
