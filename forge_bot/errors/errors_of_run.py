"""Errors of a run: what it can do now, which reports it takes, its record on disk."""

from forge_bot.errors.error_base import ReportRejected, RunError, StateError
from forge_bot.remedies import (
    ApproveAgain,
    GiveBranchBack,
    RejectWithNotes,
    Resume,
    ShowStatus,
    StartRun,
)


class TimeUsedUp(RunError):
    """The run has been worked on as long as its configuration allows."""

    code = "RUN-006"
    exit_code = 4
    hint = "hints.run.time_used_up"
    usual_remedy = Resume()


class RunBusy(RunError):
    """Another process holds this run."""

    code = "RUN-001"
    hint = "hints.run.run_busy"


class RunEnded(RunError):
    """The run is over: done, failed or abandoned."""

    code = "RUN-002"
    usual_remedy = StartRun()


class NothingToRetry(RunError):
    """There is no such phase to go back to."""

    code = "RUN-003"
    hint = "hints.run.nothing_to_retry"
    usual_remedy = ShowStatus()


class RunMoved(RunError):
    """The branch of the run is not where the workflow knows it to be."""

    code = "TEMPORAL-006"
    hint = "hints.run.run_moved"


class BranchRenamed(RunError):
    """The branch that the run belongs to is gone, and another one has its record."""

    code = "RUN-004"
    usual_remedy = GiveBranchBack()


class CannotUpdate(RunError):
    """The base branch cannot be merged into the run now."""

    code = "RUN-005"
    usual_remedy = ShowStatus()


class StepFailed(RunError):
    """A step of a pipeline cannot be carried out with what it takes."""

    code = "STEP-001"
    hint = "hints.run.step_failed"


class NotStarted(ReportRejected):
    """A report came before the one that starts a run."""

    code = "REPORT-002"


class WrongAction(ReportRejected):
    """The report names an action that is not outstanding."""

    code = "REPORT-003"


class WrongReport(ReportRejected):
    """The outstanding action is not answered by a report of this kind."""

    code = "REPORT-004"


class NoGateOpen(ReportRejected):
    """An answer came while nothing was asked."""

    code = "GATE-001"
    hint = "hints.run.no_gate_open"
    usual_remedy = ShowStatus()


class StaleApproval(ReportRejected):
    """The approval names another text than the one that waits, or nothing was shown before it."""

    code = "GATE-002"
    hint = "hints.run.stale_approval"
    usual_remedy = ApproveAgain()


class NotesRequired(ReportRejected):
    """A rejection without a reason helps nobody."""

    code = "GATE-003"
    hint = "hints.run.notes_required"
    usual_remedy = RejectWithNotes()


class AnswerNotOffered(ReportRejected):
    """The open gate does not take this answer."""

    code = "GATE-004"
    hint = "hints.run.answer_not_offered"


class NeedsTerminal(ReportRejected):
    """A person's answer was given where no person sits."""

    code = "GATE-005"
    hint = "hints.run.needs_terminal"


class ReportsDamaged(StateError):
    """reports.jsonl, the truth about a run, cannot be read to its end."""

    code = "STATE-001"
    hint = "hints.run.reports_damaged"


class OtherSchema(StateError):
    """The run was written by a version with another state schema."""

    code = "STATE-002"
    hint = "hints.run.other_schema"


class PathEscapes(StateError):
    """A path leads out of the folder it has to stay in."""

    code = "STATE-003"
    hint = "hints.run.path_escapes"


class WriteFailed(StateError):
    """A file could not be written whole; the old one is untouched."""

    code = "STATE-004"
    hint = "hints.run.write_failed"
    usual_remedy = Resume()


class MachineRefused(StateError):
    """The operating system would not read, write or start something."""

    code = "STATE-005"
    hint = "hints.run.machine_refused"
    usual_remedy = Resume()


class DiskFull(StateError):
    """A disk has no room for what has to be written; nothing that was recorded is lost."""

    code = "STATE-006"
    hint = "hints.run.disk_full"
    usual_remedy = Resume()


class RecordChanged(StateError):
    """reports.jsonl was changed or replaced by another program while a process worked on the run;
    nothing was added to it.
    """

    code = "STATE-007"
    hint = "hints.run.record_changed"
    usual_remedy = Resume()


class CommitsRefused(RunError):
    """An error for commits that a worker may not make; they were not pushed."""

    code = "BOT-001"
    hint = "hints.run.commits_refused"


class BranchMoved(RunError):
    """Somebody else pushed to the run's branch first."""

    code = "BOT-002"
    hint = "hints.run.branch_moved"


class NothingDelivered(RunError):
    """The job that worked left nothing that could be read: its machine was lost, or something spoke
    in its place.
    """

    code = "BOT-003"
    hint = "hints.run.nothing_delivered"
