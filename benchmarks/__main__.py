"""`python -m benchmarks [NAME …] [--markdown]`: measures, and prints one table."""

import argparse
import os
import platform
import subprocess
import sys

from benchmarks import (
    action_start,
    command_line,
    engine_reports,
    engine_tasks,
    goals,
    many_runs,
    mcp_serving,
    prompts,
    recall,
    temporal_crowd,
    temporal_door,
    temporal_runs,
    walks,
    whole_demo,
)
from benchmarks.measuring import Row
from benchmarks.table import markdown, plain

_MEASURES = {
    "engine-reports": engine_reports.rows,
    "engine-tasks": engine_tasks.rows,
    "recall": recall.rows,
    "prompts": prompts.rows,
    "command-line": command_line.rows,
    "action-start": action_start.rows,
    "many-runs": many_runs.rows,
    "temporal": temporal_runs.rows,
    "temporal-crowd": temporal_crowd.rows,
    "temporal-door": temporal_door.rows,
    "mcp": mcp_serving.rows,
    "demo": whole_demo.rows,
    "goals": goals.rows,
    "walks": walks.rows,
}
_ALONE = {"goals", "walks"}
"""What is measured only when it is named: goals are rows of the others, walks are no times."""


def main() -> int:
    """Measure what was asked for; rows are told on the error stream as they come."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measures what forge-bot costs in time."
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"what to measure; all if left out: {', '.join(_MEASURES)}",
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print the table for docs/benchmarks.md"
    )
    given = parser.parse_args()
    names: list[str] = given.names or [name for name in _MEASURES if name not in _ALONE]
    if unknown := [name for name in names if name not in _MEASURES]:
        parser.error(f"there is no {unknown[0]}; there are {', '.join(_MEASURES)}")
    found: list[Row] = []
    for name in names:
        for row in _MEASURES[name]():
            print(plain([row]).splitlines()[1], file=sys.stderr, flush=True)
            found.append(row)
    print(f"\n{_machine()}\n\n{markdown(found) if given.markdown else plain(found)}")
    return 0


def _machine() -> str:
    git = subprocess.run(
        ["git", "version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"Python {platform.python_version()}, {git}, {platform.system()} {platform.machine()},"
        f" {os.cpu_count()} processors{load}"
    )


if __name__ == "__main__":
    sys.exit(main())
