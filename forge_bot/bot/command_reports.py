"""Turn commands in a thread into reports for the run."""

from datetime import datetime
from typing import assert_never

from forge_bot.bot.thread import ThreadCommand
from forge_bot.engine.reports import BudgetRaised, EffortChanged, Report, RetryAsked
from forge_bot.engine.state import State
from forge_bot.errors import StaleApproval
from forge_bot.gate import grammar
from forge_bot.runs.answers import answer, person_answer
from forge_bot.runs.invocation_end import phase_named
from forge_bot.runs.run import Run
from forge_bot.values import Effort, PhaseId

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


def report_of(command: ReportedCommand, spoken: ThreadCommand, run: Run) -> Report | None:
    """Return the report for the run; None if there is nothing to report and the run simply
    continues. Raises BadOption for an unknown phase or option, StaleApproval.
    """
    state = run.state
    key, at, by, via = spoken.key, spoken.comment.created_at, spoken.by, spoken.comment.url
    match command:
        case (
            grammar.Approve()
            | grammar.Reject()
            | grammar.AnswerQuestion()
            | grammar.MarkDone()
            | grammar.Skip()
            | grammar.Abandon()
        ):
            version = _version(command, at, state) if isinstance(command, grammar.Approve) else None
            return answer(run, person_answer(command), via, version, by, key=key, at=at)
        case grammar.Retry(phase=None) if (
            state.gate is None and not state.ended and not command.notes
        ):
            return None
        case grammar.Retry():
            named = command.phase
            phase = phase_named(run.pipeline, named) if named is not None else _here(state)
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


def _version(command: grammar.Approve, at: datetime, state: State) -> str | None:
    """Return the version that an approval means; without a digest the last one that a comment
    before it showed. Raises StaleApproval.

    A version that only a terminal or a client has shown does not count, because nobody in the
    thread has read it. GitHub's times have whole seconds, and nobody reads a version within the
    second in which it is shown.
    """
    gate = state.gate
    if command.digest or gate is None or "approve" not in gate.options:
        return command.digest
    here = [showing.digest for showing in gate.shown if _COMMENT in showing.via and showing.at < at]
    if not here:
        raise StaleApproval("What waits was not shown here before the approval was given.")
    return here[-1]
