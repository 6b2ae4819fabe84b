"""Reports that earlier versions recorded lead to the states that those versions had.

`tests/fixtures/recorded_runs` holds two files of JSON lines: `engine`, the scenarios of the
engine's own tests, and `hosts`, runs of the command line, the bot and MCP clients. Each line has
the name of its scenario, the reports in order, and the final state without the keys that have their
default value, so that a new key does not change an old state.
"""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from forge_bot.engine import REPORT, SCHEMA_VERSION, fold, next_action
from tests.fakes.bench import DEVELOP

RECORDED = Path(__file__).parent / "fixtures" / "recorded_runs"


CONDITIONAL = {"pr-creation", "post-to-source"}
"""Phases that a condition leaves out. Versions that recorded these runs did not list them in
`skippedPhases`."""


def as_recorded(state: dict[str, Any]) -> dict[str, Any]:
    """The state as the recording version wrote it: with the skipped phases that it listed, and
    without the tokens that count against a budget.
    """
    left = [phase for phase in state.get("skippedPhases", ()) if phase not in CONDITIONAL]
    budget = {key: value for key, value in state.get("budget", {}).items() if key != "tokens"}
    kept = {key: value for key, value in state.items() if key not in {"skippedPhases", "budget"}}
    return {
        **kept,
        **({"skippedPhases": left} if left else {}),
        **({"budget": budget} if budget else {}),
    }


def recorded(name: str) -> list[dict[str, Any]]:
    text = lzma.decompress((RECORDED / f"{name}.jsonl.xz").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(("name", "runs"), [("engine", 176), ("hosts", 107)])
def test_recorded_reports_fold_to_the_state_that_was_recorded(name: str, runs: int) -> None:
    rows = recorded(name)
    assert len(rows) == runs
    for row in rows:
        reports = [REPORT.validate_json(json.dumps(report)) for report in row["reports"]]
        state = fold(DEVELOP, reports)
        found = json.loads(state.model_dump_json(exclude_defaults=True))
        added = set(found.get("skippedPhases", ())) - set(row["state"].get("skippedPhases", ()))
        assert added <= CONDITIONAL, row["scenario"]
        assert as_recorded(found) == as_recorded(row["state"]), row["scenario"]
        assert next_action(DEVELOP, state).action_id, row["scenario"]


def test_a_report_is_written_as_it_was_read() -> None:
    for row in recorded("hosts"):
        for report in row["reports"]:
            again = json.loads(
                REPORT.dump_json(REPORT.validate_json(json.dumps(report)), exclude_defaults=False)
            )
            assert {key: again[key] for key in report} == report, row["scenario"]


def test_the_recorded_states_have_the_schema_of_this_version() -> None:
    assert {row["state"].get("schemaVersion", SCHEMA_VERSION) for row in recorded("hosts")} == {
        SCHEMA_VERSION
    }
