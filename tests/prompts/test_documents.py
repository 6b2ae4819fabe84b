"""What people read on GitHub: complete, short, and without anything in it that acts."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from forge_bot.prompts.active_markdown import active_markup
from forge_bot.prompts.documents import MAX_BODY, AnsweredCheckpoint, PullRequestFacts, Requirement, Review, pull_request
from forge_bot.values import CommandName, CommandResult, Usage, Verdict
from tests.prompts.test_escape import HOSTILE

DIGEST = "3f9c2a1b" * 8
USAGE = Usage(calls=12, input_tokens=123_456, cached_tokens=100_000, output_tokens=7_890, cost=Decimal("0.4249"))
RED = CommandResult(
    name=CommandName.TEST,
    argv=("pytest", "-k", "a|b c"),
    exit_code=1,
    duration_ms=1_249,
    tests=1_214,
    failures=("tests/test_a.py::test_b",),
)


def a_pull_request(**changes: object) -> PullRequestFacts:
    plain: dict[str, object] = {
        "title": "Answer 413 to uploads over the limit",
        "why": ("Uploads over 10 MB failed with 500.", "They get 413 now.", "The client is not changed."),
        "issue": 42,
        "requirements": (Requirement(text="413 over the limit", files=("app/errors.py",), tests=("test_413",), state="met"),),
        "reviews": (Review(label="Design Review", verdict=Verdict.APPROVE_WITH_NOTES, rounds=2, findings=1),),
        "commands": (RED,),
        "answers": (AnsweredCheckpoint(label="Human Reviews Design", answer="approve", by="ann", via="github", digest=DIGEST, notes="go"),),
        "usage": USAGE,
        "workspace": ".specs/20260401-42-uploads",
    }
    return PullRequestFacts.model_validate(plain | changes)


def test_a_pull_request_says_what_was_asked_where_it_is_and_how_it_was_verified() -> None:
    written = pull_request(a_pull_request())
    assert written.title == "Answer 413 to uploads over the limit"
    assert written.body.startswith("Uploads over 10 MB failed with 500.\n\nThey get 413 now.\n\nThe client is not changed.\n\nCloses #42\n")
    assert "| 413 over the limit | `app/errors.py` | `test_413` | met |" in written.body
    assert "| test: `pytest -k 'a\\|b c'` | **1** | 1,214 | 1.2 |" in written.body
    assert "test complains about `tests/test_a.py::test_b`." in written.body
    assert "| Design Review | APPROVE_WITH_NOTES | 2 | 1 |" in written.body
    assert "- Human Reviews Design: **approve** by `ann` (github), for `3f9c2a1b3f9c`: go" in written.body
    assert "$0.42, 12 model calls, 123,456 tokens in (100,000 of them cached), 7,890 out." in written.body


def test_a_pull_request_without_issue_closes_none() -> None:
    assert "Closes" not in pull_request(a_pull_request(issue=None)).body


def test_a_pull_request_that_nothing_was_run_for_says_so() -> None:
    assert "nothing was run" in pull_request(a_pull_request(commands=())).body


def test_a_command_that_timed_out_shows_no_exit_code() -> None:
    late = RED.model_copy(update={"timed_out": True, "exit_code": -9})
    body = pull_request(a_pull_request(commands=(late,))).body
    assert "| timed out |" in body
    assert "-9" not in body


def test_an_unknown_price_is_not_shown_as_nothing() -> None:
    body = pull_request(a_pull_request(usage=USAGE.model_copy(update={"cost": None}))).body
    assert "Price unknown, 12 model calls" in body
    assert "$" not in body


def test_warnings_come_before_everything_but_the_reason() -> None:
    body = pull_request(a_pull_request(warnings=("A red test was accepted.",))).body
    assert body.index("Closes #42") < body.index("⚠️ A red test was accepted.") < body.index("### What was asked for")


def test_names_that_stand_side_by_side_are_parted() -> None:
    rows = (Requirement(text="x", files=("a.py", "b.py"), tests=("one", "two"), state="met"),)
    many = RED.model_copy(update={"failures": tuple(f"t{number}" for number in range(12))})
    body = pull_request(a_pull_request(requirements=rows, commands=(many,))).body
    assert "| x | `a.py`, `b.py` | `one`, `two` | met |" in body
    assert "complains about `t0`, `t1`" in body
    assert "`t9` and 2 more.\n" in body


def test_a_title_refers_to_nothing() -> None:
    assert pull_request(a_pull_request(title="Fixes #7\nCloses #8")).title == "Fixes 7 Closes 8"


@given(st.lists(HOSTILE, min_size=1, max_size=3))
def test_words_of_models_close_no_other_issue_and_call_nobody(words: list[str]) -> None:
    rows = tuple(Requirement(text=each, files=(each,), tests=(each,), state=each) for each in words)
    answers = (AnsweredCheckpoint(label="Human Reviews Design", answer="reject", by="ann", via="github", digest=DIGEST, notes=words[0]),)
    facts = a_pull_request(issue=None, why=tuple(words), warnings=tuple(words), requirements=rows, answers=answers)
    assert active_markup(pull_request(facts).body) == ()


def test_a_long_pull_request_stays_below_what_github_takes() -> None:
    rows = tuple(Requirement(text=f"requirement {number} " + "x" * 5_000, files=("y" * 190,) * 9) for number in range(80))
    body = pull_request(a_pull_request(requirements=rows)).body
    assert len(body) <= MAX_BODY + 1
    assert body.endswith("… cut here: the text is longer than GitHub takes.\n")
