"""The search words of a text, and documents ranked with BM25+ by those they share with a query."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Protocol, cast

MOST_WORDS = 24
"""The number of words of a query that are used: the most informative ones."""

_DIGITS = 6


class Ranking:
    """An index over documents that are given as lists of words.

    Of documents with equal scores the one given first comes first, so the given order is the
    preferred order.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        # The library divides by the number of documents and by their mean length, so neither may be
        # zero.
        self._places = [place for place, document in enumerate(documents) if document]
        self._scorer = _scorer([documents[at] for at in self._places]) if self._places else None

    def best(self, question: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return the positions and scores of the documents that share a word with the query.

        The best come first, at most `limit`. A word counts as often as the query has it.
        """
        if self._scorer is None:
            return []
        totals: Counter[int] = Counter()
        for word in self._most_informative(question, self._scorer.idf):
            holders = [at for at, counts in enumerate(self._scorer.doc_freqs) if word in counts]
            scores = self._scorer.get_batch_scores([word] * question.count(word), holders)
            totals.update(dict(zip(holders, scores, strict=True)))
        # Scores are rounded, so that equal documents stay equal whatever order their words were
        # added in.
        scored = [(self._places[at], round(float(n), _DIGITS)) for at, n in totals.items()]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[: max(0, limit)]

    @staticmethod
    def _most_informative(question: Sequence[str], idf: Mapping[str, float]) -> list[str]:
        """Return the words that a query repeats and that few documents have, best first."""
        counts = Counter(word for word in question if word in idf)
        return sorted(counts, key=lambda word: (-counts[word] * idf[word], word))[:MOST_WORDS]


class _Scorer(Protocol):
    """The part of rank_bm25's BM25Plus that is used here."""

    idf: dict[str, float]
    doc_freqs: list[dict[str, int]]

    def get_batch_scores(self, query: list[str], doc_ids: list[int]) -> "Sequence[float]": ...


def _scorer(documents: Sequence[Sequence[str]]) -> _Scorer:
    from rank_bm25 import BM25Plus

    return cast("_Scorer", BM25Plus(documents, delta=0))


_RUN = re.compile(r"[^\W_]+")
# Han, kana, Hangul and their extensions: scripts whose words are not (reliably) separated by
# blanks.
_CJK = re.compile(
    r"([\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHORTEST_PLURAL = 4
_ODD_PLURALS = {
    "alias": "alias",
    "aliases": "alias",
    "caches": "cache",
    "indices": "index",
    "series": "series",
    "statuses": "status",
}

_FUNCTION_WORDS = """
    a about above after again all also although always am an and any are aren as at be because been
    before being below between both but by can cannot could couldn did didn do does doesn doing don
    done down during each either else etc every few for from further get gets got had hadn has hasn
    have haven having he her here hers him his how however i if in instead into is isn it its itself
    just let ll may me might more most must my need needs neither no nor not now of off on once one
    only or other our ours out over own per please rather re same shall she should shouldn so some
    such than that the their them then there these they this those through thus to too under until
    up upon us use used uses using ve very via was wasn we were weren what when where whether which
    while who whom why will with within without won would wouldn yet you your
"""
# Nearly every request has one of these words; none states its subject.
_REQUEST_WORDS = """
    add added adding change changed changes changing fix fixed fixes fixing implement implemented
    make makes making update updated updates issue issues task tasks want wants
"""
STOP_WORDS = frozenset((_FUNCTION_WORDS + _REQUEST_WORDS).split())


def words(text: str) -> list[str]:
    """Return the search words in their order.

    Identifiers and paths are split, plurals reduced, CJK text becomes bigrams, and stop words are
    left out.
    """
    if text.isascii():
        return [word for run in _RUN.findall(text) for word in _latin(run)]
    parts: list[str] = []
    for run in _RUN.findall(unicodedata.normalize("NFKC", text)):
        parts += _latin(run) if run.isascii() else _split_mixed(run)
    return parts


def _split_mixed(run: str) -> list[str]:
    parts = (_bigrams(part) if _CJK.match(part) else _latin(part) for part in _CJK.split(run))
    return [word for part in parts for word in part]


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


@lru_cache(maxsize=50_000)
def _latin(run: str) -> tuple[str, ...]:
    lowered = (part.casefold() for part in _HUMP.split(run))
    return tuple(singular(word) for word in lowered if len(word) > 1 and word not in STOP_WORDS)


def singular(word: str) -> str:
    """Return the singular of a plural by its ending alone (after Harman's S-stemmer, 1991).

    Other words stay as they are.
    """
    if word in _ODD_PLURALS:
        return _ODD_PLURALS[word]
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes", "zzes")) else word[:-1]
