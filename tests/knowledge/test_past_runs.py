"""A past run is read from what its workspace holds, whatever is missing or broken there."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.knowledge.past_runs import DocumentNames, PastRun, read_past_run
from forge_bot.values import Finding
from tests.fakes.bench import DEVELOP
from tests.knowledge.run_scene import CRITICAL, MAJOR, MINOR

NAME = "20260412-42-fix-login"
REQUEST = (
    "---\ntitle: Fix login\nlabels: []\n---\n\n# Fix login\n\nThe session ends too"
    " early.\n\nAlways.\n"
)
STATE: dict[str, object] = {
    "schemaVersion": 1,
    "title": "Fix login",
    "effort": "S",
    "startedAt": "2026-04-12T09:00:00Z",
    "currentPhaseStatus": "completed",
    "artifacts": {
        "review-1.md": {
            "phase": "phase-6",
            "findings": [{"severity": "MAJOR", "description": "Clock is read twice"}],
        },
        "design.md": {"phase": "phase-3", "findings": []},
    },
    "tasks": [
        {"spec": {"id": "1", "title": "t", "files": ["src/login.py", "tests/test_login.py"]}}
    ],
    "usage": {
        "calls": 3,
        "inputTokens": 100,
        "outputTokens": 20,
        "cost": "0.12",
        "durationMs": 900,
        "model": "m",
    },
}
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
    run = read({"request.md": REQUEST, "state.json": json.dumps(STATE), "summary.md": SUMMARY})
    assert (run.name, run.title, run.effort, run.date, run.outcome) == (
        NAME,
        "Fix login",
        "S",
        "2026-04-12",
        "done",
    )
    assert run.request == "The session ends too early.\n\nAlways."
    assert run.summary == "Sessions last an hour now."
    assert run.files == ("src/login.py", "tests/test_login.py")
    assert run.findings == (
        ("phase-6", Finding(severity=MAJOR, description="Clock is read twice")),
    )
    assert run.friction == ("No fixture for sessions",)
    assert (run.usage.calls, run.usage.input_tokens, run.usage.cost) == (3, 100, Decimal("0.12"))


def test_a_folder_without_state_and_request_is_no_run() -> None:
    assert read_past_run(NAME, {"summary.md": SUMMARY}.get, DOCUMENTS) is None


def test_a_request_alone_is_enough() -> None:
    run = read({"request.md": REQUEST})
    assert (run.title, run.date, run.outcome, run.usage.calls) == (
        "Fix login",
        "2026-04-12",
        "unknown",
        0,
    )


def test_reviews_are_read_where_the_state_records_no_findings() -> None:
    reviews = {
        "review-design.md": (
            "## Verdict: REVISE\n\n## Findings\n\n1. [CRITICAL] Tokens are kept forever\n"
        ),
        "review-2.md": (
            "## Verdict: PASS_WITH_NOTES\n\n## Findings\n\n- **[MINOR]** Name says too little\n"
        ),
        "comprehensive-review.md": "## Verdict: FAIL\n\n## Findings\n\n- [MAJOR] Two clocks\n",
    }
    run = read({"request.md": REQUEST, **reviews})
    assert run.findings == (
        ("phase-3b", Finding(severity=CRITICAL, description="Tokens are kept forever")),
        ("phase-7", Finding(severity=MAJOR, description="Two clocks")),
        ("phase-6", Finding(severity=MINOR, description="Name says too little")),
    )


def reports(*lines: dict[str, object]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def review(verdict: str, *findings: tuple[str, str]) -> dict[str, object]:
    told = [{"severity": severity, "description": text} for severity, text in findings]
    return {
        "type": "artifact_written",
        "phase": "phase-3b",
        "inspection": {"verdict": verdict, "findings": told},
    }


def test_findings_of_rounds_that_ended_with_revise_are_read_from_the_reports() -> None:
    state: dict[str, object] = {
        **STATE,
        "artifacts": {"review-design.md": {"phase": "phase-3b", "findings": []}},
    }
    told = reports(
        review("REVISE", ("CRITICAL", "Tokens are kept forever"), ("MAJOR", "Two clocks")),
        review("APPROVE"),
    )
    run = read({"state.json": json.dumps(state), "reports.jsonl": told})
    assert run.findings == (
        ("phase-3b", Finding(severity=CRITICAL, description="Tokens are kept forever")),
        ("phase-3b", Finding(severity=MAJOR, description="Two clocks")),
    )
    assert DOCUMENTS.tells("reports.jsonl")


def test_what_people_said_when_they_sent_work_back_is_read_from_the_reports() -> None:
    told = reports(
        {
            "type": "answered",
            "gate": "checkpoint-a",
            "answer": "reject",
            "notes": "Use the\nclock of the server",
            "by": "ann",
        },
        {"type": "answered", "gate": "checkpoint-a", "answer": "approve", "notes": "fine"},
        {"type": "retry_asked", "phase": "phase-3", "notes": "Smaller steps"},
        {"type": "retry_asked", "phase": "phase-3", "notes": ""},
    )
    run = read({"request.md": REQUEST, "reports.jsonl": f"not JSON answered\n{told}[1]\n"})
    assert run.rejections == (
        ("checkpoint-a", "Use the clock of the server"),
        ("phase-3", "Smaller steps"),
    )


def test_a_review_in_which_the_state_found_nothing_is_not_read_again() -> None:
    state: dict[str, object] = {
        **STATE,
        "artifacts": {"review-1.md": {"phase": "phase-6", "verdict": "PASS", "findings": []}},
    }
    asked: list[str] = []
    files = {
        "request.md": REQUEST,
        "state.json": json.dumps(state),
        "review-1.md": "## Verdict: PASS\n",
    }
    read_past_run(NAME, lambda name: asked.append(name) or files.get(name), DOCUMENTS)
    assert "review-1.md" not in asked
    assert "review-design.md" in asked
    assert all(DOCUMENTS.tells(name) for name in asked)


def test_the_state_knows_better_than_the_review_it_was_made_from() -> None:
    review = "## Verdict: FAIL\n\n## Findings\n\n- [MAJOR] An older finding\n"
    run = read({"state.json": json.dumps(STATE), "review-1.md": review})
    assert [finding.description for _, finding in run.findings] == ["Clock is read twice"]


def test_reviews_of_tasks_are_found_by_the_ids_of_the_tasks() -> None:
    state = {"tasks": [{"spec": {"id": "fix-1"}}]}
    run = read(
        {"state.json": json.dumps(state), "review-fix-1.md": "## Findings\n\n- [MAJOR] Still red\n"}
    )
    assert [by for by, _ in run.findings] == ["phase-6"]


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("completed", "done"),
        ("abandoned", "abandoned"),
        ("awaiting_human", "waiting"),
        ("in_progress", "unfinished"),
        ("", "unknown"),
    ],
)
def test_the_outcome_is_said_in_one_word(status: str, outcome: str) -> None:
    assert read({"state.json": json.dumps({"currentPhaseStatus": status})}).outcome == outcome


def test_state_in_another_shape_is_read_as_far_as_it_goes() -> None:
    state = {
        "effort": "L",
        "tasks": {"1": {"files": ["a.py"]}, "2": {"files": None}},
        "timestamps": {"created": "2025-12-24T00:00:00Z"},
        "findings": [
            {"severity": "critical", "description": "x y", "agent": "design-reviewer"},
            {"severity": "LOW"},
            7,
        ],
        "usage": {"calls": "many", "cost": "free"},
    }
    run = read({"state.json": json.dumps(state)}, "no-date")
    assert (run.effort, run.date, run.files) == ("L", "2025-12-24", ("a.py",))
    assert run.findings == (("design-reviewer", Finding(severity=CRITICAL, description="x y")),)
    assert (run.usage.calls, run.usage.cost) == (0, None)


def test_an_unfinished_front_matter_is_not_taken_for_the_request() -> None:
    run = read({"request.md": "---\ntitle: x\nsecret: y\n"})
    assert (run.title, run.request) == (NAME, "")


def test_what_a_stranger_wrote_comes_out_as_single_lines() -> None:
    state = {
        "title": "a\n# b",
        "effort": "S\n",
        "tasks": [{"spec": {"files": ["x\ny"]}}],
        "currentPhaseStatus": "z\nz",
    }
    summary = "## Summary\n\nfirst\nsecond\u202e\n\n## Improvement Report\n\n- one\n  two\n"
    run = read({"state.json": json.dumps(state), "summary.md": summary})
    assert (run.title, run.effort, run.files, run.outcome) == ("a # b", "S", ("x y",), "z z")
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
    assert read({"state.json": json.dumps(state)}).name == NAME
