"""Checks a client's reports against the tree, and passes them to the engine."""

import re

from forge_bot.engine import Exec, SpawnAgent, WriteFile
from forge_bot.engine.reports import ActionFailed, head_of
from forge_bot.errors import ActionUnnamed, NothingVisible, WrongAction
from forge_bot.mcp_server.client_runs.check_worktree import ClientTries
from forge_bot.mcp_server.client_runs.client_agent_reports import (
    LONGEST_WORDS,
    agent_failed,
    agent_worked,
)
from forge_bot.mcp_server.client_runs.publish_steps import is_pushed, publication
from forge_bot.mcp_server.tool_schemas import PhaseReport, Previous
from forge_bot.runs.builtin_actions import written
from forge_bot.runs.publishing.publish_result import PULL_REQUEST
from forge_bot.runs.publishing.pull_request_branch import is_separate
from forge_bot.runs.run import Run
from forge_bot.runs.wall_clock import now
from forge_bot.sentences import say

PUSH = ".push"
"""The addition to an action's id for the step that only prepares the publication."""

_URL = re.compile(r"https?://[^\s\"'<>]+/(?:pull|pulls|merge_requests)/\d+", re.IGNORECASE)


def report(run: Run, said: Previous, tries: ClientTries) -> PhaseReport | None:
    """Report the client's work to the engine; return None for a repeated or empty report.

    Raises WrongAction, ActionUnnamed, NothingVisible, ArtifactUnfit, OutOfBounds, ForeignCommits.
    The run is then unchanged.
    """
    action = run.action
    if said.action_id and _is_known(run, said.action_id) and said.action_id != action.action_id:
        return None
    if said.action_id and said.action_id.removesuffix(PUSH) != action.action_id:
        raise WrongAction(
            say(
                "client.client_reports.not_outstanding",
                action_id=said.action_id,
                outstanding=action.action_id,
            )
        )
    match action:
        case SpawnAgent():
            return (
                agent_failed(run, action, said)
                if said.error
                else agent_worked(run, action, said, tries)
            )
        case WriteFile():
            return _file_written(run, action, said)
        case Exec():
            return _executed(run, action, said)
        case _:
            return None


def _is_known(run: Run, name: str) -> bool:
    plain = name.removesuffix(PUSH)
    return any(key == plain or key.startswith(f"{plain}/") for key in run.state.seen)


# -- files and commands
# --------------------------------------------------------------------------------------------------


def _file_written(run: Run, action: WriteFile, said: Previous) -> PhaseReport | None:
    if said.error:
        if not said.action_id:
            raise ActionUnnamed(say("client.client_reports.failure_leaves_no_trace"))
        return _not_done(run, action, said.error)
    raw = run.workspace.read_bytes(action.path)
    if raw is None or raw.decode("utf-8", "replace").strip() != action.content.strip():
        if not said.action_id:
            return None
        raise NothingVisible(
            say(
                "client.client_reports.file_has_other_content",
                relative=run.workspace.relative,
                path=action.path,
                action_id=action.action_id,
            )
        )
    report = written(action, run)
    run.tell(report)
    label = run.pipeline.phase(action.phase).label
    return PhaseReport(
        state_updated=True,
        artifact_written=action.path,
        verdict_parsed=report.inspection.verdict,
        next_action_hint="setup_continue",
        display_message=f"{label}: {action.path}",
    )


def _not_done(run: Run, action: WriteFile | Exec, error: str) -> PhaseReport:
    """Report that the client failed; a person decides whether it is tried again."""
    run.tell(
        ActionFailed(
            **head_of(action.action_id, now()),
            message=error[:LONGEST_WORDS],
        )
    )
    return PhaseReport(
        state_updated=True,
        next_action_hint="revision_required",
        display_message=f"{run.pipeline.phase(action.phase).label}: failed",
    )


def _executed(run: Run, action: Exec, said: Previous) -> PhaseReport | None:
    if action.operation in {"prepare", "verify", "apply-held", "call-tools"}:
        # Our own process does these, whatever a client claims.
        return None
    if not said.action_id:
        raise ActionUnnamed(
            say("client.client_reports.cannot_be_checked", action_id=action.action_id)
        )
    label = run.pipeline.phase(action.phase).label
    if said.error:
        return _not_done(run, action, said.error)
    if said.action_id.endswith(PUSH) or action.operation == "final-commit":
        if not is_pushed(run):
            raise NothingVisible(
                say("client.client_reports.branch_not_pushed", branch=run.state.branch)
            )
        last = action.operation == "final-commit" and not is_separate(run.state)
        if said.action_id.endswith(PUSH) and not last:
            return PhaseReport(
                state_updated=False,
                next_action_hint="setup_continue",
                display_message=f"{label}: pushed",
            )
    found = _URL.search(said.output)
    if action.operation == "pull-request" and found is None:
        raise NothingVisible(
            say("client.client_reports.no_address_of_pull_request"),
            hint=say("client.client_reports.pass_the_output"),
        )
    url = found[0] if found is not None and action.operation == "pull-request" else ""
    detail = f"opened {url}" if url else f"{label} was done by the client"
    run.tell(publication(run, action, detail, url))
    document = PULL_REQUEST if action.operation == "pull-request" else None
    return PhaseReport(
        state_updated=True, artifact_written=document, display_message=f"{label}: {detail}"
    )
