"""How big a request is taken to be, what that rests on, and the kind of branch it gets."""

from pathlib import Path
from time import process_time
from typing import Literal

import pytest
import yaml
from pydantic import TypeAdapter

from forge_bot.engine.effort import BranchType, branch_type, guess_effort
from forge_bot.errors import BadOption
from forge_bot.values import Effort, Frozen

FILLING = "Nothing to see in this sentence. " * 20


class Request(Frozen):
    """A request of the corpus and what a careful person makes of it."""

    text: str
    effort: Effort
    by: Literal["flag", "label", "points", "words", "default"]
    branch: BranchType
    words: str = ""
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
            "points": f"{self.points:g} story point" if self.points is not None else "",
            "words": f"the {'words' if ' ' in self.words else 'word'} “{self.words}” in the request",
            "default": "nothing in the request says",
        }[self.by]


CORPUS = Path(__file__).parent.parent / "fixtures" / "requests.yaml"
REQUESTS = TypeAdapter(list[Request]).validate_python(yaml.safe_load(CORPUS.read_text(encoding="utf-8")))
every_request = pytest.mark.parametrize("request_", REQUESTS, ids=[f"{number}-{one.text[:30]}" for number, one in enumerate(REQUESTS)])


@pytest.mark.promise("lesson-18", "cli-option-effort")
@every_request
def test_a_request_gets_the_effort_that_a_careful_person_gives_it_and_hears_why(request_: Request) -> None:
    guess = guess_effort(flag=request_.flag, labels=request_.labels, story_points=request_.points, text=request_.whole)
    assert guess.effort is request_.effort
    assert guess.reason.startswith(request_.reason)


@pytest.mark.promise("lesson-21")
@every_request
def test_a_request_gets_the_kind_of_branch_that_a_careful_person_gives_it(request_: Request) -> None:
    assert branch_type(request_.whole) == request_.branch


@pytest.mark.parametrize("flag", ["XL", "", "small", "S M", "1"])
def test_a_flag_that_is_no_effort_is_refused_and_told_the_three(flag: str) -> None:
    with pytest.raises(BadOption, match="one of S, M, L"):
        guess_effort(flag=flag, labels=["forge:S"], story_points=1, text="Fix a typo")


def test_one_story_point_is_spoken_of_in_the_singular() -> None:
    assert guess_effort(flag=None, labels=(), story_points=1, text="").reason == "1 story point"
    assert guess_effort(flag=None, labels=(), story_points=2.5, text="").reason == "2.5 story points"


@pytest.mark.parametrize("points", [float("inf"), float("-inf"), float("nan")])
def test_story_points_that_are_no_number_say_nothing(points: float) -> None:
    assert guess_effort(flag=None, labels=(), story_points=points, text="").effort is Effort.M


@pytest.mark.parametrize("text", ["a/" * 40_000, "<!--" * 20_000, "a." * 40_000, "`" * 80_000, "new " * 20_000, "migrate x " * 8_000])
def test_a_hostile_request_is_judged_in_a_moment(text: str) -> None:
    start = process_time()
    guess_effort(flag=None, labels=(), story_points=None, text=text)
    branch_type(text)
    assert process_time() - start < 5
