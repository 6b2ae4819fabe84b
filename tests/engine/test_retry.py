"""Going back at a person's wish: to each phase, from many places, with the right things forgotten
and the right things kept.
"""

from collections.abc import Callable
from copy import deepcopy

import pytest

from forge_bot.engine import Checkpoint, HumanGate, SpawnAgent, fold
from forge_bot.engine.call_records import next_document
from forge_bot.engine.reports import (
    Answer,
    ArtifactWritten,
    CallBegun,
    CallEnded,
    CallOutcome,
    CallsRequested,
    RequestedCall,
    RetryAsked,
    head_of,
)
from forge_bot.engine.state import CallStatus, State, TaskStatus
from forge_bot.engine.transitions import is_left_out
from forge_bot.errors import NothingToRetry, WrongAction
from forge_bot.values import Effort, PhaseId, TaskId, TaskMode, TaskSpec, Verdict
from tests.fakes.bench import DEVELOP, MAJOR, MISSING, RED, Bench, blob


def task(name: str, *, mode: TaskMode = TaskMode.PARALLEL, after: tuple[str, ...] = ()) -> TaskSpec:
    return TaskSpec(
        id=TaskId(name),
        title=f"Task {name}",
        mode=mode,
        files=(f"{name}.py",),
        depends_on=tuple(TaskId(one) for one in after),
    )


TWO = (task("1"), task("2"))


def retry(bench: Bench, phase: str, notes: str = "") -> State:
    stamp = bench.now()
    return bench.tell(
        RetryAsked(
            key=f"retry-{bench.ticks}",
            at=stamp,
            phase=PhaseId(phase),
            notes=notes,
            by="ann",
            via="terminal",
        )
    )


def wave_half_done() -> Bench:
    bench = Bench(tasks=TWO).until("phase-5")
    bench.wrote(task=TaskId("2"))
    return bench


def reviews_half_done() -> Bench:
    bench = Bench(tasks=TWO).until("phase-6")
    bench.wrote(task=TaskId("2"), verdict=Verdict.FAIL, findings=(MAJOR,))
    return bench


def at_an_exceptional_gate() -> Bench:
    bench = Bench(tasks=TWO).until("phase-6")
    bench.wrote(task=TaskId("1"), verdict=Verdict.UNREADABLE)
    bench.wrote(task=TaskId("2"))
    bench.wrote(task=TaskId("1"), verdict=Verdict.UNREADABLE)
    assert isinstance(bench.action, Checkpoint)
    return bench


def with_a_held_patch() -> Bench:
    bench = Bench(tasks=TWO).until("phase-5")
    bench.wrote(task=TaskId("1"), held=("CODEOWNERS",))
    bench.wrote(task=TaskId("2"))
    assert isinstance(bench.action, Checkpoint)
    return bench


def with_a_fix_under_way() -> Bench:
    bench = Bench(tasks=TWO).until("phase-7")
    bench.wrote(verdict=Verdict.FAIL, findings=(MAJOR,))
    return bench


def red() -> Bench:
    bench = Bench(Effort.S)
    for _ in range(3):
        bench.until("final-verification").ran(RED)
    return bench


def completed() -> Bench:
    bench = Bench(Effort.L, tasks=TWO)
    bench.finish()
    return bench


PLACES: dict[str, tuple[Callable[[], Bench], str]] = {
    "at a gate": (lambda: Bench(tasks=TWO).until("checkpoint-a"), "checkpoint-a"),
    "after a wave was planned": (
        lambda: Bench(Effort.L, tasks=TWO).until("checkpoint-b"),
        "checkpoint-b",
    ),
    "while a wave is out": (wave_half_done, "phase-6"),
    "while reviews are out": (reviews_half_done, "phase-6"),
    "at the exceptional gate": (at_an_exceptional_gate, "phase-6"),
    "while a patch waits": (with_a_held_patch, "phase-6"),
    "while a fix is under way": (with_a_fix_under_way, "phase-6"),
    "at a red verification": (red, "final-verification"),
    "after the end": (completed, "completed"),
}
"""How to get there, and the last phase that has been reached then."""

AGAIN = [phase.id for phase in DEVELOP.phases if phase.kind not in {"setup", "end", "decision"}]


def can_be_done_again(bench: Bench, phase: str, furthest: str) -> bool:
    done = phase == "phase-4" or not is_left_out(
        DEVELOP, bench.state, DEVELOP.phase(PhaseId(phase))
    )
    return done and DEVELOP.position(PhaseId(phase)) <= DEVELOP.position(PhaseId(furthest))


