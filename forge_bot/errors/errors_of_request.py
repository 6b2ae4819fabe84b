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
    hint = "Say what is to be done."
    usual_remedy = StartRun("Fix the timeout in the login handler")


class TaskTooLarge(RequestError):
    """The task is longer than a model should be given as a request."""

    code = "REQUEST-002"
    hint = "Put the long part into a file of the repository and name that file in the task."


class IssueUnavailable(RequestError):
    """The issue behind a URL could not be read."""

    code = "REQUEST-003"
    hint = (
        "Check the address; for a private repository set GITHUB_TOKEN. You can also paste the text"
        " of the issue as the task."
    )


class UnknownRun(RequestError):
    """No run of that name, or none to speak of."""

    code = "REQUEST-004"
    usual_remedy = ListRuns()


class AmbiguousRun(RequestError):
    """More than one run could be meant."""

    code = "REQUEST-005"
    hint = "Say which one with --run NAME."


class UnknownArtifact(RequestError):
    """The run has no artifact of that name."""

    code = "REQUEST-006"
    usual_remedy = ShowStatus()


class UnknownNode(RequestError):
    """The project's graph has no node of that name."""

    code = "REQUEST-008"
    hint = "forge_graph, or `forge-bot graph query PART`, finds the ids of nodes."


class BadOption(RequestError):
    """An option has a value that it cannot have."""

    code = "REQUEST-007"
    usual_remedy = ReadHelp()


class UnknownCapability(RequestError):
    """No tool and no skill has that name."""

    code = "REQUEST-010"
    hint = "`forge-bot capabilities` lists all that there are."


class BadArgument(RequestError):
    """A word of the command line is not of the form that it needs."""

    code = "REQUEST-009"
    hint = "Write --arg name=value, once for each argument."


class GraphViolation(ForgeError):
    """A node of the project's graph breaks what the manifest or the tiers say."""

    exit_code = 2


class ManifestAndCodeDiffer(GraphViolation):
    """The manifest names a node, a dependency or a contract that the code does not have."""

    code = "VERIFY-001"
    hint = "Change the manifest or the code so that both say the same."


class ProposedDependencyUnresolved(GraphViolation):
    """A proposed dependency of a node is nowhere in the graph."""

    code = "VERIFY-002"
    hint = "Write what is proposed, or take the proposal out of the manifest."


class ProposedContractUnresolved(GraphViolation):
    """A proposed contract of a node is nowhere in the graph."""

    code = "VERIFY-003"
    hint = "Write what is proposed, or take the proposal out of the manifest."


class ForbiddenImport(GraphViolation):
    """An import that a rule on tiers, or one of the manifest, does not allow."""

    code = "VERIFY-004"
    hint = "Move what is needed to where both may import it, or change the rule."


class BadArguments(RequestError):
    """A tool was called with arguments that it does not have, or with values they cannot have."""

    code = "MCP-001"
    hint = "Call it again with arguments that fit the tool's input schema."


class NotServed(RequestError):
    """A path outside of the folders this server serves."""

    code = "MCP-002"
    hint = "Name a workspace under .specs of a served folder; forge://mcp/roots lists them."


class UnknownWorkspace(RequestError):
    """There is no run in that workspace."""

    code = "MCP-003"
    hint = "Use the workspace that pipeline_init_with_context returned, or one that run_list shows."


class WrongBranch(SetupError):
    """Another branch is checked out than the one the run is on."""

    code = "MCP-004"
    hint = "Check out the run's branch and call again."


class NothingVisible(ReportRejected):
    """A report on an action without the effect that the action has."""

    code = "MCP-005"
    hint = (
        "Do what the action asks, or report previous_error if it cannot be done; then report again."
    )


class ActionUnnamed(ReportRejected):
    """An error for an action whose effect cannot be seen: its report must name it."""

    code = "MCP-006"
    hint = "Report again with the action_id of the action."


class OutOfBounds(ReportRejected):
    """Files were changed that the phase must not change."""

    code = "MCP-007"
    hint = "Undo the changes with git restore, or commit them elsewhere, and report again."


class ForeignCommits(ReportRejected):
    """The branch got commits that the run did not make, while an agent was at work."""

    code = "MCP-008"
    hint = (
        "Take them back into the work tree with git reset --soft, and report again: the run commits"
        " by itself."
    )


class ArtifactUnfit(ReportRejected):
    """The artifact is missing or is not what its phase needs; the details say what to put right."""

    code = "MCP-009"
    hint = "Put that right in the file and report again."


class ContextMissing(RequestError):
    """An error for a call without the text of the issue."""

    code = "MCP-010"
    hint = (
        "Fetch the fields that pipeline_init named under fetch_needed, and pass them as"
        " external_context."
    )


class AskedElsewhere(ReportRejected):
    """The person is asked by the client itself, so an answer in the arguments does not count."""

    code = "MCP-011"
    hint = "Call pipeline_next_action without user_response; the client shows the question."


class PersonDecides(ReportRejected):
    """A client wants to end a run, or send it back, past a question that is a person's to
    answer.
    """

    code = "MCP-014"
    hint = "Let the person decide."


class SessionOnlyLooks(ReportRejected):
    """A tool that changes something was called in a session that only looks."""

    code = "MCP-015"
    hint = "The prompt forge/start, without dry_run, begins a session that may change things."


class Interrupted(RunError):
    """The work was ended while it was under way; nothing of that was recorded."""

    code = "MCP-012"
    hint = "Start it again and ask for the next action: it begins anew where the run stands."


class PortTaken(SetupError):
    """The port for MCP clients cannot be had on this machine."""

    code = "MCP-013"
    hint = "Name another one with --port, or end the program that has it."
