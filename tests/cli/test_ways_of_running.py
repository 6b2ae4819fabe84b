"""Options and answers on whole runs, and what a run leaves in git: commits that were added, and
nothing else.
"""

import json

import pytest

from forge_bot import __version__
from tests.fakes.sample import Sample

TASK = "Nobody is on call before the rota starts"


def test_the_branch_gets_the_name_that_was_asked_for(sample: Sample) -> None:
    said = sample.forge(
        "run",
        TASK,
        "--effort",
        "S",
        "--branch",
        "ann/before-the-start",
        "--until",
        "phase-1",
        "--model",
        sample.model(),
    )
    assert said.code == 3, said.err
    assert sample.branch == "ann/before-the-start"


def test_the_model_of_a_run_answers_its_next_commands_until_another_is_named(
    asked_sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("FORGE_BOT_MODEL", "nobody:nothing")
    refused = asked_sample.forge("ask", "Why?")
    assert "nobody:nothing is not a model" in refused.err, refused.err
    monkeypatch.delenv("FORGE_BOT_MODEL")
    assert asked_sample.forge("approve", "--until", "tasks").code == 3


def test_the_version_is_that_of_the_package(sample: Sample) -> None:
    said = sample.forge("--version")
    assert (said.code, said.out) == (0, f"forge-bot {__version__}\n")


def test_the_effort_of_a_run_is_changed_by_its_command(asked_sample: Sample) -> None:
    model = asked_sample.model()
    wrong = asked_sample.forge("effort", "XL", "--by-script")
    assert (wrong.code, "forge-bot effort" in wrong.err) == (2, True), wrong.err
    said = asked_sample.forge("effort", "M", "--by-script", "--until", "tasks", "--model", model)
    assert said.code == 3, said.err
    assert json.loads(asked_sample.forge("status", "--json").out)["effort"] == "M"
