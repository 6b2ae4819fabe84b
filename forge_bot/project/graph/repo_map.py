"""A map of a repository within a budget of tokens: the most imported files, with definitions."""

from collections.abc import Collection, Iterator
from functools import partial

from forge_bot.project.graph.file_facts import SymbolFact
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.search_words import words

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
