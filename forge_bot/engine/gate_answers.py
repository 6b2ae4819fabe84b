"""Apply a person's answer at each kind of gate."""

from datetime import datetime

from forge_bot.engine import call_records
from forge_bot.engine.external_events import CHECKS
from forge_bot.engine.gates import check_answer, decision_of, record_decision
from forge_bot.engine.next_action import action_id, phase_of_wave
from forge_bot.engine.outcomes import Work, accept, after_calls, task_after_work
from forge_bot.engine.phases import GatePhase, PublishPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import Answer, Answered
from forge_bot.engine.state import CallStatus, OpenGate, Reason, State, TaskState, TaskStatus
from forge_bot.engine.transitions import (
    PROCESS,
    add_fix,
    complete,
    end_unchanged,
    go_back,
    hand_out,
)
from forge_bot.values import Finding, RunStatus, Severity


def handle_answer(pipeline: Pipeline, state: State, answer: Answered) -> State:
    """Return the state after an answer that counts.

    Raises an error if the answer does not count.
    """
    gate = check_answer(
        state, answer, action_id(state, state.gate.name if state.gate is not None else None)
    )
    if answer.awaits_others and answer.answer is Answer.APPROVE:
        return state.replace(agreed=(*state.agreed, decision_of(gate, answer)))
    state = record_decision(state, gate, answer)
    match answer.answer:
        case Answer.ABANDON:
            return state.replace(current_phase_status=RunStatus.ABANDONED, wave=None)
        case Answer.SKIP if isinstance(pipeline.phase(gate.name), PublishPhase):
            return complete(pipeline, state, answer.at)
        case Answer.POST:
            # The phase continues, and its host finds that it may post.
            return state
        case Answer.DONE | Answer.SKIP:
            return _done_outside(pipeline, state, gate, answer)
        case Answer.APPROVE:
            return _approve(pipeline, state, gate, answer)
        case Answer.REJECT | Answer.ANSWER:
            return _reject(pipeline, state, gate, answer)


def continue_with_budget(pipeline: Pipeline, state: State, at: datetime) -> State:
    """Return the state after the budget was raised. Everything that waited for money continues."""
    waits = [task for task in state.tasks if task.stuck and task.stuck.reason is Reason.BUDGET]
    tasks = tuple(task.replace(stuck=None) if task in waits else task for task in state.tasks)
    state = state.replace(gate=None, tasks=tasks, current_phase_status=RunStatus.IN_PROGRESS)
    return hand_out(pipeline, state, at) if waits else state


def _done_outside(pipeline: Pipeline, state: State, gate: OpenGate, answer: Answered) -> State:
    task = state.task(gate.task)
    if task is not None:
        status = TaskStatus.PASSED if answer.answer is Answer.DONE else TaskStatus.SKIPPED
        state = state.with_task(task.replace(status=status))
    return hand_out(pipeline, state, answer.at)


# -- approve


def _approve(pipeline: Pipeline, state: State, gate: OpenGate, answer: Answered) -> State:
    if gate.reason is None:
        return complete(pipeline, state, answer.at)
    task = state.task(gate.task)
    match gate.reason:
        case Reason.BUDGET:
            budget = state.budget.with_higher_cap(
                state.first_cap or state.budget.spent, state.first_token_cap
            )
            return continue_with_budget(pipeline, state.replace(budget=budget), answer.at)
        case (
            Reason.INVALID_ARTIFACT
            | Reason.UNREADABLE_VERDICT
            | Reason.ROUNDS_EXHAUSTED
            | Reason.PROTECTED_PATHS
        ) if task is not None:
            return hand_out(pipeline, state.with_task(_accept_task(task, gate.reason)), answer.at)
        case Reason.INVALID_ARTIFACT | Reason.UNREADABLE_VERDICT if gate.report is not None:
            work = Work(pipeline.phase(state.current_phase))
            return accept(pipeline, state, work, gate.report.replace(at=answer.at), anyway=True)
        case Reason.VERIFICATION_RED | Reason.DOUBTFUL_EVIDENCE if state.verification is not None:
            verification = state.verification.replace(accepted=state.verification.red)
            doubts = tuple(dict.fromkeys((*state.accepted_doubts, *verification.doubts)))
            return state.replace(verification=verification, accepted_doubts=doubts, attempts=0)
        case Reason.NOTHING_TO_DO if gate.report is not None:
            unneeded = gate.report.inspection.nothing_to_do
            return end_unchanged(pipeline, state.replace(nothing_to_do=unneeded), answer.at)
        case Reason.UNVERIFIED_APPROVAL:
            return state
        case Reason.TOOL_APPROVAL:
            name = gate.files[0].name
            cleared = call_records.settled(state, name, CallStatus.CLEARED, answer.by)
            return cleared if task is None else cleared.with_task(_free_task(task))
        case Reason.OUTCOME_UNKNOWN:
            phase, task_id = call_records.place(state, gate)
            noted = state.with_note(phase, PROCESS, _TAKEN_AS_MADE, task_id)
            return after_calls(pipeline, noted, answer.at)
        case Reason.CHECKS_RED:
            return state.replace(current_phase_status=RunStatus.COMPLETED)
        case _:
            return complete(pipeline, state, answer.at)


