"""A person learns before the first call what a run will probably take, and can ask for it later."""

import json

from tests.fakes.sample import Sample

TASK = "Fix the rota before its start"


def test_the_estimate_is_told_when_a_run_begins_and_kept_for_status(sample: Sample) -> None:
    said = sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert "expected: " in said.out
    assert "from the recorded run that ships" in said.out
    state = json.loads(sample.forge("status", "--json").out)
    assert state["run"] == sample.workspace.name
    assert state["estimate"]["effort"] == "S"
    assert state["estimate"]["tokens"]["p50"] > 0
    assert f"${float(state['estimate']['cost']['p50']):.2f}" in said.out
    usage = json.loads((sample.workspace / "state.json").read_text())["usage"]
    used = usage["inputTokens"] + usage["outputTokens"]
    tokens = f"{state['estimate']['tokens']['p50'] - used:,}"
    assert f"probably {tokens} tokens more" in said.out, "the question tells what comes"
    assert "estimate" not in json.loads((sample.workspace / "state.json").read_text()), (
        "the record is not about this machine's models"
    )
    next((sample.path.parent / "state").rglob("estimate.json")).unlink()
    assert "estimate" not in json.loads(sample.forge("status", "--json").out)
