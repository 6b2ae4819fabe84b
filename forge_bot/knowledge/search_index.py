"""Rank documents with BM25+ by the words they share with a query.

An inverted index limits the ranking to documents that can match.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from numpy import float64, intp
    from numpy.typing import NDArray

MOST_WORDS = 24
"""The number of words of a query that are used: the most informative ones."""
_DIGITS = 6


class WordValue(NamedTuple):
    """A word's inverse document frequency, the positions of its documents, and what it adds to the
    score of each.
    """

    idf: float
    holders: "NDArray[intp]"
    scores: "NDArray[float64]"


class WordValues(Protocol):
    """The words of a number of documents with their values."""

    size: int

    def idf(self, word: str) -> float | None:
        """Return the inverse document frequency of a word, None if no document has it."""
        ...

    def value(self, word: str) -> WordValue:
        """Return the value of a word that a document has."""
        ...


class Ranking:
    """An index over documents that are given as lists of words, or as the values of their words.

    Of documents with equal scores the one given first comes first, so the given order is the
    preferred order.

    No document is skipped, however common its words are. A query only adds up the values of its
    words in one pass.
    """

    def __init__(self, documents: "Sequence[Sequence[str]] | WordValues") -> None:
        self.values = DocumentWords(documents) if isinstance(documents, Sequence) else documents

    def best(self, question: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return the positions and scores of the documents that share a word with the query.

        The best come first, at most `limit`.
        """
        if not self.values.size or limit < 1:
            return []
        import numpy as np

        totals = np.zeros(self.values.size)
        for word in self.most_informative(question):
            value = self.values.value(word)
            totals[value.holders] += value.scores
        # Scores are rounded, so that equal documents stay equal whatever order their words were
        # added in.
        totals = totals.round(_DIGITS)
        found = np.flatnonzero(totals)
        if len(found) > limit:
            bar = np.partition(totals[found], -limit)[-limit]
            found = found[totals[found] >= bar]
        ranked = found[np.argsort(-totals[found], kind="stable")][:limit]
        return [(at, float(totals[at])) for at in ranked.tolist()]

    def most_informative(self, question: Sequence[str]) -> list[str]:
        """Return the most informative words of a query, best first.

        They are those that it repeats and that few documents have.
        """
        rarity = {
            word: (-count * idf, word)
            for word, count in Counter(question).items()
            if (idf := self.values.idf(word)) is not None
        }
        return sorted(rarity, key=rarity.__getitem__)[:MOST_WORDS]


class DocumentWords:
    """The words of documents. The value of a word is computed when it is first asked for."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        # The library divides by the number of documents and by their mean length, so neither may be
        # zero.
        self._places = [place for place, words in enumerate(documents) if words]
        self._scorer = (
            _scorer([documents[place] for place in self._places]) if self._places else None
        )
        self.size = len(documents) if self._places else 0
        self._holders: dict[str, list[int]] = {}
        self._values: dict[str, WordValue] = {}
        for at, counts in enumerate(self._scorer.doc_freqs if self._scorer else ()):
            for word in counts:
                if word in self._holders:
                    self._holders[word].append(at)
                else:
                    self._holders[word] = [at]

    def __iter__(self) -> Iterator[str]:
        return iter(self._holders)

    def idf(self, word: str) -> float | None:
        """Return the inverse document frequency of a word, None if no document has it."""
        return self._scorer.idf[word] if self._scorer and word in self._holders else None

    def value(self, word: str) -> WordValue:
        """Return what a word adds to the scores of its documents.

        For other documents, the library would return the lower bound of the word (its idf times
        delta). The bound is for documents that have the word (Lv and Zhai, Lower-Bounding Term
        Frequency Normalization, 2011).
        """
        if word not in self._values and self._scorer is not None:
            import numpy as np

            holders = self._holders[word]
            self._values[word] = WordValue(
                self._scorer.idf[word],
                np.array([self._places[at] for at in holders]),
                np.array(self._scorer.get_batch_scores([word], holders)),
            )
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
