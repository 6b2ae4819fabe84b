"""Errors of what was asked: a request, a call of an MCP client, a rule of the project's graph."""

from forge_bot.errors.error_base import (
    ForgeError,
    ReportRejected,
    RequestError,
    RunError,
    SetupError,
)
from forge_bot.remedies import Remedy


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


class UnknownCapability(RequestError, code="REQUEST-010"):
    """No tool and no skill has that name."""


class BadArgument(RequestError, code="REQUEST-009"):
    """A word of the command line is not of the form that it needs."""


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


class UnknownWorkspace(RequestError, code="MCP-003"):
    """There is no run in that workspace."""


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


class PortTaken(SetupError, code="MCP-013"):
    """The port for MCP clients cannot be had on this machine."""
