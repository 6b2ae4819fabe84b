"""Errors of a run: what it can do now, which reports it takes, its record on disk."""

from forge_bot.errors.error_base import ReportRejected, RunError, StateError
from forge_bot.remedies import Remedy


class TimeUsedUp(RunError, code="RUN-006", remedy=Remedy("resume"), exit_code=4):
    """The run has been worked on as long as its configuration allows."""


class RunBusy(RunError, code="RUN-001"):
    """Another process holds this run."""


class RunEnded(RunError, code="RUN-002", hint="", remedy=Remedy("start-run")):
    """The run is over: done, failed or abandoned."""


class NothingToRetry(RunError, code="RUN-003", remedy=Remedy("show-status")):
    """There is no such phase to go back to."""


class CannotUpdate(RunError, code="RUN-005", hint="", remedy=Remedy("show-status")):
    """The base branch cannot be merged into the run now."""


class UpToDate(CannotUpdate):
    """There is nothing to merge: the run has all of its base branch."""


class StepFailed(RunError, code="STEP-001"):
    """A step of a pipeline cannot be carried out with what it takes."""


class NotStarted(ReportRejected, code="REPORT-002", hint=ReportRejected.hint):
    """A report came before the one that starts a run."""


class WrongAction(ReportRejected, code="REPORT-003", hint=ReportRejected.hint):
    """The report names an action that is not outstanding."""


class WrongReport(ReportRejected, code="REPORT-004", hint=ReportRejected.hint):
    """The outstanding action is not answered by a report of this kind."""


class NoGateOpen(ReportRejected, code="GATE-001", remedy=Remedy("show-status")):
    """An answer came while nothing was asked."""


class StaleApproval(ReportRejected, code="GATE-002", remedy=Remedy("approve-again")):
    """The approval names another text than the one that waits, or nothing was shown before it."""


class NotesRequired(ReportRejected, code="GATE-003", remedy=Remedy("reject-with-notes")):
    """A rejection without a reason helps nobody."""


class AnswerNotOffered(ReportRejected, code="GATE-004"):
    """The open gate does not take this answer."""


class NeedsTerminal(ReportRejected, code="GATE-005"):
    """A person's answer was given where no person sits."""


class ReportsDamaged(StateError, code="STATE-001"):
    """reports.jsonl, the truth about a run, cannot be read to its end."""


class OtherSchema(StateError, code="STATE-002"):
    """The run was written by a version with another state schema."""


class PathEscapes(StateError, code="STATE-003"):
    """A path leads out of the folder it has to stay in."""


class WriteFailed(StateError, code="STATE-004", remedy=Remedy("resume")):
    """A file could not be written whole; the old one is untouched."""


class MachineRefused(StateError, code="STATE-005", remedy=Remedy("resume")):
    """The operating system would not read, write or start something."""


class DiskFull(StateError, code="STATE-006", remedy=Remedy("resume")):
    """A disk has no room for what has to be written; nothing that was recorded is lost."""


class RecordChanged(StateError, code="STATE-007", remedy=Remedy("resume")):
    """reports.jsonl was changed or replaced by another program while a process worked on the run;
    nothing was added to it.
    """


class CommitsRefused(RunError, code="BOT-001"):
    """An error for commits that a worker may not make; they were not pushed."""


class BranchMoved(RunError, code="BOT-002"):
    """Somebody else pushed to the run's branch first."""


class NothingDelivered(RunError, code="BOT-003"):
    """The job that worked left nothing that could be read: its machine was lost, or something spoke
    in its place.
    """
