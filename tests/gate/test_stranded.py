"""What is told when forge-bot could not be installed."""

import json
from pathlib import Path

import pytest

from forge_bot.gate.workflow_step import stranded
from tests.gate.conftest import Gate, surroundings
from tests.gate.payloads import commented, labelled
from tests.gate.small_api import OWN, SmallApi

TRACKING = "<!-- forge-bot:tracking issue=42 -->"


def told(folder: Path, api: SmallApi, wake: str, **more: str) -> tuple[int, str]:
    """The step, and what the job's summary says then."""
    code = stranded(
        surroundings(folder, api.url, "issues", labelled(), FORGE_BOT_WAKE=wake, **more)
    )
    return code, (folder / "summary").read_text()


def test_the_comment_that_said_something_has_begun_says_that_it_has_not(
    gate: Gate, api: SmallApi, tmp_path: Path
) -> None:
    wake = gate("issues", labelled()).outputs["wake"]
    code, summary = told(tmp_path, api, wake)
    assert code == 0
    [said] = api.said()
    assert "has begun" not in said
    assert "could not be set up" in said
    assert "https://github.com/o/r/actions/runs/77" in said
    assert "write `/forge`" in said
    assert said.endswith(TRACKING)
    assert "could not be set up" in summary


def test_a_comment_that_says_more_is_left_and_another_one_written_once_for_each_attempt(
    gate: Gate, api: SmallApi, tmp_path: Path
) -> None:
    api.write(42, OWN, f"Your turn.\n\n{TRACKING}")
    wake = gate("issue_comment", commented("/approve")).outputs["wake"]
    for attempt in ("1", "1", "2"):
        assert told(tmp_path, api, wake, GITHUB_RUN_ATTEMPT=attempt)[0] == 0
    assert [said.startswith("Your turn.") for said in api.said()] == [True, False, False]


@pytest.mark.parametrize("wake", ["", "no json", json.dumps({"issue": None})])
def test_without_an_issue_only_the_summary_says_it(
    api: SmallApi, tmp_path: Path, wake: str
) -> None:
    code, summary = told(tmp_path, api, wake)
    assert (code, api.said()) == (0, [])
    assert "could not be set up" in summary
