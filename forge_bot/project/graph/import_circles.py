"""Circles of imports among the children of a folder, at every depth below it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from forge_bot.project.graph.project_graph import ProjectGraph

Import = tuple[str, str, int]


def circles(graph: ProjectGraph, folder: str) -> Iterator[tuple[tuple[str, ...], Import]]:
    """Yield each circle of children that import each other, with one import that closes it."""
    inside = [path for path in graph.files if path.startswith(folder)]
    folders = {folder, *(path[: at + 1] for path in inside for at in _slashes(path, len(folder)))}
    edges: dict[str, dict[tuple[str, str], Import]] = defaultdict(dict)
    for path in inside:
        for target, line in graph.files[path].imports.items():
            around = _around(path, target)
            if around in folders:
                one, other = _child(path, around), _child(target, around)
                if one and other and one != other:
                    edges[around].setdefault((one, other), (path, target, line))
    for around in sorted(edges):
        for group in _strong(edges[around].keys()):
            at = next(edge for pair, edge in edges[around].items() if {*pair} <= group)
            yield tuple(sorted(around + child for child in group)), at


def _slashes(path: str, start: int) -> Iterator[int]:
    at = path.find("/", start)
    while at >= 0:
        yield at
        at = path.find("/", at + 1)


def _around(one: str, other: str) -> str:
    """Return the deepest folder that holds both."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return one[: one.rfind("/", 0, shared) + 1]


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
        group = _reached(start, after) & _reached(start, before)
        left -= {start, *group}
        if len(group) > 1:
            yield group


def _reached(start: str, edges: dict[str, set[str]]) -> set[str]:
    found, queue = {start}, [start]
    for each in queue:
        for other in edges.get(each, ()):
            if other not in found:
                found.add(other)
                queue.append(other)
    return found
