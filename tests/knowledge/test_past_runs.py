"""A past run is read from what its workspace holds, whatever is missing or broken there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.engine.reports import Answer
from forge_bot.knowledge.past_runs import DocumentNames, PastRun, read_past_run
from forge_bot.values import Finding, Verdict
from tests.fakes.bench import DEVELOP
from tests.fakes.rows import rows
from tests.knowledge.run_scene import (
    CRITICAL,
    MAJOR,
    answered,
    past_state,
    report_lines,
    retried,
    reviewed,
)

ROWS = rows(__file__)

NAME = "20260412-42-fix-login"
REQUEST = (
    "---\ntitle: Fix login\nlabels: []\n---\n\n# Fix login\n\nThe session ends too"
    " early.\n\nAlways.\n"
)
STATE = past_state(**ROWS["state"])
SUMMARY = (
    "# Run\n\n## Summary\n\nSessions last\nan hour now.\n\n## Improvement Report\n\n- No fixture"
    " for sessions\n"
)
DOCUMENTS = DocumentNames.of(DEVELOP)


def read(files: dict[str, str], name: str = NAME) -> PastRun:
    """The run in a workspace of these files."""
    run = read_past_run(name, files.get, DOCUMENTS)
    assert run is not None
    return run


def test_a_whole_workspace_is_read() -> None:
    run = read(
        {
            "request.md": REQUEST,
            "state.json": STATE,
            "summary.md": SUMMARY,
            "reports.jsonl": report_lines(reviewed((MAJOR, "Clock is read twice"))),
        }
    )
    assert (run.name, run.title, run.date, run.outcome) == (NAME, "Fix login", "2026-04-12", "done")
    assert run.request == "The session ends too early.\n\nAlways."
    assert run.summary == "Sessions last an hour now."
    assert run.files == ("src/login.py", "tests/test_login.py")
    assert run.findings == (
        ("phase-3b", Finding(severity=MAJOR, description="Clock is read twice")),
    )
    assert run.friction == ("No fixture for sessions",)


def test_a_folder_without_state_and_request_is_no_run() -> None:
    assert read_past_run(NAME, {"summary.md": SUMMARY}.get, DOCUMENTS) is None


def test_a_request_alone_is_enough() -> None:
    run = read({"request.md": REQUEST})
    assert (run.title, run.date, run.outcome) == ("Fix login", "", "unknown")


def test_findings_of_rounds_that_ended_with_revise_are_read_from_the_reports() -> None:
    told = report_lines(
        reviewed((CRITICAL, "Tokens are kept forever"), (MAJOR, "Two clocks")),
        reviewed(verdict=Verdict.APPROVE),
    )
    run = read({"state.json": STATE, "reports.jsonl": told})
    assert run.findings == (
        ("phase-3b", Finding(severity=CRITICAL, description="Tokens are kept forever")),
        ("phase-3b", Finding(severity=MAJOR, description="Two clocks")),
    )
    assert "reports.jsonl" in DOCUMENTS.all()


def test_what_people_said_when_they_sent_work_back_is_read_from_the_reports() -> None:
    told = report_lines(
        answered(Answer.REJECT, "Use the\nclock of the server"),
        answered(Answer.APPROVE, "fine"),
        retried("Smaller steps"),
        retried(""),
    )
    run = read({"request.md": REQUEST, "reports.jsonl": f"not JSON answered\n{told}[1]\n"})
    assert run.rejections == (
        ("checkpoint-a", "Use the clock of the server"),
        ("phase-3", "Smaller steps"),
    )


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("completed", "done"),
        ("abandoned", "abandoned"),
        ("awaiting_human", "waiting"),
        ("in_progress", "unfinished"),
    ],
)
def test_the_outcome_is_said_in_one_word(status: str, outcome: str) -> None:
    assert read({"state.json": past_state(currentPhaseStatus=status)}).outcome == outcome


def test_an_unfinished_front_matter_is_not_taken_for_the_request() -> None:
    run = read({"request.md": "---\ntitle: x\nsecret: y\n"})
    assert (run.title, run.request) == (NAME, "")


def test_what_a_stranger_wrote_comes_out_as_single_lines() -> None:
    tasks = [{"spec": {"id": "1", "title": "t", "files": ["x\ny"]}}]
    state = past_state(title="a\n# b", tasks=tasks)
    summary = "## Summary\n\nfirst\nsecond\u202e\n\n## Improvement Report\n\n- one\n  two\n"
    run = read({"state.json": state, "summary.md": summary})
    assert (run.title, run.files) == ("a # b", ("x y",))
    assert (run.summary, run.friction) == ("first second", ("one two",))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("aé\n#-", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["spec", "findings", "severity", "files", "cost"]), inner)
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "title",
                "artifacts",
                "tasks",
                "findings",
                "usage",
                "timestamps",
                "startedAt",
                "effort",
            ]
        ),
        _JSON,
    )
)
def test_whatever_the_state_holds_a_run_comes_out(state: dict[str, object]) -> None:
    assert read({"state.json": past_state(**state), "request.md": REQUEST}).name == NAME
