"""From what somebody said to what the run is told, and what they are answered."""

from typing import assert_never

from forge_bot.bot.comments import CommandNames, CommentReply, RunView, command_replies
from forge_bot.bot.thread import ThreadCommand
from forge_bot.engine import Checkpoint, HumanGate
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
from forge_bot.errors import (
    AnswerNotOffered,
    ForgeError,
    NoGateOpen,
    NotesRequired,
    RunEnded,
    StaleApproval,
)
from forge_bot.gate import command_types as said
from forge_bot.runs.phase_names import phase_named
from forge_bot.runs.run import Run
from forge_bot.runs.typed_answer import ANSWER_OF
from forge_bot.values import Effort, PhaseId

Telling = (
    said.Approve
    | said.Reject
    | said.MarkDone
    | said.Skip
    | said.Abandon
    | said.Retry
    | said.Continue
    | said.Resize
)
"""Commands that a run is told of. The others are talk, or need the issue or a model."""

_COMMENT = "#issuecomment-"
"""In every address of a comment on GitHub."""


def report_of(command: Telling, spoken: ThreadCommand, run: Run) -> Report | None:
    """The report for the run; None where there is nothing to tell and the run simply goes on.
    Raises BadOption for an unknown phase.
    """
    key, at, by, via = spoken.key, spoken.comment.created_at, spoken.by, spoken.comment.url
    match command:
        case said.Approve() | said.Reject() | said.MarkDone() | said.Skip() | said.Abandon():
            return _answer(command, spoken, run)
        case said.Retry(phase=None) if (
            run.state.gate is None and not run.state.ended and not command.notes
        ):
            return None
        case said.Retry():
            phase = (
                phase_named(run.pipeline, command.phase)
                if command.phase is not None
                else _here(run.state)
            )
            return RetryAsked(key=key, at=at, phase=phase, notes=command.notes, by=by, via=via)
        case said.Continue():
            more = command.amount
            return BudgetRaised(
                key=key, at=at, amount=more.dollars, tokens=more.tokens, by=by, via=via
            )
        case said.Resize():
            return EffortChanged(key=key, at=at, effort=Effort(command.effort), by=by, via=via)
        case _:
            assert_never(command)


def _here(state: State) -> PhaseId:
    return state.gate.resume_at if state.gate is not None else state.current_phase


def _answer(
    command: said.Approve | said.Reject | said.MarkDone | said.Skip | said.Abandon,
    spoken: ThreadCommand,
    run: Run,
) -> Answered | Abandoned:
    answer = ANSWER_OF[type(command)]
    action = run.action
    key, at, by, via = spoken.key, spoken.comment.created_at, spoken.by, spoken.comment.url
    if answer is Answer.ABANDON and not isinstance(action, Checkpoint | HumanGate):
        return Abandoned(key=key, at=at, by=by, via=via)
    gate = action.name if isinstance(action, Checkpoint) else action.phase
    return Answered(
        key=key,
        at=at,
        gate=PhaseId(gate),
        answer=answer,
        digest=_version(command, spoken, run.state) if isinstance(command, said.Approve) else None,
        notes=command.notes if isinstance(command, said.Reject) else "",
        by=by,
        via=via,
        action_id=action.action_id,
    )


def _version(command: said.Approve, spoken: ThreadCommand, state: State) -> str | None:
    """The version that an approval means; without a digest the one last shown in a comment before
    it. Raises StaleApproval.

    What only a terminal or a client has shown meanwhile, nobody in the thread has read. GitHub's
    times have whole seconds, and within the second in which a version was shown nobody has read it.
    """
    gate = state.gate
    if command.digest or gate is None or "approve" not in gate.options:
        return command.digest
    here = [
        showing.digest
        for showing in gate.shown
        if _COMMENT in showing.via and showing.at < spoken.comment.created_at
    ]
    if not here:
        raise StaleApproval("What waits was not shown here before the approval was given.")
    return here[-1]


def refusal(
    error: ForgeError, command: Telling, view: RunView, commands: CommandNames
) -> CommentReply:
    """Return the reply to somebody whose command was refused."""
    answer = ANSWER_OF[type(command)].value if type(command) in ANSWER_OF else "change"
    gate, decisions = view.state.gate, view.state.decisions
    match error:
        case StaleApproval() if gate is not None:
            return command_replies.stale_approval(
                view, gate, given=command.digest or "" if isinstance(command, said.Approve) else ""
            )
        case AnswerNotOffered() if gate is not None:
            return command_replies.not_offered(view, gate, answer=answer)
        case NotesRequired():
            return command_replies.notes_missing(commands)
        case RunEnded():
            return command_replies.ended_already(view)
        case NoGateOpen() if decisions and isinstance(command, said.Approve | said.Reject):
            return command_replies.already_answered(view, decisions[-1])
        case NoGateOpen():
            return command_replies.nothing_to_answer(view, answer=answer)
        case _:
            return command_replies.cannot(commands, error)
