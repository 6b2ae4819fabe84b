"""The reports of the commands that people give to a run, the same on every face."""

from datetime import datetime
from typing import NamedTuple
from uuid import uuid4

from forge_bot.engine.reports import BudgetRaised, EffortChanged, Report, RetryAsked
from forge_bot.gate.grammar import Continue, Reject, Resize, Retry, RunCommand, Update
from forge_bot.runs.answers import answer, person_answer
from forge_bot.runs.branch_for_merge import fetch_for_update, update
from forge_bot.runs.follow_up import Wanted, make_follow_up, offers_change
from forge_bot.runs.invocation_end import phase_named
from forge_bot.runs.run import Run
from forge_bot.values import Effort


class Giver(NamedTuple):
    """The giver of a command, and the place; its key and its time, if it has its own."""

    by: str
    via: str
    key: str = ""
    at: datetime | None = None


def report_of(
    run: Run, command: RunCommand, giver: Giver, version: str | None = None
) -> Report | None:
    """Return the report of a command; None if nothing is to be reported. `version` is the one that
    an approval means. Raises BadOption, CannotUpdate, UpToDate, ReportRejected.
    """
    key, at = giver.key or f"command-{uuid4().hex}", giver.at or run.now()
    by, via, gate = giver.by, giver.via, run.state.gate
    match command:
        case Reject(notes=notes) | Retry(phase=None, notes=notes) if notes and offers_change(run):
            return make_follow_up(run, Wanted(notes), key=key, at=at, by=by, via=via)
        case Retry():
            here = gate.resume_at if gate is not None else run.state.current_phase
            phase = phase_named(run.pipeline, command.phase) if command.phase else here
            return RetryAsked(key=key, at=at, phase=phase, notes=command.notes, by=by, via=via)
        case Update():
            fetch_for_update(run)
            return update(run, key=key, at=at, by=by, via=via)
        case Continue(amount):
            return BudgetRaised(
                key=key, at=at, amount=amount.dollars, tokens=amount.tokens, by=by, via=via
            )
        case Resize(effort):
            return EffortChanged(key=key, at=at, effort=Effort(effort), by=by, via=via)
        case _:
            # Pyright points here at a command without a report.
            return answer(run, person_answer(command), via, version, by, key=key, at=at)
