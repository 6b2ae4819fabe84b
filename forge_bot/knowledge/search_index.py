"""Rank documents with BM25+ by the words they share with a query."""

from collections import Counter, defaultdict
from collections.abc import Sequence
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
        self._places = [place for place, words in enumerate(documents) if words]
        self._scorer = _scorer([documents[at] for at in self._places]) if self._places else None
        self._holders: dict[str, list[int]] = defaultdict(list)
        for at, place in enumerate(self._places):
            for word in dict.fromkeys(documents[place]):
                self._holders[word].append(at)

    def best(self, question: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return the positions and scores of the documents that share a word with the query.

        The best come first, at most `limit`. A word counts only for the documents that have it: for
        others the library would return the lower bound of the word.
        """
        totals: Counter[int] = Counter()
        for word in self.most_informative(question) if self._scorer else ():
            holders = self._holders[word]
            scores = self._scorer.get_batch_scores([word], holders) if self._scorer else ()
            totals.update(dict(zip(holders, scores, strict=True)))
        # Scores are rounded, so that equal documents stay equal whatever order their words were
        # added in.
        scored = [(self._places[at], round(float(n), _DIGITS)) for at, n in totals.items()]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[: max(0, limit)]

    def most_informative(self, question: Sequence[str]) -> list[str]:
        """Return the most informative words of a query, best first.

        They are those that it repeats and that few documents have.
        """
        idf = self._scorer.idf if self._scorer else {}
        counts = Counter(word for word in question if word in idf)
        return sorted(counts, key=lambda word: (-counts[word] * idf[word], word))[:MOST_WORDS]


class _Scorer(Protocol):
    """The part of rank_bm25's BM25Plus that is used here."""

    idf: dict[str, float]

    def get_batch_scores(self, query: list[str], doc_ids: list[int]) -> "Sequence[float]": ...


def _scorer(documents: Sequence[Sequence[str]]) -> _Scorer:
    from rank_bm25 import BM25Plus

    return cast("_Scorer", BM25Plus(documents))
