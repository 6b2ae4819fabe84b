"""What reaches a run from outside its phases: a new request, another effort, an approval in doubt,
checks that failed.
"""

import pytest

from forge_bot.engine import Checkpoint, Done, Exec, SpawnAgent
from forge_bot.engine.person_requirements import person_requirements
from forge_bot.engine.reports import (
    ApprovalDoubted,
    EffortChanged,
    FollowUpAsked,
    RequestRefreshed,
    ReviewItem,
)
from forge_bot.engine.state import Reason, TaskStatus
from forge_bot.errors import ReportRejected
from forge_bot.values import Effort, PhaseId, Source, TaskId
from tests.fakes.bench import Bench, blob

ISSUE = Source(type="github_issue", id="42", url="https://github.com/acme/widget/issues/42")


def refreshed(bench: Bench, text: str = "new request") -> RequestRefreshed:
    return RequestRefreshed(
        key="refresh",
        at=bench.now(),
        title="Fix the login, really",
        request_blob=blob(text),
        request_hash="e" * 64,
        by="ann",
        via="thread",
    )


def resized(bench: Bench, effort: Effort) -> EffortChanged:
    return EffortChanged(
        key=f"effort-{effort}", at=bench.now(), effort=effort, by="ann", via="thread"
    )


def gate_digest(bench: Bench) -> str:
    assert bench.state.gate is not None
    return bench.state.gate.digest


def follow_up(bench: Bench, number: int, **words: object) -> FollowUpAsked:
    return FollowUpAsked(
        key=f"follow-up-{number}",
        at=bench.now(),
        artifact=f"follow-up-{number}.md",
        blob=blob(f"log {number}"),
        head="a" * 40,
    ).replace(**words)


def failed(bench: Bench, number: int) -> FollowUpAsked:
    return follow_up(bench, number, checks=("unit tests",))


# -- the request
# --------------------------------------------------------------------------------------------------


def test_a_request_that_was_read_again_sends_the_run_to_its_first_phase_and_makes_old_approvals_stale() -> (
    None
):
    bench = Bench().until("checkpoint-a")
    before = gate_digest(bench)
    bench.tell(refreshed(bench))
    assert isinstance(bench.action, SpawnAgent)
    assert bench.action.phase == "phase-1"
    assert bench.state.title == "Fix the login, really"
    bench.until("checkpoint-a")
    assert gate_digest(bench) != before


def test_a_request_that_is_the_same_changes_nothing() -> None:
    bench = Bench().until("checkpoint-a")
    with pytest.raises(ReportRejected, match="has not changed"):
        bench.tell(refreshed(bench).model_copy(update={"request_hash": bench.state.request_hash}))


# -- the effort
# --------------------------------------------------------------------------------------------------


def test_more_effort_goes_back_to_the_first_phase_that_is_missing() -> None:
    bench = Bench(effort=Effort.S).until("checkpoint-a")
    bench.tell(resized(bench, Effort.M))
    assert isinstance(bench.action, SpawnAgent)
    assert bench.action.phase == "phase-2"
    assert bench.state.flow_template == "standard"
    assert bench.state.effort_reason == "ann chose it"


def test_less_effort_goes_on_with_what_is_left() -> None:
    bench = Bench(effort=Effort.M)
    bench.prepared()
    bench.wrote()
    assert bench.state.current_phase == "phase-2"
    bench.tell(resized(bench, Effort.S))
    assert bench.state.current_phase == "phase-3"


def test_the_effort_stays_once_tasks_have_begun() -> None:
    bench = Bench(effort=Effort.S).until("checkpoint-a")
    bench.until("phase-5")
    assert bench.state.current_phase == "phase-5"
    with pytest.raises(ReportRejected, match="The tasks have begun"):
        bench.tell(resized(bench, Effort.L))


# -- an approval in doubt
# --------------------------------------------------------------------------------------------------


def doubted(bench: Bench) -> Checkpoint:
    bench.tell(
        ApprovalDoubted(
            key="doubt",
            at=bench.now(),
            gate=PhaseId("checkpoint-a"),
            why="approved by ann via a terminal",
        )
    )
    action = bench.action
    assert isinstance(action, Checkpoint)
    return action


