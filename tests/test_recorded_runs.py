"""Recorded reports lead to the states that were recorded with them.

`tests/fixtures/recorded_runs` holds two files of JSON lines: `engine`, the scenarios of the
engine's own tests, and `hosts`, runs of the command line, the bot and MCP clients. Each line has
the name of its scenario, the reports in order, and the final state without the keys that have their
default value. With `FORGE_GOLDEN=renew` the states are written anew.
"""

import json
import lzma
import os
from pathlib import Path
from typing import Any

import pytest

from forge_bot.engine import REPORT, fold, next_action
from tests.fakes.bench import DEVELOP

RECORDED = Path(__file__).parent / "fixtures" / "recorded_runs"


@pytest.mark.parametrize(("name", "runs"), [("engine", 176), ("hosts", 107)])
def test_recorded_reports_fold_to_the_state_that_was_recorded(name: str, runs: int) -> None:
    file = RECORDED / f"{name}.jsonl.xz"
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in lzma.decompress(file.read_bytes()).splitlines()
    ]
    assert len(rows) == runs
    for row in rows:
        reports = [REPORT.validate_python(report, strict=False) for report in row["reports"]]
        state = fold(DEVELOP, reports)
        folded = json.loads(state.model_dump_json(exclude_defaults=True))
        if os.environ.get("FORGE_GOLDEN") == "renew":
            row["state"] = folded
        assert folded == row["state"], row["scenario"]
        assert next_action(DEVELOP, state).action_id, row["scenario"]
        for report, read in zip(row["reports"], reports, strict=True):
            written = json.loads(REPORT.dump_json(read))
            assert {key: written[key] for key in report} == report, row["scenario"]
    if os.environ.get("FORGE_GOLDEN") == "renew":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        file.write_bytes(lzma.compress(text.encode()))
