"""Documents ranked by the words they share with a question: BM25+ over those that an index says can match at all."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Protocol, cast

MOST_CANDIDATES = 256
"""How many documents are scored for one question; what a question costs does not grow with the number of documents."""
_MOST_WORDS = 24


class Ranking:
    """An index over documents that are given as lists of words.

    Of documents with equal scores the one that was given first comes first, so the order given is the order preferred.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        # The library divides by the number of documents and by their mean length, so neither may be zero.
        self._places = [place for place, words in enumerate(documents) if words]
        self._scorer = _scorer([documents[place] for place in self._places]) if self._places else None
        self._holders: dict[str, list[int]] = {}
        for at, counts in enumerate(self._scorer.doc_freqs if self._scorer else ()):
            for word in counts:
                self._holders.setdefault(word, []).append(at)

    def best(self, question: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Places of the documents that share a word with the question, with their scores, best first; at most `limit`."""
        if self._scorer is None:
            return []
        asked = self._telling(question)
        candidates = self._candidates(asked)
        scores = self._scored(self._scorer, asked, candidates)
        ranked = sorted(zip(candidates, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))
        return [(self._places[at], score) for at, score in ranked[:limit]]

    def _telling(self, question: Sequence[str]) -> list[str]:
        """The words that tell most: those the question repeats and few documents have; rarest first."""
        counts = Counter(word for word in question if word in self._holders)
        idf = self._scorer.idf if self._scorer else {}
        chosen = sorted(counts, key=lambda word: (-counts[word] * idf[word], word))[:_MOST_WORDS]
        return sorted(chosen, key=lambda word: (len(self._holders[word]), word))

    def _candidates(self, asked: Sequence[str]) -> list[int]:
        """Documents with the rarest words before those with common ones, and the first given where a word has many."""
        found: dict[int, None] = {}
        for word in asked:
            room = MOST_CANDIDATES - len(found)
            if room <= 0:
                break
            found |= dict.fromkeys(islice((at for at in self._holders[word] if at not in found), room))
        return list(found)

    @staticmethod
    def _scored(scorer: "_Scorer", asked: Sequence[str], candidates: Sequence[int]) -> list[float]:
        """BM25+ scores, rounded so that equal documents are equal.

        The library adds the lower bound of a word (its idf times delta) to documents that do not have the word, too. That is
        taken out again: the bound is for documents that have it (Lv and Zhai, Lower-Bounding Term Frequency Normalization, 2011).
        """
        if not candidates:
            return []
        raw = scorer.get_batch_scores(list(asked), list(candidates))
        bounds = [(word, scorer.idf[word] * scorer.delta) for word in asked]
        absent = (sum(bound for word, bound in bounds if word not in scorer.doc_freqs[at]) for at in candidates)
        return [round(score - surplus, 6) for score, surplus in zip(raw, absent, strict=True)]


class _Scorer(Protocol):
    """As much of rank_bm25's BM25Plus as is used here."""

    idf: dict[str, float]
    doc_freqs: list[dict[str, int]]
    delta: float

    def get_batch_scores(self, query: list[str], doc_ids: list[int]) -> list[float]: ...


def _scorer(documents: Sequence[Sequence[str]]) -> _Scorer:
    from rank_bm25 import BM25Plus

    return cast("_Scorer", BM25Plus(documents))