def test_an_approval_in_doubt_is_asked_again_where_the_run_stands_and_a_yes_goes_on_there() -> None:
    bench = Bench(effort=Effort.S).until("pr-creation")
    asked = doubted(bench)
    assert asked.reason is Reason.UNVERIFIED_APPROVAL
    assert [file.name for file in asked.files] == ["design.md"]
    bench.approve()
    assert isinstance(bench.action, Exec)
    assert bench.action.operation == "pull-request"


def test_a_no_to_an_approval_in_doubt_sends_the_design_back() -> None:
    bench = Bench(effort=Effort.S).until("pr-creation")
    doubted(bench)
    bench.reject("I never said yes")
    assert bench.state.current_phase == "phase-3"
    assert bench.state.notes[-1].text == "I never said yes"


# -- checks
# --------------------------------------------------------------------------------------------------


def test_failed_checks_open_a_finished_run_with_a_task_and_after_two_rounds_a_person_decides() -> (
    None
):
    bench = Bench(effort=Effort.S, source=ISSUE)
    bench.finish()
    for number in (1, 2):
        bench.tell(failed(bench, number))
        task = bench.state.task(TaskId(f"fix-{number}"))
        assert task is not None
        assert task.status is TaskStatus.PENDING
        assert isinstance(bench.action, SpawnAgent)
        assert f"follow-up-{number}.md" in bench.action.input_files
        bench.finish()
    bench.tell(failed(bench, 3))
    assert isinstance(bench.action, Checkpoint)
    assert bench.action.reason is Reason.CHECKS_RED
    bench.approve()
    assert isinstance(bench.action, Done)


def test_notes_on_red_checks_give_two_more_rounds() -> None:
    bench = Bench(effort=Effort.S, source=ISSUE)
    bench.finish()
    for number in (1, 2):
        bench.tell(failed(bench, number))
        bench.finish()
    bench.tell(failed(bench, 3))
    bench.reject("the runner needs UTC")
    assert isinstance(bench.action, SpawnAgent)
    assert "the runner needs UTC" in bench.state.tasks[-1].spec.acceptance
    bench.finish()
    bench.tell(failed(bench, 4))
    assert isinstance(bench.action, SpawnAgent)


def test_checks_that_fail_while_a_question_is_open_wait() -> None:
    bench = Bench(effort=Effort.S).until("checkpoint-a")
    with pytest.raises(ReportRejected, match="waits for an answer"):
        bench.tell(failed(bench, 1))


def test_words_of_a_person_are_a_numbered_requirement_and_begin_the_rounds_over_checks_anew() -> (
    None
):
    bench = Bench(effort=Effort.S, source=ISSUE)
    bench.finish()
    for number in (1, 2):
        bench.tell(failed(bench, number))
        bench.finish()
    item = ReviewItem(by="eve", stranger=True, path="a.py", line=3, thread=7, newest="7")
    asked = {
        "notes": "Say `nobody`.\nIn both places.",
        "items": (item,),
        "by": "ann",
        "via": "thread",
    }
    bench.tell(follow_up(bench, 3, **asked))
    task = bench.state.tasks[-1]
    assert task.spec.title == "Say `nobody`."
    assert task.spec.acceptance == (
        "P-1: Say `nobody`. In both places.",
        "F-1: a.py:3, as eve asks in the review",
    )
    [request] = bench.state.sent_back
    assert (request.by, request.task, request.condition) == ("ann", "fix-3", asked["notes"])
    # A further wish in the midst of the work is a further task.
    bench.tell(follow_up(bench, 4, notes="And log it.", by="bob", via="thread"))
    assert [one.text for one in person_requirements(bench.state)][1:] == ["And log it."]
    bench.finish()
    bench.tell(failed(bench, 5))
    assert isinstance(bench.action, SpawnAgent)


def test_more_cannot_be_asked_for_before_there_is_a_change() -> None:
    bench = Bench(effort=Effort.S)
    bench.prepared()
    with pytest.raises(ReportRejected, match="offers no change yet"):
        bench.tell(follow_up(bench, 1, notes="Quick", by="ann", via="thread"))
