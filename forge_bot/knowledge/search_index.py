"""Rank documents with BM25+ by the words they share with a query.

An inverted index limits the ranking to documents that can match.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from numpy import float64, intp
    from numpy.typing import NDArray

MOST_WORDS = 24
"""The number of words of a query that are used: the most informative ones."""
_DIGITS = 6


class Ranking:
    """An index over documents that are given as lists of words.

    Of documents with equal scores the one given first comes first, so the given order is the
    preferred order.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._size = len(documents)
        # The library divides by the number of documents and by their mean length, so neither may be
        # zero.
        self._places = [place for place, words in enumerate(documents) if words]
        self._scorer = (
            _scorer([documents[place] for place in self._places]) if self._places else None
        )
        self._holders: dict[str, list[int]] = {}
        self._values: dict[str, tuple[NDArray[intp], NDArray[float64]]] = {}
        for at, counts in enumerate(self._scorer.doc_freqs if self._scorer else ()):
            for word in counts:
                self._holders.setdefault(word, []).append(at)

    def best(self, question: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return the positions and scores of the documents that share a word with the query.

        The best come first, at most `limit`.
        """
        if self._scorer is None or limit < 1:
            return []
        import numpy as np

        totals = np.zeros(self._size)
        for word in self.most_informative(question):
            holders, scores = self._value(self._scorer, word)
            totals[holders] += scores
        # Scores are rounded, so that equal documents stay equal whatever order their words were
        # added in.
        totals = totals.round(_DIGITS)
        found = np.flatnonzero(totals)
        ranked = found[np.argsort(-totals[found], kind="stable")][:limit]
        return [(at, float(totals[at])) for at in ranked.tolist()]

    def most_informative(self, question: Sequence[str]) -> list[str]:
        """Return the most informative words of a query, best first.

        They are those that it repeats and that few documents have.
        """
        idf = self._scorer.idf if self._scorer else {}
        rarity = {
            word: (-count * idf[word], word)
            for word, count in Counter(question).items()
            if word in idf
        }
        return sorted(rarity, key=rarity.__getitem__)[:MOST_WORDS]

    def _value(self, scorer: "_Scorer", word: str) -> "tuple[NDArray[intp], NDArray[float64]]":
        """Return the positions of the documents that have a word, and what it adds to their scores.

        For other documents, the library would return the lower bound of the word (its idf times
        delta). The bound is for documents that have the word (Lv and Zhai, Lower-Bounding Term
        Frequency Normalization, 2011).
        """
        if word not in self._values:
            import numpy as np

            holders = self._holders[word]
            places = np.array([self._places[at] for at in holders])
            scores = np.array(scorer.get_batch_scores([word], holders))
            self._values[word] = places, scores
        return self._values[word]


class _Scorer(Protocol):
    """The part of rank_bm25's BM25Plus that is used here."""

    idf: dict[str, float]
    doc_freqs: list[dict[str, int]]
    doc_len: Sequence[int]

    def get_batch_scores(self, query: list[str], doc_ids: list[int]) -> list[float]: ...


def _scorer(documents: Sequence[Sequence[str]]) -> _Scorer:
    import numpy as np
    from rank_bm25 import BM25Plus

    scorer = cast("_Scorer", BM25Plus(documents))
    # The array is made once; the library would make it again for every word.
    scorer.doc_len = cast("Sequence[int]", np.array(scorer.doc_len))
    return scorer
