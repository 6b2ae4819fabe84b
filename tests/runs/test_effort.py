"""The effort that a request gets, with its reason; and the type of change that it may get."""

from pathlib import Path
from time import process_time
from typing import Literal

import pytest
import yaml
from pydantic import TypeAdapter

from forge_bot.artifacts.plans import ChangeType, change_name
from forge_bot.errors import BadOption
from forge_bot.runs.request_draft import guess_effort
from forge_bot.values import Effort, Frozen
from tests.fakes.rows import rows

ROWS = rows(__file__)

FILLING = "Nothing to see in this sentence. " * 20


class Request(Frozen):
    """A request of the corpus and what a careful person makes of it."""

    text: str
    branch: Literal["feature", "fix", "docs", "refactor", "chore"]
    effort: Effort | None = None
    by: Literal["flag", "label", "points", "default", ""] = ""
    flag: str | None = None
    labels: tuple[str, ...] = ()
    points: float | None = None
    long: bool = False
    body: str = ""

    @property
    def whole(self) -> str:
        return f"{self.text}\n\n{FILLING}{self.body}" if self.long else self.text

    @property
    def reason(self) -> str:
        """How the reason begins."""
        return {
            "flag": "the effort that was asked for",
            "label": "the label “",
            "points": f"story points: {self.points:g}" if self.points is not None else "",
            "default": "no sign",
            "": "",
        }[self.by]


class Labelled(Frozen):
    """A request with the effort that a person gave it by hand."""

    text: str
    effort: Effort


CORPUS = Path(__file__).parent.parent / "fixtures" / "requests.yaml"
REQUESTS = TypeAdapter(list[Request]).validate_python(
    yaml.load(CORPUS.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
)
LABELLED = TypeAdapter(list[Labelled]).validate_python(
    yaml.load(
        CORPUS.with_name("effort_requests.yaml").read_text(encoding="utf-8"),
        Loader=yaml.CSafeLoader,
    )
)


def test_a_request_gets_the_effort_that_a_careful_person_gives_it_and_hears_why() -> None:
    for one in REQUESTS:
        guess = guess_effort(
            flag=one.flag, labels=one.labels, story_points=one.points, text=one.whole
        )
        assert one.effort in {None, guess.effort}, one.text
        assert one.effort is None or guess.reason.startswith(one.reason), one.text


def test_signs_of_scope_agree_with_the_hand_labels_in_four_of_five_requests_of_each_language() -> (
    None
):
    assert len(LABELLED) == 60
    guesses = [guess_effort(one.text) for one in LABELLED]
    assert all(guess.reason for guess in guesses)
    agreed = [guess.effort is one.effort for guess, one in zip(guesses, LABELLED, strict=True)]
    assert sum(agreed) >= 48
    for first, last in ((0, 24), (24, 37), (37, 49), (49, 60)):
        assert sum(agreed[first:last]) >= 0.8 * (last - first)


_FORM: str = ROWS["form"]


@pytest.mark.parametrize("line", ["\n", "\r\n"])
def test_ticked_boxes_and_empty_fields_of_an_issue_form_ask_for_nothing(line: str) -> None:
    ticked = "\n".join(f"- [x] I have read page {number} of the manual" for number in range(9))
    form = _FORM.format(boxes=ticked).replace("\n", line)
    guess = guess_effort(form)
    assert (guess.effort, guess.reason) == (Effort.S, "a short request that names its place")
    to_do = form.replace("[x]", "[ ]")
    assert guess_effort(to_do).effort is Effort.L


@pytest.mark.parametrize(
    ("text", "effort", "reason"),
    [
        (
            "Wrong year\n\n```\nTraceback (most recent call last):\n```",
            Effort.S,
            "a short request with a traceback",
        ),
        ("`parse(1)` fails", Effort.S, "a short request that names its place"),
        ("Something\n\n" + "- a point\n" * 7, Effort.L, "a list of 7 items"),
        (
            "Change " + " ".join(f"src/part{number}.py" for number in range(6)),
            Effort.L,
            "6 files named",
        ),
        ("so many words " * 117, Effort.L, "a long request of about 351 words"),
        ("so many words " * 4_000, Effort.L, "a long request of about 12,000 words"),
        ("Add dark mode", Effort.M, "no sign that the request is small or large"),
        ("", Effort.M, "no sign that the request is small or large"),
    ],
)
def test_each_sign_of_scope_is_named_as_the_reason(text: str, effort: Effort, reason: str) -> None:
    guess = guess_effort(text)
    assert (guess.effort, guess.reason) == (effort, reason)


@pytest.mark.parametrize(
    ("kind", "effort"),
    [("Epic", Effort.L), ("Sub-task", Effort.S), ("Bug", Effort.M), ("", Effort.M)],
)
def test_a_type_that_says_how_large_an_issue_is_counts_behind_labels_and_before_points(
    kind: str, effort: Effort
) -> None:
    assert guess_effort("Add dark mode", issue_type=kind).effort is effort
    assert guess_effort("", labels=["size/M"], issue_type=kind).effort is Effort.M


def test_of_two_labels_the_larger_counts() -> None:
    both = guess_effort("", labels=["forge:S", "forge:L"])
    assert (both.effort, both.reason) == (Effort.L, "the label “forge:L”")
    own = guess_effort("", labels=["forge:S", "size/XL"])
    assert (own.effort, own.reason) == (Effort.S, "the label “forge:S”")


def test_the_words_of_a_request_alone_never_make_a_feature_of_what_is_none() -> None:
    for one in REQUESTS:
        title = one.whole.partition("\n")[0]
        name = change_name("", title=title, labels=one.labels)
        assert name.title, one.text
        assert one.branch == "feature" or name.type is not ChangeType.FEAT, one.text


@pytest.mark.parametrize("flag", ["XL", "", "small", "S M", "1"])
def test_a_flag_that_is_no_effort_is_refused_and_told_the_three(flag: str) -> None:
    with pytest.raises(BadOption, match="one of S, M, L"):
        guess_effort(flag=flag, labels=["forge:S"], story_points=1, text="Fix a typo")


@pytest.mark.parametrize(
    "text",
    [
        "a/" * 40_000,
        "<!--" * 20_000,
        "a." * 40_000,
        "`" * 80_000,
        "new " * 20_000,
        "migrate x " * 8_000,
    ],
)
def test_a_hostile_request_is_judged_in_a_moment(text: str) -> None:
    start = process_time()
    guess_effort(text)
    change_name(text, title=text, labels=(text,), issue_type=text)
    assert process_time() - start < 5
