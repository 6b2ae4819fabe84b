"""A map of a repository within a budget of tokens: the most imported files, with definitions."""

from collections.abc import Collection, Iterator, Mapping

from forge_bot.project.graph.file_facts import SymbolFact
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.search_words import words

_CHARACTERS = 4
"""Characters of a token, as models count source text, on the careful side."""
_MOST_LINES = 8
_LONGEST = 110
_BATCH = 64

_FOLLOWED = 0.85
_ROUNDS = 40
_DIGITS = 12


def repo_map(graph: ProjectGraph, tokens: int, about: Collection[str] = (), said: str = "") -> str:
    """Return files with their definitions, the most important first, within `tokens`.

    `about` are files from which the walk of the ranking begins. Words of `said` raise the files
    that have them in their names.
    """
    room = max(tokens, 0) * _CHARACTERS
    wanted = set(words(said))
    begin = {*about} | {path for path in graph.files if wanted & set(words(path))}
    ranks = _page_ranks(graph, begin)
    ranked = sorted(
        (path for path, node in graph.files.items() if node.kind.is_code and not node.generated),
        key=lambda path: (-ranks[path], path),
    )
    chosen: dict[str, str] = {}
    for part in _parts(ranked):
        facts = graph.facts(part)
        for path in part:
            lines = _definitions(facts[path].symbols) if path in facts else []
            entry = "\n".join((path, *lines)) + "\n"
            if len(entry) > room:
                entry = path + "\n"
            if len(entry) > room:
                return _written(chosen, len(ranked))
            room -= len(entry)
            chosen[path] = entry
    return _written(chosen, len(ranked))


def _parts(paths: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(paths), _BATCH):
        yield paths[start : start + _BATCH]


def _definitions(symbols: tuple[SymbolFact, ...]) -> list[str]:
    """Return the first lines of definitions that others may use."""
    shown = [
        f"  {each.text[:_LONGEST].rstrip(' {:')}"
        for each in symbols
        if each.name.count(".") == 0 and not each.name.startswith("_")
    ]
    return shown[:_MOST_LINES] + (["  …"] if len(shown) > _MOST_LINES else [])


def _written(chosen: dict[str, str], count: int) -> str:
    left = count - len(chosen)
    more = f"… {left} more files of code\n" if left else ""
    return "".join(chosen.values()) + more


def _page_ranks(graph: ProjectGraph, begin: Collection[str] = ()) -> Mapping[str, float]:
    """Return the rank of each file; they add up to one. With `begin`, walks start there.

    Source: Page and others, "The PageRank Citation Ranking" (1998). numpy is here anyway, and adds
    up 20,000 files in hundredths of a second; a library of graphs would take 7 MB.
    """
    import numpy as np

    paths = list(graph.files)
    place = {path: at for at, path in enumerate(paths)}
    edges = [
        (place[path], place[target])
        for path, node in graph.files.items()
        for target in node.imports
    ]
    count = len(paths)
    if not count:
        return {}
    starts = [place[path] for path in begin if path in place]
    base = np.zeros(count)
    base[starts or slice(None)] = 1.0
    base /= base.sum()
    sources, targets = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    out = np.bincount(sources, minlength=count)
    rank = base.copy()
    for _ in range(_ROUNDS):
        given = np.bincount(targets, weights=(rank / np.maximum(out, 1))[sources], minlength=count)
        kept = rank[out == 0].sum()
        rank = (1 - _FOLLOWED) * base + _FOLLOWED * (given + kept * base)
    return {path: round(float(value), _DIGITS) for path, value in zip(paths, rank, strict=True)}
