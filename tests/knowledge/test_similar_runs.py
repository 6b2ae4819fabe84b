"""Runs like this one: found by words, ranked by BM25+, the same every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.knowledge.history import History
from tests.knowledge.run_scene import past_run

WORDS = "login token cache parser upload retry timeout index queue worker schema export".split()  # noqa: SIM905 - shorter to read


def names(history: History, text: str, limit: int = 3, exclude: str = "") -> list[str]:
    """Names of the similar runs."""
    return [each.name for each in history.similar(text, limit, exclude)]


def test_the_run_with_the_same_words_comes_first() -> None:
    history = History(
        [
            past_run("a", "Retry uploads that time out"),
            past_run("b", "Login fails after the token expires"),
            past_run("c", "Export the report as CSV"),
        ]
    )
    assert names(history, "The login token is refused") == ["b"]
    assert names(history, "uploads are not retried") == ["a"]


def test_an_empty_history_knows_nothing() -> None:
    assert History([]).similar("anything") == ()
    recall = History([]).recall("anything", ["a.py"])
    assert (recall.similar, recall.patterns, recall.friction) == ((), (), ())


@pytest.mark.parametrize("text", ["", "the and of", "fix the issue", "!!! ???", "weather"])
def test_a_text_without_a_word_in_common_finds_nothing(text: str) -> None:
    assert (
        names(History([past_run("a", "Login fails"), past_run("b", "Fix the issue")]), text) == []
    )


def test_identical_runs_come_newest_first_and_then_by_name() -> None:
    runs = [
        past_run("b", "login"),
        past_run("a", "login"),
        past_run("c", "login", date="2026-02-01"),
    ]
    assert names(History(runs), "login") == ["c", "a", "b"]
    scores = {each.score for each in History(runs).similar("login")}
    assert len(scores) == 1
    assert min(scores) > 0


def test_the_run_that_asks_is_left_out_and_another_takes_its_place() -> None:
    history = History(
        [past_run("a", "login token"), past_run("b", "login"), past_run("c", "login")]
    )
    assert names(history, "login token", 2, exclude="a") == ["b", "c"]


def test_japanese_requests_are_found_by_japanese_words() -> None:
    history = History(
        [past_run("a", "認証トークンの有効期限を修正"), past_run("b", "画面の色を変更")]
    )
    assert names(history, "トークンの期限") == ["a"]


def test_identifiers_are_found_by_their_words() -> None:
    history = History(
        [
            past_run("a", "x", files=["src/auth/sessionStore.py"]),
            past_run("b", "y", files=["docs/index.md"]),
        ]
    )
    assert names(history, "session store") == ["a"]


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=12),
    st.lists(st.sampled_from(WORDS), max_size=6),
)
def test_what_is_found_shares_a_word_and_the_order_given_changes_nothing(
    titles: list[list[str]], asked: list[str]
) -> None:
    runs = [past_run(f"r{number}", " ".join(title)) for number, title in enumerate(titles)]
    found = History(runs).similar(" ".join(asked), limit=20)
    assert {each.name for each in found} == {
        f"r{number}" for number, title in enumerate(titles) if set(title) & set(asked)
    }
    assert all(each.score > 0 for each in found)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert History(runs[::-1]).similar(" ".join(asked), limit=20) == found


def test_a_run_that_shares_but_one_word_with_a_task_is_found_and_not_recalled() -> None:
    history = History([past_run("a", "Login of the parser"), past_run("b", "Login of a queue")])
    assert names(history, "login parser") == ["a", "b"]
    assert [each.name for each in history.recall("login parser").similar] == ["a"]
    assert [each.name for each in history.recall("queue").similar] == ["b"]
