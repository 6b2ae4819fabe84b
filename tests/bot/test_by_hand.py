"""The workflow started by hand, with a command for a run."""

from typing import Any

from forge_bot.gate.workflow_step import run_gate
from tests.bot.stage import Job, Stage, outputs
from tests.fakes.github.state import Reaction

WORKFLOW = ".github/workflows/forge-bot.yml"


def event_by_hand(stage: Stage, command: str, by: str = "maint") -> tuple[str, Any, str]:
    """The event of somebody who starts the workflow with this command for the issue."""
    inputs = {"issue": str(stage.issue.number), "command": command}
    payload = stage.hub.payload(
        "workflow_dispatch", stage.repo, by, workflow=WORKFLOW, inputs=inputs
    )
    return "workflow_dispatch", payload, by


def by_hand(stage: Stage, command: str, by: str = "maint") -> Job:
    """Somebody starts the workflow with this command for the issue."""
    return stage.job(*event_by_hand(stage, command, by))


def test_an_approval_by_hand_whose_job_was_lost_counts_when_it_runs_again_and_stands_in_the_thread(
    waiting: Stage,
) -> None:
    environ, folder = waiting.machine(*event_by_hand(waiting, "approve"))
    assert run_gate(environ, lambda _seconds: None) == 0
    assert waiting.say("/forge status") is not None
    assert waiting.state["decisions"] == []
    again = waiting.process(environ, folder)
    log, _ = again.communicate(timeout=300)
    assert (again.returncode, outputs(folder / "outputs")["outcome"]) == (0, "done"), log
    (said,) = waiting.said("spoken")
    assert said.startswith("/forge approve\n")
    assert "`maint` said this by hand" in said
    (decision,) = waiting.state["decisions"]
    assert (decision["answer"], decision["by"]) == ("approve", "maint")
    (place,) = [each.id for each in waiting.issue.comments if each.body == said]
    assert decision["via"].endswith(f"#issuecomment-{place}")
    assert waiting.pull.pull is not None


def test_notes_by_hand_reach_the_run_without_the_words_below_them(waiting: Stage) -> None:
    job = by_hand(waiting, "reject Say more about the last day.")
    assert job.code == 0, job.log
    (decision,) = waiting.state["decisions"]
    assert (decision["answer"], decision["notes"]) == ("reject", "Say more about the last day.")


def test_a_run_begun_by_hand_has_the_flags_of_its_command(stage: Stage) -> None:
    job = by_hand(stage, "/forge --effort S --nopr")
    assert job.code == 0, job.log
    assert stage.state["effort"] == "S"
    assert stage.state["flags"]["skip_pr"]


def test_words_that_only_look_like_those_of_a_dispatch_are_nobodys(waiting: Stage) -> None:
    """Another workflow of the same account quotes what a stranger wrote."""
    forged = "/approve\n\n<sub>x</sub>\n\n<!-- forge-bot:spoken by=maint run=1 -->"
    waiting.comment(forged, by="github-actions[bot]")
    waiting.comment(forged, by="stranger")
    job = waiting.say("/forge status")
    assert job is not None
    assert job.code == 0
    assert waiting.state["decisions"] == []


def test_nor_are_they_where_that_workflow_reacts_to_what_it_wrote(waiting: Stage) -> None:
    """A job that was started by hand may have ended before: its number is known to everybody."""
    assert by_hand(waiting, "status").code == 0
    (said,) = waiting.said("spoken")
    forged = waiting.comment(said.replace("/forge status", "/approve"), by="github-actions[bot]")
    forged.reactions.append(
        Reaction(waiting.hub.next_id(), waiting.hub.actions, "eyes", waiting.hub.clock.tick())
    )
    job = waiting.say("/forge status")
    assert job is not None
    assert job.code == 0, job.log
    assert waiting.state["decisions"] == []


def test_a_stranger_who_starts_the_workflow_is_refused_and_leaves_no_comment(
    waiting: Stage,
) -> None:
    before = len(waiting.issue.comments)
    assert by_hand(waiting, "approve", by="stranger").result == "refused"
    assert len(waiting.issue.comments) == before
