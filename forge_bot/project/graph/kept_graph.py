"""A graph as it is kept in the cache, and read from there."""

from collections.abc import Mapping
from typing import cast

from pydantic_core import to_json

from forge_bot.project.graph.node_types import NodeKind
from forge_bot.project.graph.project_files import ProjectFiles
from forge_bot.project.graph.project_graph import FileNode, GraphCommand, ProjectGraph
from forge_bot.values import CommandName

_KINDS = {str(kind): kind for kind in NodeKind}
TESTS, PROBLEM = 4, 5
"""The places of the tests and of the problem in a kept node."""


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
    """Return a kept node. Raises ValueError, TypeError, LookupError for one that does not fit."""
    kind, imports, outside, missing, tests, problem, generated, writes = row
    # Thousands are read at once, and most parts of most of them are empty.
    return FileNode(
        _KINDS[cast("str", kind)],
        {paths[at]: line for at, line in cast("list[tuple[int, int]]", imports)},
        dict(cast("list[tuple[str, int]]", outside)) if outside else {},
        tuple((module, line) for module, line in cast("list[tuple[str, int]]", missing)),
        tuple([paths[at] for at in cast("list[int]", tests)]) if tests else (),
        cast("str", problem),
        cast("bool", generated),
        {paths[at]: line for at, line in cast("list[tuple[int, int]]", writes)} if writes else {},
    )
