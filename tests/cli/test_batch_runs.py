"""Runs whose models are asked in a provider's batches: parked, collected once, at half the price."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from forge_bot.resources import templates
from tests.cli.test_tools_in_a_run import asks
from tests.fakes.batches import BatchServer
from tests.fakes.model_server import JsonObject
from tests.fakes.sample import Said, Sample
from tests.fakes.script import Answer
from tests.fakes.tool_servers import skill

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
    found = re.search(r"What it cost.*?\$([0-9.]+)", text, re.DOTALL)
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


class SkilledServer(BatchServer):
    """Its analyst asks for a skill first."""

    def answer_to(self, body: JsonObject) -> Answer:
        analysing = self.answers["situation-analyst-investigator", "*", "*"]
        answer = super().answer_to(body)
        wants = answer is analysing and "skill_look-up " not in json.dumps(body)
        return asks(("skill_look-up", {"request": "who is next"})) if wants else answer


@pytest.mark.slow
def test_the_questions_of_a_skill_lie_in_batches_too(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill(sample.path / ".forge" / "skills", "look-up")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-team-first")
    with SkilledServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        server.answers["skill", "*", "*"] = {"artifact_markdown": "Ann is next."}
        said = sample.forge(*RUN, "--batch", "--model", ANTHROPIC)
        asked = on_and_on(sample, server, said)
        assert asked.code == 3, asked.err
        analyst = "situation-analyst-investigator"
        assert server.handed_in[:3] == [analyst, "skill", analyst]
        assert [each for each in server.questions if each.path.endswith("/messages")] == []


@pytest.mark.slow
def test_status_and_list_say_what_a_run_waits_for_and_how_long(
    sample: Sample, provider: BatchServer
) -> None:
    sample.forge(*RUN, "--batch", "--model", ANTHROPIC)
    waits = re.compile(rf"waits for a batch of {ANTHROPIC} since 20[-0-9]+ [:0-9]+ UTC \([0-9]")
    for command in ("status", "list"):
        said = sample.forge(command)
        assert waits.search(said.out), said.out
    told = json.loads(sample.forge("status", "--json").out)
    assert told["batch"]["model"] == ANTHROPIC
    asked = on_and_on(sample, provider, sample.forge("resume"))
    assert asked.code == 3, asked.err
    assert "batch" not in json.loads(sample.forge("status", "--json").out)
    assert not waits.search(sample.forge("list").out)


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
def test_another_machine_with_another_key_of_the_account_collects_the_batch(
    sample: Sample,
    provider: BatchServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
) -> None:
    on = ("resume", "--model", model)
    said = sample.forge(*RUN, "--batch", "--model", model)
    for _ in range(2):
        assert WAITS in said.err, said.out + said.err
        provider.end()
        # Another machine has the branch, and nothing of what lies beside it.
        shutil.rmtree(tmp_path / "state")
        sample.git("worktree", "prune")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-team-second")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-team-second")
        said = sample.forge(*on)
    assert set(Counter(provider.handed_in).values()) == {1}
    carried = sample.git("log", "-p", "--all", "--", "*/batches.jsonl")
    assert '"submitted"' in carried
    assert "sk-team" not in carried


@pytest.mark.slow
def test_a_key_of_another_account_is_told_so_and_hands_nothing_in(
    sample: Sample, provider: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.forge(*RUN, "--batch", "--model", ANTHROPIC)
    provider.end()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-others-first")
    said = sample.forge("resume")
    assert said.code == 1
    assert "knows no batch msgbatch_1 for this key" in said.err
    assert "same account" in said.err
    assert len(provider.batches) == 1
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-team-first")
    assert WAITS in sample.forge("resume").err
    assert set(Counter(provider.handed_in).values()) == {1}


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


@pytest.mark.slow
def test_an_abandoned_run_cancels_its_batch(sample: Sample, provider: BatchServer) -> None:
    sample.forge(*RUN, "--batch", "--model", ANTHROPIC)
    said = sample.forge("abandon", "--by-script")
    assert said.code == 6, said.err
    assert [each.cancelled for each in provider.batches] == [True]


@pytest.mark.slow
def test_an_abandoned_run_without_its_key_says_which_batch_goes_on(
    sample: Sample, provider: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.forge(*RUN, "--batch", "--model", ANTHROPIC)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    said = sample.forge("abandon", "--by-script")
    assert said.code == 6, said.err
    assert "msgbatch_1 could not be cancelled" in said.out + said.err
    assert [each.cancelled for each in provider.batches] == [False]


@pytest.mark.slow
def test_a_server_without_batches_is_asked_at_once_and_that_is_said(
    sample: Sample, provider: BatchServer
) -> None:
    provider.broken = 404
    said = sample.forge(*RUN, "--batch", "--model", ANTHROPIC)
    assert said.code == 3, said.err
    assert WAITS not in said.err
    assert "offers no batches here" in said.out + said.err
    assert provider.questions


@pytest.mark.slow
def test_a_provider_that_has_no_batches_is_asked_at_once_and_that_is_said_once(
    sample: Sample, provider: BatchServer
) -> None:
    said = sample.forge(*RUN, "--batch", "--model", "openai-chat:fake")
    assert said.code == 3, said.err
    assert (said.out + said.err).count("openai-chat:fake offers no batches here") == 1
    assert not provider.batches


@pytest.mark.slow
def test_a_budget_holds_half_of_the_worst_case_of_a_batch(
    sample: Sample, provider: BatchServer
) -> None:
    """Between half the worst case of the first question and the whole of it lies a cap."""
    live = sample.forge(*RUN, "--model", ANTHROPIC, "--budget", "0.15")
    assert live.code == 4, live.out + live.err
    sample.forge("abandon", "--by-script")
    said = sample.forge(*RUN, "--batch", "--model", ANTHROPIC, "--budget", "0.15")
    assert (said.code, WAITS in said.err) == (3, True), said.out + said.err
    assert len(provider.batches) == 1


@pytest.mark.slow
def test_a_phase_of_the_pipeline_can_be_asked_in_batches_by_itself(
    sample: Sample, provider: BatchServer
) -> None:
    folder = sample.path / ".forge" / "pipelines"
    folder.mkdir(parents=True)
    shipped = (templates() / "pipelines" / "develop.yaml").read_text(encoding="utf-8")
    batched = shipped.replace("    agent: architect\n", "    batch: true\n    agent: architect\n")
    assert batched != shipped
    (folder / "develop.yaml").write_text(batched, encoding="utf-8")
    said = sample.forge(*RUN, "--model", ANTHROPIC)
    assert (said.code, WAITS in said.err) == (3, True), said.out + said.err
    assert provider.handed_in == ["architect"]
    assert len(provider.questions) == 1