@pytest.mark.parametrize("place", PLACES)
def test_from_everywhere_each_reached_phase_is_done_again_to_the_end_and_others_are_refused(
    place: str,
) -> None:
    make, furthest = PLACES[place]
    reached = make()
    for phase in AGAIN:
        bench = deepcopy(reached)
        if not can_be_done_again(bench, phase, furthest):
            with pytest.raises(NothingToRetry, match=phase):
                retry(bench, phase)
            assert bench.state == reached.state
            continue
        retry(bench, phase)
        assert bench.action.phase == phase or {bench.action.phase, phase} == {"phase-5", "phase-6"}
        bench.finish()
        assert bench.state.current_phase == "completed", phase
        assert fold(DEVELOP, bench.reports) == bench.state, phase


def test_a_phase_that_was_not_reached_is_refused_with_where_the_run_stands() -> None:
    bench = Bench().until("checkpoint-a")
    with pytest.raises(NothingToRetry, match=r"stands at Human Reviews Design \(checkpoint-a\)"):
        retry(bench, "phase-5")


def test_a_phase_that_the_effort_leaves_out_cannot_be_done_again() -> None:
    with pytest.raises(
        NothingToRetry,
        match=r"Investigation \(phase-2\) is left out of this run, which has effort S",
    ):
        retry(Bench(Effort.S).until("phase-7"), "phase-2")


def test_what_verification_found_stays_when_only_what_follows_is_done_again() -> None:
    bench = Bench()
    bench.finish()
    found = bench.state.verification
    assert found is not None
    assert retry(bench, "pr-creation").verification == found
    assert retry(bench, "final-verification").verification is None


@pytest.mark.parametrize("phase", ["setup", "completed", "checkpoint-c", "phase-99"])
def test_setup_end_decision_and_nonsense_cannot_be_done_again(phase: str) -> None:
    bench = Bench()
    bench.finish()
    with pytest.raises(NothingToRetry, match=phase):
        retry(bench, phase)


def test_earlier_approvals_stay_and_later_ones_are_asked_again() -> None:
    bench = Bench(Effort.L, tasks=TWO)
    bench.finish()
    retry(bench, "phase-4")
    assert "checkpoint-a" in bench.state.completed_phases
    assert "checkpoint-b" not in bench.state.completed_phases
    assert bench.finish()[:3] == ["phase-4", "phase-4b", "checkpoint-b"]


def test_a_wave_that_was_out_is_called_off() -> None:
    bench = Bench(tasks=TWO).until("phase-5")
    late = bench.action
    assert isinstance(late, SpawnAgent)
    retry(bench, "phase-3")
    assert bench.state.wave is None
    key = f"{late.action_id}/1"
    report = ArtifactWritten(
        key=key,
        at=bench.now(),
        action_id=late.action_id,
        phase=late.phase,
        task=TaskId("1"),
        artifact="impl-1.md",
        blob="0" * 40,
    )
    with pytest.raises(WrongAction):
        bench.tell(report)


def test_the_implementation_can_be_done_again_while_its_reviews_are_out() -> None:
    bench = Bench(tasks=TWO).until("phase-6")
    assert bench.state.current_phase == "phase-6" or bench.state.wave is not None
    retry(bench, "phase-5")
    action = bench.action
    assert isinstance(action, SpawnAgent)
    assert (action.phase, action.parallel_task_ids) == ("phase-5", ("1", "2"))


def test_a_retried_code_review_reviews_what_is_implemented_and_implements_nothing_again() -> None:
    bench = Bench(tasks=TWO)
    bench.finish()
    retry(bench, "phase-6", "Look at the names too")
    action = bench.action
    assert isinstance(action, SpawnAgent)
    assert (action.phase, action.parallel_task_ids) == ("phase-6", ("1", "2"))
    assert [(note.phase, note.text) for note in bench.state.notes] == [
        ("phase-6", "Look at the names too")
    ]
    assert bench.finish()[:3] == ["phase-6", "phase-6", "phase-7"]


def test_a_retried_code_review_leaves_alone_what_is_not_implemented_yet() -> None:
    bench = Bench(tasks=(task("1"), task("2", after=("1",)))).until("phase-6")
    bench.wrote()
    assert bench.state.current_phase == "phase-5"
    retry(bench, "phase-6")
    assert [each.status for each in bench.state.tasks] == [
        TaskStatus.IMPLEMENTED,
        TaskStatus.PENDING,
    ]
    assert bench.action.phase == "phase-6"


def test_a_retried_implementation_begins_every_task_anew_but_not_what_a_person_did() -> None:
    bench = Bench(
        tasks=(
            task("1"),
            task("ops", mode=TaskMode.HUMAN_GATE),
            task("keys", mode=TaskMode.HUMAN_GATE),
        )
    ).until("phase-6")
    bench.wrote(verdict=Verdict.FAIL, findings=(MAJOR,))
    bench.step()
    bench.step()
    assert isinstance(bench.action, HumanGate)
    bench.answer(Answer.DONE)
    bench.answer(Answer.SKIP)
    assert bench.action.phase == "phase-7"
    retry(bench, "phase-5")
    assert [each.status for each in bench.state.tasks] == [
        TaskStatus.PENDING,
        TaskStatus.PASSED,
        TaskStatus.SKIPPED,
    ]
    assert (bench.state.tasks[0].rounds, bench.state.tasks[0].verdict) == (0, None)


