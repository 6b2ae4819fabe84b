"""Options and answers on whole runs, and what a run leaves in git: commits that were added, and
nothing else; runs in parts.
"""

import json

import pytest

from forge_bot import __version__
from tests.fakes import script
from tests.fakes.sample import Sample
from tests.fakes.script import document

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


OTHER_TASK = "`rota who` names somebody for days before the rota starts"


def test_until_belongs_to_the_invocation_and_resume_goes_on_without_it(sample: Sample) -> None:
    model = sample.model()
    sample.forge("run", OTHER_TASK, "--effort", "S", "--until", "phase-1", "--model", model)
    again = sample.forge("resume", "--until", "analysis", "--model", model)
    assert again.code == 3
    assert "Design (phase-3) comes after Situation Analysis" in again.out
    on = sample.forge("resume", "--model", model)
    assert on.code == 3
    assert "Human Reviews Design" in on.out
    assert "--until" not in on.out


def test_at_a_gate_nothing_is_shown_as_long_as_it_lies_behind_the_line(sample: Sample) -> None:
    model = sample.model()
    stopped = sample.forge(
        "run", OTHER_TASK, "--effort", "S", "--until", "design", "--model", model
    )
    assert "Human Reviews Design (checkpoint-a) comes after Design" in stopped.out
    assert "Approach" not in stopped.out
    bare = sample.forge("approve", "--model", model)
    assert (bare.code, "GATE-002" in bare.err) == (5, True), (
        "nothing was shown, so a bare approval means nothing"
    )


def test_a_run_goes_on_from_a_phase_by_its_name(asked_sample: Sample) -> None:
    model = asked_sample.model(
        {("architect", "*", "2.1"): document(*script.HEADINGS["architect"], body="Thought again.")}
    )
    again = asked_sample.forge("retry", "design", "--until", "design", "--model", model)
    assert again.code == 3, again.err
    assert "Thought again." in asked_sample.forge("show", "design").out
    assert "retry asked by" in asked_sample.forge("status", "--json").out
    third = asked_sample.forge(
        "retry", "SITUATION-analysis", "--until", "phase-1", "--model", model
    )
    assert third.code == 3
    assert "Design (phase-3) comes after" in third.out


# -- questions before the beginning
# --------------------------------------------------------------------------------------------------


def test_a_title_that_the_text_begins_with_stands_once_in_a_prompt(sample: Sample) -> None:
    title = "Name nobody on the days before the first day of the rota " * 3
    words = f"# {title.strip()}\n\nSomebody is named today."
    assert sample.forge("run", words, "--effort", "S", "--model", sample.model()).code == 3
    (journal,) = sample.path.parent.rglob("journal.jsonl")
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    first = next(entry["messages"] for entry in entries if entry["entry"] == "started")
    assert sum(part["text"].count(title.strip()) for part in first) == 1
    assert sum(part["text"].count("Name nobody on the days") for part in first) == 3