_TAKEN_AS_MADE = "A person takes the call whose outcome is unknown as made."


def _free_task(task: TaskState) -> TaskState:
    return task.replace(stuck=None, attempts=0)


def _accept_task(task: TaskState, reason: Reason) -> TaskState:
    stuck = task.stuck
    free = _free_task(task)
    if reason is Reason.PROTECTED_PATHS:
        return free.replace(status=TaskStatus.CLEARED)
    if stuck is not None and stuck.review:
        return free.replace(status=TaskStatus.PASSED)
    if stuck is not None and stuck.report is not None:
        return task_after_work(free, stuck.report)
    return free


# -- reject


_MENDED_BY_A_TASK = {
    Reason.ROUNDS_EXHAUSTED,
    Reason.VERIFICATION_RED,
    Reason.CHECKS_RED,
    Reason.DOUBTFUL_EVIDENCE,
}


def _reject(pipeline: Pipeline, state: State, gate: OpenGate, answer: Answered) -> State:
    phase = pipeline.phase(gate.name)
    if isinstance(phase, GatePhase):
        state = go_back(pipeline, state, phase.sends_back_to)
        return state.with_note(phase.sends_back_to, answer.by, answer.notes)
    if gate.reason in {Reason.TOOL_APPROVAL, Reason.OUTCOME_UNKNOWN}:
        return _decline_call(pipeline, state, gate, answer)
    task = state.task(gate.task)
    if task is not None:
        return _task_again(pipeline, state, task, answer)
    if gate.reason is Reason.UNVERIFIED_APPROVAL:
        target = state.artifacts[gate.files[0].name].phase
        return go_back(pipeline, state, target).with_note(target, answer.by, answer.notes)
    if gate.reason in _MENDED_BY_A_TASK:
        rounds = {
            name: count
            for name, count in state.rounds.items()
            if name not in {state.current_phase, CHECKS}
        }
        finding = Finding(severity=Severity.CRITICAL, description=answer.notes)
        origin = gate.files[0].name if gate.files else gate.name
        known = gate.report.inspection.findings if gate.report is not None else ()
        return add_fix(
            pipeline,
            state.replace(rounds=rounds),
            origin,
            "Do as the maintainer says",
            (finding, *known),
            answer.at,
        )
    # The phase runs once more, with the notes and with its counters at zero.
    return state.with_note(state.current_phase, answer.by, answer.notes).replace(attempts=0)


def _decline_call(pipeline: Pipeline, state: State, gate: OpenGate, answer: Answered) -> State:
    """Return the state in which the agent is asked again, with the person's notes.

    A call with an unknown outcome is forgotten: if it is asked for again, a person decides again.
    """
    (phase, task_id), name = call_records.place(state, gate), gate.files[0].name
    if gate.reason is Reason.OUTCOME_UNKNOWN:
        state = call_records.without_unknown(state, name)
    else:
        state = call_records.settled(state, name, CallStatus.DECLINED, answer.by)
    task = state.task(task_id)
    if task is not None:
        state = state.with_task(_free_task(task))
    state = state.with_note(phase, answer.by, answer.notes, task_id).replace(attempts=0)
    return after_calls(pipeline, state, answer.at)


def _task_again(pipeline: Pipeline, state: State, task: TaskState, answer: Answered) -> State:
    stuck = task.stuck
    in_review = bool(stuck and stuck.review and stuck.reason is not Reason.ROUNDS_EXHAUSTED)
    phase = phase_of_wave(pipeline, review=in_review).id
    status = TaskStatus.IMPLEMENTED if in_review else TaskStatus.PENDING
    again = task.replace(status=status, stuck=None, attempts=0, rounds=0)
    state = state.with_task(again).with_note(phase, answer.by, answer.notes, task.spec.id)
    return hand_out(pipeline, state, answer.at)
