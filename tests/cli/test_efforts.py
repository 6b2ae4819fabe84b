"""How often a run at the terminal asks a model, and which documents it writes without one."""

import json
from typing import Any

import pytest

from tests.fakes.sample import Sample
from tests.fakes.script import HEADINGS, document

TASK = "`rota who` names somebody for days before the rota starts"
DESIGN = document(*HEADINGS["architect"], title="fix: say nobody before `Schedule([])` starts")
SMALL = {
    "artifact_markdown": str(DESIGN["artifact_markdown"]).replace(
        "## Changes\n\n", "## Changes\n\n- `rota/schedule.py`: the guard\n- Tasks: one\n\n"
    )
}


def finished(sample: Sample, effort: str, **config: str) -> dict[str, Any]:
    """Take a run to its end; its state."""
    if config:
        (sample.path / ".forge").mkdir(exist_ok=True)
        text = "".join(f"{name}: {value}\n" for name, value in config.items())
        (sample.path / ".forge" / "config.yml").write_text(text)
    model = sample.model({("architect", "*", "*"): SMALL})
    assert sample.forge("run", TASK, "--effort", effort, "--model", model).code == 3
    done = sample.forge("approve", "--model", model)
    assert done.code == 0, done.err
    return json.loads((sample.workspace / "state.json").read_text())


@pytest.mark.parametrize(
    ("effort", "calls"),
    [("S", 4), pytest.param("M", 6, marks=pytest.mark.slow)],
)
def test_a_run_of_one_task_pays_a_model_only_for_what_nobody_knows(
    sample: Sample, effort: str, calls: int
) -> None:
    state = finished(sample, effort)
    assert state["usage"]["calls"] == calls
    written = {path.name: path.read_text() for path in sample.workspace.glob("*.md")}
    assert "Result: **green**" in written["final-verification.md"]
    assert written["summary.md"].startswith("# say nobody before `Schedule([])` starts\n")
    assert "- Task 1, " in written["summary.md"]
    assert written["pull-request.md"].startswith("# fix: say nobody before `Schedule([])` starts\n")
    assert {"final-verification", "final-summary"} <= set(state["completedPhases"])
