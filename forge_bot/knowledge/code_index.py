"""The text files of a commit: where names are defined, which files fit some words best, the blocks
of a text by its indentation, and the definitions that a request is most likely about.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from posixpath import splitext
from typing import NamedTuple

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.knowledge.mentions import as_searched, last_part, only_hands_on
from forge_bot.knowledge.search_index import Ranking, words
from forge_bot.project.graph.stacks.all_stacks import stack_for

_PATH_WEIGHT = 4
_SYMBOL_WEIGHT = 4
_CHARACTERS = 100_000
_ASIDE = 0.7
_SHORTEST_PART = 5
_PROSE = re.compile(r"(?:^|/)(?:docs?/|doc\.go$)|\.(?:md|rst|txt|adoc|ya?ml|toml)$", re.IGNORECASE)
_BESIDE = re.compile(
    r"(?i)(^|/)_?(examples?|bench(mark)?s?|changes|changelog\.d|vendor(ed)?)/|\.pyi$"
)
_ABOVE = ("@", "#[", "//", "#:", "/*", "*")
_SEPARATORS = re.compile(r"\.|::|->|#")


class Definition(NamedTuple):
    """A definition: its name, the names around it, its lines with decorators and comments, and the
    line with the name.
    """

    name: str
    owner: str
    first: int
    last: int
    at: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


@lru_cache(maxsize=2_000)
def definitions_of(path: str, text: str) -> tuple[Definition, ...]:
    """Return the definitions of a file in their order; none of a language without a grammar."""
    stack = stack_for(path)
    symbols = stack.read(path, text.encode()).symbols if stack else ()
    lines = text.split("\n") if symbols else []
    made: list[Definition] = []
    for symbol in symbols:
        first = symbol.line
        while first > 1 and lines[first - 2].lstrip().startswith(_ABOVE):
            first -= 1
        owner, _, name = symbol.name.rpartition(".")
        made.append(Definition(name, owner, first, symbol.end, symbol.line))
    return tuple(made)


def meant_by(name: str, definitions: Sequence[Definition]) -> list[Definition]:
    """Return the definitions that a name means; of `Class.method` the method in that class."""
    *owners, last = _SEPARATORS.split(name)
    hits = [definition for definition in definitions if definition.name == last]
    inside = [hit for hit in hits if owners and hit.owner.split(".")[-1] == owners[-1]]
    return inside or hits


class CodeIndex:
    """The text files of a commit, ready to be searched."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.paths = tuple(texts)
        self._places: dict[str, list[tuple[str, Definition]]] = {}
        for path, text in texts.items():
            for definition in definitions_of(path, text):
                self._places.setdefault(definition.name, []).append((path, definition))
        self._ranking = Ranking([_document(path, text) for path, text in texts.items()])

    def definitions(self, name: str) -> list[tuple[str, int]]:
        """Return the files and lines that define a name."""
        return [(path, definition.at) for path, definition in self._meant(name)]

    def _meant(self, name: str) -> list[tuple[str, Definition]]:
        """Return the definitions that a name means, each with its file: of `module.name` those in
        that module.
        """
        *owners, last = _SEPARATORS.split(name)
        places = self._places.get(last, [])
        meant = meant_by(name, [definition for _, definition in places])
        hits = [(path, definition) for path, definition in places if definition in meant]
        inside = [hit for hit in hits if {*owners} <= {*splitext(hit[0])[0].split("/")}]
        return inside or hits

    def defined_alike(self, name: str) -> list[str]:
        """Return the files with a definition whose name holds another, however it is written."""
        hits = (places for own, places in self._places.items() if holds(own, name))
        return [path for places in hits for path, _ in places]

    def shares(self, about: Sequence[str]) -> dict[str, float]:
        """Return the files that share words with these; the best has 1. Tests and pages share words
        with every task, so they count less.
        """
        ranked = [(self.paths[at], n) for at, n in self._ranking.best(about, len(self.paths))]
        weights = {path: _ASIDE if is_beside_code(path) else 1 for path, _ in ranked}
        return {path: weights[path] * score / ranked[0][1] for path, score in ranked}

    def best(self, about: Sequence[str], limit: int) -> tuple[str, ...]:
        """Return the most likely files for these words, best first."""
        return best_first(self.shares(about))[:limit]


def best_first(scores: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(scores, key=lambda path: (-round(scores[path], 6), path)))


def _document(path: str, text: str) -> list[str]:
    symbols = " ".join(definition.name for definition in definitions_of(path, text))
    own = words(text[:_CHARACTERS])
    return [*words(path) * _PATH_WEIGHT, *words(symbols) * _SYMBOL_WEIGHT, *own]


