"""Turn commands in a thread into reports for the run. Pure: a workflow uses it as well."""

from datetime import datetime
from typing import assert_never

from forge_bot.engine import Checkpoint, HumanGate, Pipeline, next_action
from forge_bot.engine.reports import (
    Abandoned,
    Answer,
    Answered,
    BudgetRaised,
    EffortChanged,
    Report,
    RetryAsked,
)
from forge_bot.engine.state import State
from forge_bot.errors import StaleApproval
from forge_bot.gate import grammar
from forge_bot.gate.grammar import AnswerCommand
from forge_bot.runs.phase_names import phase_named
from forge_bot.runs.typed_answer import person_answer
from forge_bot.values import Effort, Frozen, PhaseId

ReportedCommand = (
    grammar.Approve
    | grammar.Reject
    | grammar.AnswerQuestion
    | grammar.MarkDone
    | grammar.Skip
    | grammar.Abandon
    | grammar.Retry
    | grammar.Continue
    | grammar.Resize
)
"""Commands that are reported to a run. The others only get a reply, or need the issue or a
model.
"""

_COMMENT = "#issuecomment-"
"""In every address of a comment on GitHub."""


class Utterance(Frozen):
    """A command as its report names it: key, time, author, and the address of the comment."""

    key: str
    at: datetime
    by: str
    via: str


def command_key(comment: int, line: int) -> str:
    """Return the key of a command's report: a line of a comment is carried out once."""
    return f"comment-{comment}-{line}"


def report_of(
    command: ReportedCommand, spoken: Utterance, pipeline: Pipeline, state: State
) -> Report | None:
    """Return the report for the run; None if there is nothing to report and the run simply
    continues. Raises BadOption for an unknown phase.
    """
    key, at, by, via = spoken.key, spoken.at, spoken.by, spoken.via
    match command:
        case (
            grammar.Approve()
            | grammar.Reject()
            | grammar.AnswerQuestion()
            | grammar.MarkDone()
            | grammar.Skip()
            | grammar.Abandon()
        ):
            return _answer(command, spoken, pipeline, state)
        case grammar.Retry(phase=None) if (
            state.gate is None and not state.ended and not command.notes
        ):
            return None
        case grammar.Retry():
            phase = (
                phase_named(pipeline, command.phase) if command.phase is not None else _here(state)
            )
            return RetryAsked(key=key, at=at, phase=phase, notes=command.notes, by=by, via=via)
        case grammar.Continue():
            more = command.amount
            return BudgetRaised(
                key=key, at=at, amount=more.dollars, tokens=more.tokens, by=by, via=via
            )
        case grammar.Resize():
            return EffortChanged(key=key, at=at, effort=Effort(command.effort), by=by, via=via)
        case _:
            assert_never(command)


def _here(state: State) -> PhaseId:
    return state.gate.resume_at if state.gate is not None else state.current_phase


def _answer(
    command: AnswerCommand,
    spoken: Utterance,
    pipeline: Pipeline,
    state: State,
) -> Answered | Abandoned:
    person = person_answer(command)
    answer = person.answer
    action = next_action(pipeline, state)
    key, at, by, via = spoken.key, spoken.at, spoken.by, spoken.via
    if answer is Answer.ABANDON and not isinstance(action, Checkpoint | HumanGate):
        return Abandoned(key=key, at=at, by=by, via=via)
    gate = action.name if isinstance(action, Checkpoint) else action.phase
    return Answered(
        key=key,
        at=at,
        gate=PhaseId(gate),
        answer=answer,
        digest=_version(command, spoken, state) if isinstance(command, grammar.Approve) else None,
        notes=person.notes,
        choices=person.choices,
        condition=person.condition,
        by=by,
        via=via,
        action_id=action.action_id,
    )


def _version(command: grammar.Approve, spoken: Utterance, state: State) -> str | None:
    """Return the version that an approval means; without a digest the last one that a comment
    before it showed. Raises StaleApproval.

    A version that only a terminal or a client has shown does not count, because nobody in the
    thread has read it. GitHub's times have whole seconds, and nobody reads a version within the
    second in which it is shown.
    """
    gate = state.gate
    if command.digest or gate is None or "approve" not in gate.options:
        return command.digest
    here = [
        showing.digest
        for showing in gate.shown
        if _COMMENT in showing.via and showing.at < spoken.at
    ]
    if not here:
        raise StaleApproval("What waits was not shown here before the approval was given.")
    return here[-1]
