"""`forge-bot ask`: a model answers a person's question about the run, and the run stands where it
stood.
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.fakes.agents import AgentServer
from tests.fakes.sample import Sample

TASK = "`rota who` names somebody for days before the rota starts"
QUESTION = "Why do swaps stay as zebras?"
ANSWER = {"artifact_markdown": "Because a swap names a **giraffe**, see `rota/schedule.py:12`."}
EXPLAINER = ("inquiry", "*", "*")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentServer]:
    with AgentServer() as running:
        running.answers[EXPLAINER] = ANSWER
        monkeypatch.setenv("OPENAI_BASE_URL", f"{running.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


def state(sample: Sample) -> dict[str, Any]:
    return json.loads(sample.forge("status", "--json").out)


def message(server: AgentServer, number: int = -1) -> str:
    """The message of one question to the model."""
    return str(server.questions[number].body["messages"][1]["content"])


def test_at_a_checkpoint_the_answer_is_printed_and_the_same_version_still_waits(
    asked_sample: Sample,
) -> None:
    model = asked_sample.model({EXPLAINER: ANSWER})
    before = state(asked_sample)
    said = asked_sample.forge("ask", QUESTION, "--model", model)
    assert said.code == 0, said.err
    assert "Because a swap names a **giraffe**, see `rota/schedule.py:12`." in said.out
    after = state(asked_sample)
    assert after["gate"] == before["gate"]
    assert after["step"] == before["step"]
    assert after["usage"]["calls"] == before["usage"]["calls"] + 1
    assert asked_sample.git("log", "-1", "--format=%s", asked_sample.branch) == "forge-bot: asked"
    assert asked_sample.forge("approve", "--model", model).code == 0, (
        "what was shown before the question still counts"
    )


@pytest.mark.slow
def test_the_model_sees_what_is_shown_and_the_persons_words_and_holds_no_command(
    sample: Sample, server: AgentServer
) -> None:
    sample.forge("run", TASK, "--effort", "M", "--model", "openai-chat:fake")
    sample.forge("ask", QUESTION, "--model", "openai-chat:fake")
    system, user = str(server.questions[-1].body["messages"][0]["content"]), message(server)
    assert f"## The Maintainer's Question\n\n> {QUESTION}" in user
    for name in ("request.md", "design.md", "review-design.md", "where the run stands"):
        assert f'source="{name}"' in user
    assert 'source="investigation.md"' not in user
    assert "investigation.md" in user, "the other documents are named, to be read"
    assert "`read_file`" in system
    assert "run_tests" not in system


@pytest.mark.slow
def test_a_budget_that_does_not_allow_it_is_told_with_exit_code_four_and_nothing_changes(
    sample: Sample, server: AgentServer
) -> None:
    sample.forge("run", TASK, "--effort", "S", "--budget", "0.01", "--model", sample.model())
    before = sample.forge("status", "--json").out
    said = sample.forge("ask", QUESTION, "--model", "openai-chat:gpt-4o")
    assert said.code == 4
    assert "The budget is used up" in said.out
    assert "forge-bot continue +5" in said.out
    assert server.questions == []
    assert sample.forge("status", "--json").out == before
    sample.forge("continue", "+$5", "--model", sample.model())
    assert sample.forge("ask", QUESTION, "--model", "openai-chat:gpt-4o").code == 0
    assert Decimal(state(sample)["budget"]["spent"]) > 0
