"""Runs whose models are asked in a provider's batches: parked, collected once, at half the price."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.fakes.batches import BatchServer
from tests.fakes.sample import Said, Sample

ANTHROPIC = "anthropic:claude-sonnet-5-5"
ONE_MODEL = pytest.mark.parametrize(
    "model", [ANTHROPIC, pytest.param("openai:gpt-6-luna", marks=pytest.mark.slow)]
)
RUN = ("run", "Say who is next", "--effort", "S", "--yes")
WAITS = "MODEL-009"


@pytest.fixture
def provider(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    """A provider of batches; the sample's commands know where it is."""
    del sample
    with BatchServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-team-first")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-team-first")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def on_and_on(sample: Sample, provider: BatchServer, said: Said) -> Said:
    """Let batches end and go on, until no batch is waited for."""
    while WAITS in said.err:
        assert said.code == 3, said.err
        assert provider.end() == 1, said.err
        said = sample.forge("resume")
    return said


def cost(sample: Sample) -> Decimal:
    return Decimal(str(json.loads(sample.forge("status", "--json").out)["usage"]["cost"]))


def paid(sample: Sample) -> Decimal:
    """What the text of the pull request says that the run cost."""
    text = sample.forge("show", "pull-request.md").out
    found = re.search(r"\$([0-9.]+) of ", text)
    assert found, text
    return Decimal(found[1])


def killed_while_it_hands_in(sample: Sample, provider: BatchServer, *words: str) -> None:
    """Start a command whose batch is taken in, and kill it before it hears so."""
    provider.loses_reply, before = True, len(provider.batches)
    process = subprocess.Popen(
        [sys.executable, "-m", "forge_bot", *words],
        cwd=sample.path,
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert provider.wait_for_batches(before + 1)
    process.kill()
    process.wait()
    provider.release()


@pytest.mark.slow
@pytest.mark.parametrize("model", [ANTHROPIC, "openai:gpt-6-luna"])
def test_a_run_in_batches_costs_exactly_half_and_hands_in_each_question_once(
    sample: Sample, provider: BatchServer, model: str
) -> None:
    provider.tokens = 100_000
    live = sample.forge(*RUN, "--model", model)
    assert live.code == 3, live.err
    assert sample.forge("approve").code == 0
    full, told = cost(sample), paid(sample)
    assert full > 0
    assert not provider.batches

    said = sample.forge(*RUN, "--batch", "--model", model)
    assert (said.code, WAITS in said.err) == (3, True), said.out + said.err
    assert "✗" not in said.err, "to wait is no failure"
    assert cost(sample) == 0
    again = sample.forge("resume")
    assert (again.code, WAITS in again.err) == (3, True), again.err
    asked = on_and_on(sample, provider, again)
    assert asked.code == 3, asked.err
    assert set(Counter(provider.handed_in).values()) == {1}
    done = on_and_on(sample, provider, sample.forge("approve"))
    assert done.code == 0, done.err
    assert cost(sample) * 2 == full
    assert paid(sample) * 2 == told
    assert not sample.git("ls-files", "*/batches.jsonl")


@pytest.mark.slow
def test_a_process_killed_while_it_hands_in_a_batch_leaves_that_to_a_person(
    sample: Sample, provider: BatchServer
) -> None:
    killed_while_it_hands_in(sample, provider, *RUN, "--batch", "--model", ANTHROPIC)
    said = sample.forge("resume", "--model", ANTHROPIC)
    assert (said.code, len(provider.batches)) == (1, 1), said.err
    assert "ended before it heard whether it was taken in" in said.err
    provider.end()
    again = sample.forge("resume", "--model", ANTHROPIC)
    assert WAITS in again.err, again.err
    assert len(provider.batches) == 2, "a person said so"
    asked = on_and_on(sample, provider, again)
    assert asked.code == 3, asked.err
    assert json.loads(sample.forge("status", "--json").out)["usage"]["unanswered"] == 1


@pytest.mark.slow
@ONE_MODEL
@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("expired", "expired before it was begun"),
        ("missing", "came back without this answer"),
        ("errored", "too odd"),
    ],
)
def test_a_batch_without_an_answer_stops_the_run_until_a_person_hands_the_question_in_again(
    sample: Sample, provider: BatchServer, model: str, outcome: str, words: str
) -> None:
    sample.forge(*RUN, "--batch", "--model", model)
    provider.end(all=outcome)
    said = sample.forge("resume")
    assert (said.code, len(provider.batches)) == (1, 1), said.err
    assert words in said.err
    again = sample.forge("resume")
    assert (WAITS in again.err, len(provider.batches)) == (True, 2), again.err
    asked = on_and_on(sample, provider, again)
    assert asked.code == 3, asked.err
