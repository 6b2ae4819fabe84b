"""The job of the action where a Temporal server leads the runs: the shipped steps of action.yml up
to the hand-over of a label, with a GitHub and a server on loopback.
"""

import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.action_start import around, ran
from benchmarks.measuring import Row, summed_up
from tests.actions.runner import ROOT, shipped
from tests.bot.stage import BODY, TITLE, Stage, outputs
from tests.fakes.github import FakeGitHub
from tests.temporal.scene import server

TIMES = 7
_OWN = "own time of the job with Temporal"


def rows() -> Iterator[Row]:
    """Each go has a fresh copy of the action, an empty environment and an issue of its own; one
    that warms the disk does not count.
    """
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    known = {step["id"]: step for step in steps if "id" in step}
    with (
        tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name,
        server(Path(name) / "server") as its_own,
        FakeGitHub(Path(name) / "github") as hub,
        _leading(its_own.address),
    ):
        stage = Stage(hub, Path(name) / "jobs", Path(name) / "script.jsonl")
        gone = [_once(stage, known, its_own.address) for _ in range(TIMES + 1)][1:]
    for what in gone[0]:
        yield Row(what, "", TIMES, summed_up([each[what] for each in gone]))


@contextmanager
def _leading(address: str) -> Generator[None]:
    """A worker that leads workflows and visits no thread: what is measured is the job alone."""
    words = ("-m", "forge_bot", "worker", "--for", "orchestration", "--address", address)
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as worker:
        try:
            said = worker.stdout.readline() if worker.stdout is not None else ""
            if not said.startswith("Working for"):
                raise RuntimeError(said)
            yield
        finally:
            worker.terminate()


def _once(stage: Stage, steps: Mapping[str, Any], address: str) -> dict[str, float]:
    """Seconds by the clock and of a processor that each step of one job takes."""
    stage.issue = stage.hub.issue(stage.repo, TITLE, BODY, by="stranger")
    stage.issue.labels.append(stage.hub.label(stage.repo, "forge"))
    payload = stage.hub.payload(
        "issues.labeled", stage.repo, "maint", issue=stage.issue, label="forge"
    )
    environ, job = stage.machine("issues", payload, "maint")
    environ = around(environ, shipped(job / "action")) | {"TEMPORAL_ADDRESS": address}
    gate, gate_cost = ran(steps["gate"], environ)
    installing, _ = ran(steps["client"], environ)
    environ |= {"FORGE_BOT_WAKE": outputs(job / "outputs")["wake"]}
    handing, handing_cost = ran(steps["temporal"], environ)
    log = (job / "log").read_text(encoding="utf-8")
    if outputs(job / "outputs").get("outcome") != "working" or "No worker answers" in log:
        raise RuntimeError(log)
    return {
        "gate, by the clock": gate,
        "gate, processor time": gate_cost,
        "the client installed, by the clock": installing,
        "hand-over, by the clock": handing,
        "hand-over, processor time": handing_cost,
        f"{_OWN}, by the clock": gate + handing,
        f"{_OWN}, processor time": gate_cost + handing_cost,
    }
