"""Rank the definitions of a file by a request: by shared words, uses of its names, and calls."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest

from forge_bot.knowledge.code_index import Definition, holds, meant_by
from forge_bot.knowledge.mentions import as_searched, last_part, only_hands_on
from forge_bot.knowledge.search_index import Ranking, words

_MOST = 5
_LEAST_SCORE = 0.7
"""The share of words that counts where nothing else does; the best definition has 1."""

_NAME_WEIGHT = 4
_CALLED = 0.5
_DOCSTRING = ('"""', "'''", 'r"""', "r'''")


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


def after_docstring(lines: Sequence[str], definition: Definition) -> int:
    """Return the line behind the docstring of a definition; without one, its own."""
    opened = ""
    for number in range(definition.at, definition.last + 1):
        line = lines[number - 1].strip()
        mark = next((mark for mark in _DOCSTRING if line.startswith(mark)), "")
        if opened and opened in line:
            return number + 1
        if mark and not opened:
            opened = mark[-3:]
            if opened in line[len(mark) :]:
                return number + 1
    return definition.at
