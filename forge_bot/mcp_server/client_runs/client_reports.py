"""Checks a client's reports against the tree, and passes them to the engine."""

import re

from forge_bot.engine import Exec, SpawnAgent, WriteFile
from forge_bot.engine.reports import ActionFailed, head_of
from forge_bot.errors import ActionUnnamed, NothingVisible, WrongAction
from forge_bot.mcp_server.client_runs.check_worktree import ClientTries
from forge_bot.mcp_server.client_runs.client_agent_reports import (
    LONGEST_WORDS,
    report_failure,
    report_work,
)
from forge_bot.mcp_server.client_runs.client_tree import name_outstanding_step
from forge_bot.mcp_server.client_runs.publish_steps import is_pushed, report_publication
from forge_bot.mcp_server.tool_schemas import PhaseReport, Previous
from forge_bot.runs.builtin_actions import written
from forge_bot.runs.publish_result import PULL_REQUEST
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now

PUSH = ".push"
"""The addition to an action's id for the step that only prepares the publication."""

_URL = re.compile(r"https?://[^\s\"'<>]+/(?:pull|pulls|merge_requests)/\d+", re.IGNORECASE)


def record_client_report(run: Run, previous: Previous, tries: ClientTries) -> PhaseReport | None:
    """Report the client's work to the engine; return None for a repeated or empty report.

    Raises WrongAction, ActionUnnamed, NothingVisible, ArtifactUnfit, OutOfBounds, ForeignCommits.
    The run is then unchanged.
    """
    action, name = run.action, previous.action_id
    if name and name != action.action_id and _is_known(run, name):
        return None
    if name and name.removesuffix(PUSH) != action.action_id:
        raise WrongAction(f"{name} is not outstanding; what is: {action.action_id}.")
    match action:
        case SpawnAgent():
            return (
                report_failure(run, action, previous)
                if previous.error
                else report_work(run, action, previous, tries)
            )
        case WriteFile():
            return _report_file(run, action, previous)
        case Exec():
            return _report_command(run, action, previous)
        case _:
            return None


def _is_known(run: Run, name: str) -> bool:
    plain = name.removesuffix(PUSH)
    return any(key == plain or key.startswith(f"{plain}/") for key in run.state.seen)


# -- files and commands
# --------------------------------------------------------------------------------------------------


def _report_file(run: Run, action: WriteFile, previous: Previous) -> PhaseReport | None:
    if previous.error:
        if not previous.action_id:
            raise ActionUnnamed("A failure leaves nothing to see.")
        return _report_failure(run, action, previous.error)
    raw = run.workspace.read_bytes(action.path)
    if raw is None or raw.decode("utf-8", "replace").strip() != action.content.strip():
        if not previous.action_id:
            return None
        raise NothingVisible(
            f"{run.workspace.relative}/{action.path} does not hold the content of"
            f" {action.action_id}."
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


def _report_failure(run: Run, action: WriteFile | Exec, error: str) -> PhaseReport:
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


def _report_command(run: Run, action: Exec, previous: Previous) -> PhaseReport | None:
    if action.operation in {"prepare", "verify", "apply-held", "call-tools"}:
        # Our own process does these, whatever a client claims.
        return None
    label = run.pipeline.phase(action.phase).label
    if previous.error:
        return _report_failure(run, action, previous.error)
    name = f"{action.action_id}{PUSH}" if previous.setup_only else previous.action_id
    name = name or name_outstanding_step(run, action)
    last = action.operation == "final-commit"
    if name.endswith(PUSH) or last:
        if not is_pushed(run):
            raise NothingVisible(f"{run.state.branch} is not at its remote as it is here.")
        if name.endswith(PUSH):
            return PhaseReport(
                state_updated=False,
                next_action_hint="setup_continue",
                display_message=f"{label}: pushed",
            )
    opens = action.operation == "pull-request"
    match = _URL.search(previous.output) if opens else None
    # A host that knows no ids knows no output either: then the address stays unknown.
    if opens and match is None and previous.action_id:
        raise NothingVisible(
            "A pull request has an address.",
            hint="Pass to pipeline_next_action what the command printed, as previous_output.",
        )
    url = match[0] if match is not None else ""
    detail = f"opened {url}" if url else f"{label} was done by the client"
    run.tell(report_publication(run, action, detail, url))
    document = PULL_REQUEST if opens else None
    return PhaseReport(
        state_updated=True, artifact_written=document, display_message=f"{label}: {detail}"
    )
