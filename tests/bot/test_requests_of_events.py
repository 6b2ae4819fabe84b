"""What each event costs in requests to GitHub is small, counted here, and said in
docs/github.md.
"""

import re
from pathlib import Path

import pytest

from tests.bot.stage import Stage
from tests.fakes.github import FakeGitHub

PAGE = (Path(__file__).parents[2] / "docs" / "github.md").read_text(encoding="utf-8")
EVENTS = PAGE.partition("| event | requests, at most |")[2].partition("\n\n")[0]
SAID = {
    what: int(number)
    for what, number in re.findall(r"^\| ([^|]+) \| (\d+) \|$", EVENTS, re.MULTILINE)
}


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path) -> Stage:
    return Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")


def test_an_event_costs_no_more_requests_than_the_page_says(stage: Stage) -> None:
    counted: dict[str, int] = {}
    for what, happens in {
        "a comment without a command": lambda: stage.say("What a nice idea!"),
        "a command of somebody who may not": lambda: stage.say("/forge", by="stranger"),
        "`/forge help`": lambda: stage.say("/forge help"),
        "the label, up to the first question": stage.label,
        "`/forge status`": lambda: stage.say("/forge status"),
        "`/approve`, up to the pull request and the end": lambda: stage.say("/approve"),
    }.items():
        before = len(stage.hub.exchanges)
        happens()
        asked = stage.hub.asked(since=before)
        counted[what] = sum(
            not re.match(r"PATCH /repos/[^/]+/[^/]+/issues/comments/", each) for each in asked
        )
    assert stage.state["currentPhaseStatus"] == "completed"
    assert counted.keys() == SAID.keys()
    assert {what: number for what, number in counted.items() if number > SAID[what]} == {}
