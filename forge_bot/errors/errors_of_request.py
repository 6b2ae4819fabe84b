"""Errors of what was asked: a request, a call of an MCP client, a rule of the project's graph."""

from forge_bot.errors.error_base import (
    ForgeError,
    ReportRejected,
    RequestError,
    RunError,
    SetupError,
)
from forge_bot.remedies import ListRuns, ReadHelp, ShowStatus, StartRun


class EmptyTask(RequestError):
    """The task has no words in it."""

    code = "REQUEST-001"
    hint = "hints.request.empty_task"
    usual_remedy = StartRun("Fix the timeout in the login handler")


class TaskTooLarge(RequestError):
    """The task is longer than a model should be given as a request."""

    code = "REQUEST-002"
    hint = "hints.request.task_too_large"


class IssueUnavailable(RequestError):
    """The issue behind a URL could not be read."""

    code = "REQUEST-003"
    hint = "hints.request.issue_unavailable"


class UnknownRun(RequestError):
    """No run of that name, or none to speak of."""

    code = "REQUEST-004"
    usual_remedy = ListRuns()


class AmbiguousRun(RequestError):
    """More than one run could be meant."""

    code = "REQUEST-005"
    hint = "hints.request.ambiguous_run"


class UnknownArtifact(RequestError):
    """The run has no artifact of that name."""

    code = "REQUEST-006"
    usual_remedy = ShowStatus()


class UnknownNode(RequestError):
    """The project's graph has no node of that name."""

    code = "REQUEST-008"
    hint = "hints.request.unknown_node"


class BadOption(RequestError):
    """An option has a value that it cannot have."""

    code = "REQUEST-007"
    usual_remedy = ReadHelp()


class UnknownCapability(RequestError):
    """No tool and no skill has that name."""

    code = "REQUEST-010"
    hint = "hints.request.unknown_capability"


class BadArgument(RequestError):
    """A word of the command line is not of the form that it needs."""

    code = "REQUEST-009"
    hint = "hints.request.bad_argument"


class GraphViolation(ForgeError):
    """A node of the project's graph breaks what the manifest or the tiers say."""

    exit_code = 2


class ManifestAndCodeDiffer(GraphViolation):
    """The manifest names a node, a dependency or a contract that the code does not have."""

    code = "VERIFY-001"
    hint = "hints.request.manifest_and_code_differ"


class ProposedDependencyUnresolved(GraphViolation):
    """A proposed dependency of a node is nowhere in the graph."""

    code = "VERIFY-002"
    hint = "hints.request.proposed_dependency_unresolved"


class ProposedContractUnresolved(GraphViolation):
    """A proposed contract of a node is nowhere in the graph."""

    code = "VERIFY-003"
    hint = "hints.request.proposed_contract_unresolved"


class ForbiddenImport(GraphViolation):
    """An import that a rule on tiers, or one of the manifest, does not allow."""

    code = "VERIFY-004"
    hint = "hints.request.forbidden_import"


class BadArguments(RequestError):
    """A tool was called with arguments that it does not have, or with values they cannot have."""

    code = "MCP-001"
    hint = "hints.request.bad_arguments"


class NotServed(RequestError):
    """A path outside of the folders this server serves."""

    code = "MCP-002"
    hint = "hints.request.not_served"


class UnknownWorkspace(RequestError):
    """There is no run in that workspace."""

    code = "MCP-003"
    hint = "hints.request.unknown_workspace"


class WrongBranch(SetupError):
    """Another branch is checked out than the one the run is on."""

    code = "MCP-004"
    hint = "hints.request.wrong_branch"


class NothingVisible(ReportRejected):
    """A report on an action without the effect that the action has."""

    code = "MCP-005"
    hint = "hints.request.nothing_visible"


class ActionUnnamed(ReportRejected):
    """An error for an action whose effect cannot be seen: its report must name it."""

    code = "MCP-006"
    hint = "hints.request.action_unnamed"


class OutOfBounds(ReportRejected):
    """Files were changed that the phase must not change."""

    code = "MCP-007"
    hint = "hints.request.out_of_bounds"


class ForeignCommits(ReportRejected):
    """The branch got commits that the run did not make, while an agent was at work."""

    code = "MCP-008"
    hint = "hints.request.foreign_commits"


class ArtifactUnfit(ReportRejected):
    """The artifact is missing or is not what its phase needs; the details say what to put right."""

    code = "MCP-009"
    hint = "hints.request.artifact_unfit"


class ContextMissing(RequestError):
    """An error for a call without the text of the issue."""

    code = "MCP-010"
    hint = "hints.request.context_missing"


class AskedElsewhere(ReportRejected):
    """The person is asked by the client itself, so an answer in the arguments does not count."""

    code = "MCP-011"
    hint = "hints.request.asked_elsewhere"


class PersonDecides(ReportRejected):
    """A client wants to end a run, or send it back, past a question that a person has to answer."""

    code = "MCP-014"
    hint = "hints.request.person_decides"


class SessionOnlyLooks(ReportRejected):
    """A tool that changes something was called in a session that only looks."""

    code = "MCP-015"
    hint = "hints.request.session_only_looks"


class Interrupted(RunError):
    """The work was ended while it was under way; nothing of that was recorded."""

    code = "MCP-012"
    hint = "hints.request.interrupted"


class PortTaken(SetupError):
    """The port for MCP clients cannot be had on this machine."""

    code = "MCP-013"
    hint = "hints.request.port_taken"
