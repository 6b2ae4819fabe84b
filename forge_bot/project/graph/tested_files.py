"""The edges from tests to the files that they test."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from posixpath import basename, dirname

from forge_bot.project.graph.file_facts import FileFacts
from forge_bot.project.graph.node_types import NodeKind
from forge_bot.project.graph.project_graph import FileNode


def with_tests(
    nodes: Mapping[str, FileNode], facts_of: Callable[[list[str]], Mapping[str, FileFacts]]
) -> dict[str, FileNode]:
    """Return the nodes with the edges from tests to the files that they test.

    A test tests the files that it imports, also through a package that only re-exports them, and in
    Go the files of its folder.
    """
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in nodes:
        if path.endswith(".go"):
            by_folder[dirname(path)].append(path)
    linked = dict(nodes)
    tests = {path: node for path, node in nodes.items() if node.kind is NodeKind.TEST}
    packages = {path: _packages(node) for path, node in tests.items()}
    asked = {path for path, holders in packages.items() if holders}.union(*packages.values())
    facts = facts_of(sorted(asked))
    for path, node in tests.items():
        targets = [*node.imports, *_find_origins(path, node, facts, nodes)]
        if path.endswith("_test.go"):
            targets += by_folder[dirname(path)]
        tested = tuple(
            dict.fromkeys(
                target
                for target in targets
                if target in nodes and nodes[target].kind.is_code and target != path
            )
        )
        if tested:
            linked[path] = node._replace(tests=tested)
    return linked


def _packages(node: FileNode) -> set[str]:
    return {path for path in node.imports if basename(path) == "__init__.py"}


def _find_origins(
    path: str, node: FileNode, facts: Mapping[str, FileFacts], nodes: Mapping[str, FileNode]
) -> list[str]:
    """Return the files from which packages take the names that a file takes from them."""
    packages = _packages(node)
    if not packages or path not in facts:
        return []
    lines = facts[path].imports
    wanted = {name for line in lines for name in line.names}
    sources: list[str] = []
    for package in packages:
        at = node.imports[package]
        whole = any(line.line == at and line.names in {(), ("*",)} for line in lines)
        for line in facts.get(package, FileFacts()).imports:
            if whole or wanted & set(line.names) or "*" in line.names:
                sources += [
                    target for target, at in nodes[package].imports.items() if at == line.line
                ]
    return sources
