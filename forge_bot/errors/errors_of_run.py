"""Errors of a run, of what has to be there before it, and of what was asked: a request, a call of
an MCP client, a rule of the project's graph.
"""

from forge_bot.errors.error_base import (
    ForgeError,
    ReportRejected,
    RequestError,
    RunError,
    SetupError,
    StateError,
)
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


class BadConfig(SetupError, code="CONFIG-001"):
    """A file under .forge/ does not say what it should; every problem is listed with its place."""


class BadManifest(SetupError, code="CONFIG-008"):
    """.forge/manifest.yaml does not say what it should; every problem is listed with its place."""


class BadPipeline(SetupError, code="CONFIG-002"):
    """A pipeline descriptor contradicts itself or its schema."""


class BadTemplate(SetupError, code="CONFIG-004"):
    """A prompt template cannot be rendered."""


class NoStateHome(SetupError, code="CONFIG-005"):
    """There is no folder to keep work trees and journals in."""


class BadCapabilities(SetupError, code="CONFIG-006"):
    """forge-mcp.json does not say what it should; every problem is listed with its place."""


class CapabilityMissing(SetupError, code="CONFIG-007"):
    """A server or skill that the configuration calls required cannot be used."""


class BadSigningKey(SetupError, code="CONFIG-010"):
    """The key that commits for merge are to be signed with is missing, or cannot sign."""


class UnknownLanguage(SetupError, code="CONFIG-011"):
    """FORGE_BOT_LANGUAGE names a language that has no sentences."""


class NoTestCommand(SetupError, code="CHECK-001"):
    """No way to test the repository was found, so nothing could be verified."""


class NotReady(SetupError, code="PREFLIGHT-001"):
    """Something stands in the way of a run; found before a model is asked, so nothing was spent."""


class NoSandbox(SetupError, code="SANDBOX-001"):
    """Project commands cannot be locked in on this machine."""


class SandboxFailed(SetupError, code="SANDBOX-002"):
    """The sandbox was there but a command could not be started in it."""


class CannotJudge(SetupError, code="SANDBOX-003"):
    """A command failed because the sandbox lacks something that bubblewrap has: the result says
    nothing about the project.
    """


class CredentialKept(SetupError, code="SANDBOX-005"):
    """Setup left a registry's credential where later commands could read it."""


class SetupNotWalled(SetupError, code="SANDBOX-004"):
    """Setup would run where no network namespace holds it to our proxy, and nobody allowed that."""


class NotInAction(SetupError, code="ACTION-001"):
    """A program that GitHub Actions starts was started by something else."""


class BadInput(SetupError, code="ACTION-002"):
    """An input of the action has a value that it cannot have."""


class TemporalMissing(SetupError, code="TEMPORAL-001"):
    """The client of Temporal is not installed."""


class TemporalServerMissing(SetupError, code="TEMPORAL-002"):
    """The program of Temporal's development server is not installed."""


class TemporalUnavailable(SetupError, code="TEMPORAL-003"):
    """The Temporal server does not answer."""


class TemporalRefused(SetupError, code="TEMPORAL-004"):
    """The Temporal server answers, but not for this namespace or with this access."""


class EmptyTask(
    RequestError,
    code="REQUEST-001",
    remedy=Remedy("start-run", "Fix the timeout in the login handler"),
):
    """The task has no words in it."""


class TaskTooLarge(RequestError, code="REQUEST-002"):
    """The task is longer than a model should be given as a request."""


class IssueUnavailable(RequestError, code="REQUEST-003"):
    """The issue behind a URL could not be read."""


class UnknownRun(RequestError, code="REQUEST-004", hint="", remedy=Remedy("list-runs")):
    """No run of that name, or none to speak of."""


class AmbiguousRun(RequestError, code="REQUEST-005"):
    """More than one run could be meant."""


class UnknownArtifact(RequestError, code="REQUEST-006", hint="", remedy=Remedy("show-status")):
    """The run has no artifact of that name."""


class UnknownNode(RequestError, code="REQUEST-008"):
    """The project's graph has no node of that name."""


class BadOption(RequestError, code="REQUEST-007", hint="", remedy=Remedy("read-help")):
    """An option has a value that it cannot have."""


class GraphViolation(ForgeError, exit_code=2):
    """A node of the project's graph breaks what the manifest or the tiers say."""


class ManifestAndCodeDiffer(GraphViolation, code="VERIFY-001"):
    """The manifest names a node, a dependency or a contract that the code does not have."""


class ProposedDependencyUnresolved(GraphViolation, code="VERIFY-002"):
    """A proposed dependency of a node is nowhere in the graph."""


class ProposedContractUnresolved(GraphViolation, code="VERIFY-003"):
    """A proposed contract of a node is nowhere in the graph."""


class ForbiddenImport(GraphViolation, code="VERIFY-004"):
    """An import that the rules on tiers do not allow."""


class BadArguments(RequestError, code="MCP-001"):
    """A tool was called with arguments that it does not have, or with values they cannot have."""


class NotServed(RequestError, code="MCP-002"):
    """A path outside of the folders this server serves."""


class WrongBranch(SetupError, code="MCP-004"):
    """Another branch is checked out than the one the run is on."""


class NothingVisible(ReportRejected, code="MCP-005"):
    """A report on an action without the effect that the action has."""


class ActionUnnamed(ReportRejected, code="MCP-006"):
    """An error for an action whose effect cannot be seen: its report must name it."""


class OutOfBounds(ReportRejected, code="MCP-007"):
    """Files were changed that the phase must not change."""


class ForeignCommits(ReportRejected, code="MCP-008"):
    """The branch got commits that the run did not make, while an agent was at work."""


class ArtifactUnfit(ReportRejected, code="MCP-009"):
    """The artifact is missing or is not what its phase needs; the details say what to put right."""


class ContextMissing(RequestError, code="MCP-010"):
    """An error for a call without the text of the issue."""


class AskedElsewhere(ReportRejected, code="MCP-011"):
    """The person is asked by the client itself, so an answer in the arguments does not count."""


class PersonDecides(ReportRejected, code="MCP-014"):
    """A client wants to end a run, or send it back, past a question that a person has to answer."""


class SessionOnlyLooks(ReportRejected, code="MCP-015"):
    """A tool that changes something was called in a session that only looks."""


class Interrupted(RunError, code="MCP-012"):
    """The work was ended while it was under way; nothing of that was recorded."""
