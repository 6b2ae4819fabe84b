"""Runs in parts: only so far with --until, again from a phase with retry, and three
questions before the beginning.
"""

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.fakes.script import document

TASK = "`rota who` names somebody for days before the rota starts"


def test_until_belongs_to_the_invocation_and_resume_goes_on_without_it(sample: Sample) -> None:
    model = sample.model()
    sample.forge("run", TASK, "--effort", "S", "--until", "phase-1", "--model", model)
    again = sample.forge("resume", "--until", "analysis", "--model", model)
    assert again.code == 3
    assert "Design (phase-3) comes after Situation Analysis" in again.out
    on = sample.forge("resume", "--model", model)
    assert on.code == 3
    assert "Human Reviews Design" in on.out
    assert "--until" not in on.out


def test_at_a_gate_nothing_is_shown_as_long_as_it_lies_behind_the_line(sample: Sample) -> None:
    model = sample.model()
    stopped = sample.forge("run", TASK, "--effort", "S", "--until", "design", "--model", model)
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
