"""Documents ranked by the words they share with a question: BM25+ over those that an inverted index says can match at all."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from numpy import float64, intp
    from numpy.typing import NDArray

MOST_WORDS = 24
"""How many words of a question are looked for: those that tell most."""
_DIGITS = 6


class Ranking:
    """An index over documents that are given as lists of words.

    Of documents with equal scores the one that was given first comes first, so the order given is the order preferred.

    No document is passed over, however common its words are: what a word adds to the score of each of its holders is worked out
    when the word is first asked for, and from then on a question only adds up, in one pass, what its words are worth.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        # The library divides by the number of documents and by their mean length, so neither may be zero.
        self._places = [place for place, words in enumerate(documents) if words]
        self._scorer = _scorer([documents[place] for place in self._places]) if self._places else None
        self._holders: dict[str, list[int]] = {}
        self._worth: dict[str, _Worth] = {}
        for at, counts in enumerate(self._scorer.doc_freqs if self._scorer else ()):
            for word in counts:
                if word in self._holders:
                    self._holders[word].append(at)
                else:
                    self._holders[word] = [at]

    def best(self, question: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Places of the documents that share a word with the question, with their scores, best first; at most `limit`."""
        if self._scorer is None or limit < 1:
            return []
        import numpy as np

        totals = np.zeros(len(self._places))
        for word in self.telling(question):
            worth = self._worth.get(word) or self._weigh(self._scorer, word)
            totals[worth.holders] += worth.scores
        # Rounded, so that equal documents are equal whatever order their words were added in.
        totals = totals.round(_DIGITS)
        found = np.flatnonzero(totals)
        if len(found) > limit:
            bar = np.partition(totals[found], -limit)[-limit]
            found = found[totals[found] >= bar]
        ranked = found[np.argsort(-totals[found], kind="stable")][:limit]
        return [(self._places[at], float(totals[at])) for at in ranked.tolist()]

    def telling(self, question: Sequence[str]) -> list[str]:
        """The words of a question that tell most, most telling first: those that it repeats and that few documents have."""
        counts = Counter(word for word in question if word in self._holders)
        idf = self._scorer.idf if self._scorer else {}
        return sorted(counts, key=lambda word: (-counts[word] * idf[word], word))[:MOST_WORDS]

    def _weigh(self, scorer: "_Scorer", word: str) -> "_Worth":
        """What a word adds to the scores of its holders.

        Asked for the other documents as well, the library would give them the lower bound of the word (its idf times delta). The
        bound is for documents that have the word (Lv and Zhai, Lower-Bounding Term Frequency Normalization, 2011).
        """
        import numpy as np

        holders = self._holders[word]
        worth = _Worth(np.array(holders), np.array(scorer.get_batch_scores([word], holders)))
        self._worth[word] = worth
        return worth


class _Worth(NamedTuple):
    """The holders of a word, and what it adds to the score of each."""

    holders: "NDArray[intp]"
    scores: "NDArray[float64]"


class _Scorer(Protocol):
    """As much of rank_bm25's BM25Plus as is used here."""

    idf: dict[str, float]
    doc_freqs: list[dict[str, int]]
    doc_len: Sequence[int]

    def get_batch_scores(self, query: list[str], doc_ids: list[int]) -> list[float]: ...


def _scorer(documents: Sequence[Sequence[str]]) -> _Scorer:
    import numpy as np
    from rank_bm25 import BM25Plus

    scorer = cast("_Scorer", BM25Plus(documents))
    # Made into an array once: the library would do it again for every word.
    scorer.doc_len = cast("Sequence[int]", np.array(scorer.doc_len))
    return scorer