def test_tasks_that_will_be_planned_again_leave_nothing_of_theirs_behind() -> None:
    bench = Bench(tasks=TWO).until("phase-6")
    bench.wrote(task=TaskId("1"), verdict=Verdict.FAIL, findings=(MAJOR,))
    assert any(note.task == "1" for note in bench.state.notes)
    retry(bench, "phase-3")
    assert bench.state.tasks == ()
    assert bench.state.notes == ()
    assert {"design.md", "review-design.md", "tasks.md"} <= set(bench.state.artifacts)
    assert not {
        name
        for name in bench.state.artifacts
        if name.startswith(("impl-", "review-1", "review-2", "held-"))
    }
    action = bench.until("phase-5").action
    assert isinstance(action, SpawnAgent)
    assert action.round == 1
    bench.wrote(task=TaskId("2"))
    left = bench.action
    assert isinstance(left, SpawnAgent)
    assert not {name for name in left.input_files if name.startswith("impl-1")}


def agree_to_a_call(bench: Bench) -> None:
    """The implementer asks for a call, and a person says yes."""
    call = RequestedCall(capability="mcp_issues_close", capability_type="mcp_tool", params="{}")
    bench.until("phase-5").tell(
        CallsRequested(
            **head_of(bench.action.action_id, bench.now(), TaskId("1")),
            phase=PhaseId("phase-5"),
            task=TaskId("1"),
            calls=(call,),
            asks=True,
            artifact="calls-1.json",
            blob=blob(f"calls {bench.ticks}"),
        )
    )
    bench.approve()


def test_a_yes_after_a_retry_clears_no_call_that_was_made_before_it() -> None:
    bench = Bench()
    agree_to_a_call(bench)
    name = bench.action.action_id
    bench.tell(
        CallBegun(key="begun", at=bench.now(), action_id=name, artifact="calls-1.json", index=0)
    )
    bench.tell(
        CallEnded(
            key="ended",
            at=bench.now(),
            action_id=name,
            artifact="calls-1.json",
            index=0,
            outcome=CallOutcome.DONE,
            result="calls-1-1.md",
            blob=blob("closed"),
        )
    )
    retry(bench, "phase-3")
    assert "calls-1.json" not in bench.state.artifacts
    assert next_document(bench.state, "calls-") == "calls-2.json"
    agree_to_a_call(bench)
    assert [call.status for call in bench.state.calls] == [CallStatus.DONE, CallStatus.CLEARED]


def test_a_retried_task_sees_its_own_last_version() -> None:
    bench = Bench().until("phase-7")
    retry(bench, "phase-5")
    action = bench.action
    assert isinstance(action, SpawnAgent)
    assert {"impl-1.md", "review-1.md"} <= set(action.input_files)


def test_notes_for_the_phase_itself_stay_and_those_for_later_ones_go() -> None:
    bench = Bench().until("phase-3")
    bench.wrote(problems=(MISSING,))
    retry(bench, "phase-3", "Shorter")
    assert [note.text for note in bench.state.notes] == [
        "design.md cannot be used: Risks: the heading is missing",
        "Shorter",
    ]
    retry(bench, "phase-2")
    assert bench.state.notes == ()


def test_a_complaint_about_a_review_is_not_repeated_after_the_design_was_revised() -> None:
    bench = Bench().until("phase-3b")
    bench.wrote(verdict=Verdict.UNREADABLE)
    bench.wrote(verdict=Verdict.REVISE, findings=(MAJOR,))
    assert {note.phase for note in bench.state.notes} == {"phase-3"}


def test_a_retried_gate_asks_for_a_version_of_its_own() -> None:
    bench = Bench().until("checkpoint-a")
    first = bench.show()
    bench.approve()
    retry(bench, "checkpoint-a")
    gate = bench.action
    assert isinstance(gate, Checkpoint)
    assert gate.digest != first


def test_counters_begin_at_zero_from_the_phase_on_and_earlier_ones_stay() -> None:
    bench = Bench(Effort.L, tasks=TWO).until("phase-3b")
    bench.wrote(verdict=Verdict.REVISE, findings=(MAJOR,))
    bench.until("phase-4b").wrote(verdict=Verdict.REVISE, findings=(MAJOR,))
    bench.until("checkpoint-b")
    retry(bench, "phase-4")
    assert bench.state.rounds.get("phase-3b") == 1
    assert "phase-4b" not in bench.state.rounds
