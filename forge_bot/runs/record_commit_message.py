"""Writes the message of a run's commit: one subject and the trailers, made from the report it
records and the state before it.
"""

from forge_bot.engine import Pipeline, Report, State
from forge_bot.engine.gates import UNASKED
from forge_bot.engine.reports import (
    Answer,
    Answered,
    ArtifactWritten,
    CommandsRan,
    Prepared,
    Published,
    RetryAsked,
    RunStarted,
)
from forge_bot.interaction.merge_commit_message import who_answered
from forge_bot.prompts import escape

ACTION = "Forge-Action"
"""The trailer by which the commits of one wave are found again."""

KEPT = "forge-bot: keep the record"
"""The subject of a commit without a report."""

ACCEPTED = "forge-bot: put accepted work on the code branch"
"""The subject of a commit that records what the code branch lacked."""

Trailers = tuple[tuple[str, str], ...]


def subject(report: Report, before: State, pipeline: Pipeline) -> str:
    """The first line of the commit's message."""
    match report:
        case RunStarted():
            return start_subject(report.title)
        case ArtifactWritten(task=task) if (
            task is not None and (known := before.task(task)) is not None
        ):
            what = "review of " if known.status.value == "implemented" else ""
            return f"forge-bot: {what}task {task}, {escape.heading(known.spec.title)}"
        case Answered():
            return f"forge-bot: {report.gate} {report.answer.value}"
        case RetryAsked():
            return f"forge-bot: retry {report.phase}"
        case ArtifactWritten() | Prepared() | CommandsRan() | Published():
            return f"forge-bot: {pipeline.phase(before.current_phase).label}"
        case _:
            return f"forge-bot: {report.type.replace('_', ' ')}"


def start_subject(title: str) -> str:
    """Return the subject of a run's first commit. The title is a stranger's."""
    return f"forge-bot: start “{escape.heading(title)}”"


def trailers(report: Report, before: State) -> Trailers:
    """Return the trailers of a report's commit: run, phase, task, approval."""
    phase = report.phase if isinstance(report, ArtifactWritten) else before.current_phase
    pairs = [("Forge-Run", before.run), ("Forge-Phase", str(phase))]
    if isinstance(report, ArtifactWritten) and report.task is not None:
        pairs += [("Forge-Task", str(report.task)), (ACTION, report.action_id)]
    given = {Answer.APPROVE, Answer.DONE, Answer.SKIP}
    if isinstance(report, Answered) and report.answer in given and report.via != UNASKED:
        pairs.append(("Approved-by", who_answered(report.by, report.via)))
    return tuple(pairs)
