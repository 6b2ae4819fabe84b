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


def test_an_approval_can_go_on_only_so_far(asked_sample: Sample) -> None:
    model = asked_sample.model()
    said = asked_sample.forge("approve", "--until", "tasks", "--model", model)
    assert said.code == 3
    assert "Implementation (phase-5) comes after Task Decomposition" in said.out
    assert (asked_sample.workspace / "tasks.md").is_file()
    assert not (asked_sample.workspace / "impl-1.md").exists()


def test_a_name_that_is_no_phase_is_told_before_anything_begins_or_is_answered(
    asked_sample: Sample,
) -> None:
    model = asked_sample.model()
    before = asked_sample.git("for-each-ref")
    for words in (("run", TASK), ("approve",)):
        said = asked_sample.forge(*words, "--until", "review", "--model", model)
        assert (said.code, "REQUEST-007" in said.err) == (2, True)
        assert "phase-3b" in said.err
    assert asked_sample.git("for-each-ref") == before
    assert "checkpoint-a waits for you" in asked_sample.forge("status").out


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


def test_without_a_terminal_discuss_names_its_questions_and_begins_nothing(sample: Sample) -> None:
    said = sample.forge("run", TASK, "--effort", "S", "--discuss", "--model", sample.model())
    assert (said.code, "REQUEST-007" in said.err) == (2, True)
    assert "What is the main goal" in said.err
    assert sample.git("branch", "--format=%(refname:short)") == "main"
