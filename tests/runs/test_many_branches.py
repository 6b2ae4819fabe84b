"""Runs are found on many branches: one broken branch hides no other, and a clone without all
objects shows what it has.
"""

from pathlib import Path

import pytest

from forge_bot.runs.finding_runs.find_runs import runs
from tests.fakes.many_branches import imported, record

pytestmark = pytest.mark.slow


def test_broken_folders_of_runs_hide_no_run(tmp_path: Path) -> None:
    good = record("feature/1-good")
    broken: dict[str, dict[str, bytes]] = {
        "a-file": {".specs": b"no folder\n"},
        "garbage": {".specs/20260101-garbage/reports.jsonl": b"\xff\xfe{not json}\n" * 9},
        "unended": {".specs/20260101-unended/reports.jsonl": b'{"type": "run_started"'},
        "empty": {".specs/20260101-empty/state.json": b""},
        "a-folder": {".specs/20260101-a-folder/reports.jsonl/inside": b"x\n"},
        "no-state": {path: data for path, data in record("no-state").items() if "reports" in path},
        "broken-state": {
            path: b"{" if path.endswith("state.json") else data
            for path, data in record("broken-state").items()
        },
        "odd-names": {'".specs/2026\\001\\377 odd/reports.jsonl"': b"{}\n"},
    }
    repository = imported(
        tmp_path / "r",
        [
            ("main", "", {"readme.txt": b"text\n"}),
            *((name, "main", files) for name, files in broken.items()),
            ("feature/1-good", "main", good),
        ],
    )
    found = {info.branch: info.status for info in runs(repository)}
    assert found == {
        "feature/1-good": "in_progress",
        "no-state": "unreadable",
        "broken-state": "unreadable",
    }