def holds(name: str, other: str) -> bool:
    """Return whether a name holds another one that is long enough to mean something, however they
    are written.
    """
    part, whole = (word.replace("_", "").replace("-", "").casefold() for word in (other, name))
    return len(part) >= _SHORTEST_PART and part in whole


def is_prose(path: str) -> bool:
    """Return whether a file is documentation by its place or ending, and no code or test."""
    return _PROSE.search(path) is not None


def is_beside_code(path: str) -> bool:
    """Return whether a file only goes with the code: tests, examples, pages, stubs, vendored."""
    return bool(belongs_to_tests(path) or is_prose(path) or _BESIDE.search(path))


LONGEST = 90
"""Lines of a definition that is shown whole."""

CLOSERS = (")", "]", "}", "end")
_OPENERS = ("(", "[", "{", ":")
_PIECE = 40

Span = tuple[int, int]
"""The first and the last line, counted from 1."""


def block_end(lines: Sequence[str], first: int) -> int:
    """Return the last line of what stands indented below a line, with the line that closes it."""
    width, last = _indent(lines[first - 1]), first
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        closes = line.lstrip().startswith(CLOSERS)
        if _indent(line) < width or (_indent(line) == width and not closes):
            break
        last = number
        if _indent(line) == width and not line.rstrip().endswith(_OPENERS):
            break
    return last


def blocks_around(lines: Sequence[str], line: int) -> Iterator[Span]:
    """Yield the blocks around a line by indentation, the innermost first."""
    at = line
    while at:
        last = block_end(lines, at)
        if last >= line:
            yield at, last
        width = _indent(lines[at - 1])
        above = range(at - 1, 0, -1)
        at = next(
            (
                n
                for n in above
                if lines[n - 1].strip()
                and _indent(lines[n - 1]) < width
                and not lines[n - 1].lstrip().startswith(CLOSERS)
            ),
            0,
        )


def pieces_between(lines: Sequence[str], first: int, last: int) -> Iterator[Span]:
    """Yield the blocks between two lines, long ones in the blocks that they hold."""
    at = first
    while at <= last:
        end = min(block_end(lines, at), last) if lines[at - 1].strip() else at
        if end - at < LONGEST:
            if end > at:
                yield at, end
        elif at + 1 < end:
            inner = [*pieces_between(lines, at + 1, end - 1)]
            yield from inner or [
                (start, min(start + _PIECE - 1, end)) for start in range(at, end, _PIECE)
            ]
        at = end + 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


_MOST = 5
_LEAST_SCORE = 0.7
"""The share of words that counts where nothing else does; the best definition has 1."""

_NAME_WEIGHT = 4
_CALLED = 0.5


def likely_definitions(
    lines: Sequence[str],
    definitions: Sequence[Definition],
    names: Sequence[str],
    about: Sequence[str],
    called: Sequence[Definition],
) -> list[Definition]:
    """Return the few definitions without others inside that a request is most likely about, best
    first: by the words they share with it, the names they use or are called alike, and `called`,
    those that a named one calls.
    """
    inner = [
        one
        for one, after in zip_longest(definitions, definitions[1:])
        if after is None or after.first > one.last
    ]
    bodies = {one: lines[one.first - 1 : one.last] for one in inner}
    scores = defaultdict[Definition, float](float, _by_words(bodies, about))
    for name in names:
        using = [one for one in inner if one.name != last_part(name) and _uses(bodies[one], name)]
        unknown = not meant_by(name, definitions)
        alike = [one for one in inner if unknown and holds(one.name, as_searched(name))]
        for group in (using, alike):
            for one in group:
                scores[one] += 1 / len(group)
    for one in called:
        scores[one] += _CALLED
    best = sorted(scores, key=lambda one: (-scores[one], one.first))[:_MOST]
    return [one for one in best if scores[one] >= _LEAST_SCORE or one in called]


def _by_words(
    bodies: dict[Definition, Sequence[str]], about: Sequence[str]
) -> dict[Definition, float]:
    """Return the share of each definition in the words of a request; the best has 1."""
    texts = [
        words(" ".join((one.owner, *[one.name] * _NAME_WEIGHT, *body)))
        for one, body in bodies.items()
    ]
    ranked = Ranking(texts).best(about, len(texts))
    all_of_them = [*bodies]
    return {all_of_them[at]: score / ranked[0][1] for at, score in ranked}


def _uses(body: Sequence[str], name: str) -> bool:
    word, weak = only_hands_on(as_searched(name))
    return any(word.search(line) and not weak.match(line) for line in body)
