"""Tools of MCP servers in a run: what reads is called at once, what may change something stands
before a person and is made once.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.sample import Said, Sample
from tests.fakes.script import Answer
from tests.fakes.tool_servers import configure, unruly

ANALYST = ("situation-analyst-investigator", "phase-1")
CREATE = ("mcp_tickets_create", {"text": "a ticket"})


def asks(*calls: tuple[str, Mapping[str, object]]) -> Answer:
    """An answer that asks for tools, as actions."""
    actions = [
        {
            "capability": name,
            "capability_type": "provider",  # a wrong type, which does not matter
            "params_json": json.dumps(params),
            "reasoning": "to know",
        }
        for name, params in calls
    ]
    return {"requests": [], "actions": actions}


def start(sample: Sample, rounds: Mapping[str, Answer], mode: str = "well") -> Said:
    """Begin a run whose analyst answers like this, with a server that notes its calls."""
    # Without a sandbox it can keep the notes where the test reads them.
    (sample.path / ".forge").mkdir(exist_ok=True)
    if not (sample.path / ".forge" / "config.yml").exists():
        (sample.path / ".forge" / "config.yml").write_text("sandbox: off\n")
    configure(sample.path, {"tickets": unruly(mode, str(notes(sample)))})
    model = sample.model({(*ANALYST, round_): answer for round_, answer in rounds.items()})
    return sample.forge("run", "Say who is next", "--effort", "S", "--yes", "--model", model)


def notes(sample: Sample) -> Path:
    return sample.path.parent / "calls.txt"


def made(sample: Sample) -> list[Any]:
    """The calls that reached the server."""
    file = notes(sample)
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def state(sample: Sample) -> dict[str, Any]:
    return json.loads(sample.forge("status", "--json").out)


def prompts(sample: Sample) -> str:
    """Everything that was sent to a model, from the run's journal."""
    home = next(sample.path.parent.rglob("journal.jsonl"))
    return home.read_text()


def test_a_call_that_may_change_something_stands_with_its_arguments_and_is_made_once(
    sample: Sample,
) -> None:
    said = start(sample, {"1.1": asks(CREATE), "2.1": asks(CREATE)})
    assert said.code == 3
    assert "An agent asks for calls that may change something" in said.out
    assert '"text": "a ticket"' in said.out
    assert made(sample) == []
    gate = state(sample)["gate"]
    assert (gate["name"], gate["reason"]) == ("checkpoint-c", "tool_approval")
    assert [file["name"] for file in gate["files"]] == ["calls-1.json"]
    done = sample.forge(
        "approve", gate["digest"][:12], "--model", sample.model({(*ANALYST, "2.1"): asks(CREATE)})
    )
    assert done.code == 3
    assert made(sample) == [["create", {"text": "a ticket"}]]
    now = state(sample)
    assert now["gate"]["name"] == "checkpoint-a"
    (call,) = now["calls"]
    assert (call["status"], call["result"]) == ("done", "calls-1-1.md")
    assert "created a ticket" in sample.forge("show", "calls-1-1.md").out
    assert "It was made, once. calls-1-1.md has the result." in prompts(sample)


@pytest.mark.slow
def test_a_call_without_an_answer_is_asked_about_and_not_made_again(sample: Sample) -> None:
    start(sample, {"1.1": asks(CREATE)})
    notes(sample).with_suffix(".mode").write_text("crashes")
    model = sample.model({(*ANALYST, "2.1"): asks(CREATE)})
    done = sample.forge("approve", "--model", model)
    assert done.code == 3
    gate = state(sample)["gate"]
    assert (gate["reason"], gate["options"]) == ("outcome_unknown", ["approve", "reject"])
    assert "It may have been made, and is not made again." in done.out
    assert "out of tickets" in sample.forge("show", "calls-1-1.md").out
    assert len(made(sample)) == 1
    after = sample.forge("approve", "--model", model)
    assert after.code == 3
    assert state(sample)["gate"]["name"] == "checkpoint-a"
    assert len(made(sample)) == 1


@pytest.mark.slow
def test_an_approval_does_not_hold_for_a_server_that_is_configured_otherwise(
    sample: Sample,
) -> None:
    start(sample, {"1.1": asks(CREATE)})
    configure(sample.path, {"tickets": unruly("chatty", str(notes(sample)))})
    assert sample.forge("approve", "--model", sample.model()).code == 3
    assert state(sample)["calls"][0]["status"] == "failed"
    assert "is not what it was when this was asked for" in sample.forge("show", "calls-1-1.md").out
    assert made(sample) == []
