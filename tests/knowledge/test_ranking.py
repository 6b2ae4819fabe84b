"""The ranking is that of a scan through every document."""

import math
from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from forge_bot.knowledge.search_index import MOST_WORDS, Ranking

WORDS = [f"w{number}" for number in range(12)]
DOCUMENTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=8), max_size=30)
QUESTION = st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=10)


def full_scan(
    documents: Sequence[Sequence[str]], asked: Sequence[str], limit: int
) -> list[tuple[int, float]]:
    """BM25+ as published (k1 1.5, b 0.75, delta 1), written down once more: every document is
    looked at, none left out.
    """
    spoken = [place for place, words in enumerate(documents) if words]
    mean = sum(len(documents[place]) for place in spoken) / len(spoken) if spoken else 1
    counts = {place: Counter(documents[place]) for place in spoken}
    holders = {word: sum(word in counts[place] for place in spoken) for word in set(asked)}

    def score(place: int) -> float:
        length = 1.5 * (0.25 + 0.75 * len(documents[place]) / mean)
        parts = [
            math.log((len(spoken) + 1) / holders[word])
            * (1 + counts[place][word] * 2.5 / (length + counts[place][word]))
            for word in asked
            if word in counts[place]
        ]
        return round(sum(parts), 6)

    scored = [(place, score(place)) for place in spoken if set(asked) & set(counts[place])]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:limit]


def agree(found: list[tuple[int, float]], expected: list[tuple[int, float]]) -> bool:
    """Equal places with equal scores; the last digit may be rounded either way."""
    return [place for place, _ in found] == [place for place, _ in expected] and all(
        math.isclose(one, other, abs_tol=2e-6)
        for (_, one), (_, other) in zip(found, expected, strict=True)
    )


@settings(deadline=None)
@given(DOCUMENTS, QUESTION, st.integers(1, 8))
def test_the_ranking_is_that_of_a_full_scan(
    documents: list[list[str]], question: list[str], limit: int
) -> None:
    ranking = Ranking(documents)
    expected = full_scan(documents, ranking.most_informative(question), limit)
    assert agree(ranking.best(question, limit), expected)
    assert agree(ranking.best(question, limit), expected), "asked again, from what is known by then"


def test_words_that_nearly_every_document_has_do_not_hide_the_best_one() -> None:
    common = [["report", "export", "page", f"filler{number % 7}"] for number in range(3_000)]
    best = ["report", "export", "page"]
    documents = [*common, best]
    asked = ["page", "export", "report"]
    assert Ranking(documents).best(asked, 1)[0][0] == len(common), (
        "the shortest of those that say the same, and the last one given"
    )
    assert agree(
        Ranking(documents).best(asked, 5),
        full_scan(documents, Ranking(documents).most_informative(asked), 5),
    )


def test_of_a_long_question_the_words_that_tell_most_are_looked_for() -> None:
    documents = [[f"rare{number}", "everywhere"] for number in range(2 * MOST_WORDS)]
    question = [f"rare{number}" for number in range(2 * MOST_WORDS)] + ["everywhere"]
    telling = Ranking(documents).most_informative(question)
    assert len(telling) == MOST_WORDS
    assert "everywhere" not in telling
