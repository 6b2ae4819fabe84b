"""A person learns before the first call what a run will probably take, and can ask for it later."""

import json

import pytest

from tests.fakes.sample import Sample

TASK = "Fix the rota before its start"


def test_the_estimate_is_told_when_a_run_begins_and_kept_for_status(sample: Sample) -> None:
    said = sample.forge("run", TASK, "--effort", "S", "--model", sample.model())
    assert "expected: about " in said.out
    assert "from the recorded run that ships" in said.out
    state = json.loads(sample.forge("status", "--json").out)
    assert state["run"] == sample.workspace.name
    assert state["estimate"]["effort"] == "S"
    assert state["estimate"]["tokens"]["p50"] > 0
    assert f"{state['estimate']['tokens']['p50']:,} tokens" in said.out
    usage = json.loads((sample.workspace / "state.json").read_text())["usage"]
    used = usage["inputTokens"] + usage["outputTokens"]
    tokens = f"{state['estimate']['tokens']['p50'] - used:,}"
    assert f"probably {tokens} tokens more" in said.out, "the question tells what comes"
    assert "estimate" not in json.loads((sample.workspace / "state.json").read_text()), (
        "the record is not about this machine's models"
    )
    next((sample.path.parent / "state").rglob("estimate.json")).unlink()
    assert "estimate" not in json.loads(sample.forge("status", "--json").out)


def test_a_budget_below_what_half_of_such_runs_cost_is_a_warning(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text("model_retries: 0\ncommands: {test: []}\n")
    words = ("run", TASK, "--effort", "S", "--model", "openai:gpt-5")
    assert "The budget of $0.01 is below the $" in sample.forge(*words, "--budget", "0.01").out
    assert "The budget of" not in sample.forge(*words, "--budget", "50").out
    assert "stops to ask at $5.00" in sample.forge(*words).out
