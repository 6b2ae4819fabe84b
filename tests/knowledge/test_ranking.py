"""Which document is the best answer to a question of words."""

from forge_bot.knowledge.search_index import MOST_WORDS, Ranking


def test_words_that_nearly_every_document_has_do_not_hide_the_best_one() -> None:
    common = [["report", "export", "page", f"filler{number % 7}"] for number in range(3_000)]
    best = ["report", "export", "page"]
    documents = [*common, best]
    asked = ["page", "export", "report"]
    assert Ranking(documents).best(asked, 1)[0][0] == len(common), (
        "the shortest of those that say the same, and the last one given"
    )


def test_of_a_long_question_the_words_that_tell_most_are_looked_for() -> None:
    documents = [[f"rare{number}", "everywhere"] for number in range(2 * MOST_WORDS)]
    question = [f"rare{number}" for number in range(2 * MOST_WORDS)] + ["everywhere"]
    telling = Ranking(documents).most_informative(question)
    assert len(telling) == MOST_WORDS
    assert "everywhere" not in telling
