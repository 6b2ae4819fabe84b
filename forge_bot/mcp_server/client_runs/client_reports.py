"""Checks a client's reports against the tree, and passes them to the engine; the steps by which a
client publishes.
"""

import re
from typing import NamedTuple

from forge_bot.engine import Exec, SpawnAgent, WriteFile
from forge_bot.engine.gates import can_be_posted, may_post
from forge_bot.engine.reports import ActionFailed, PublicationAsked, Published, head_of
from forge_bot.errors import ActionUnnamed, NothingVisible, WrongAction
from forge_bot.forge import comment_command, pull_request_command
from forge_bot.interaction.pull_request import PullRequestText
from forge_bot.mcp_server.client_runs.client_agents import report_work, tell_failed_agents
from forge_bot.mcp_server.client_runs.client_tree import last_dispatch
from forge_bot.mcp_server.tool_schemas import PhaseReport, Previous
from forge_bot.runs.branch_for_merge import Offer, offer
from forge_bot.runs.builtin_actions import written
from forge_bot.runs.publish_result import (
    PULL_REQUEST,
    comment_text,
    pull_request_text,
    wanted_pull_request,
)
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now

PUSH = ".push"
"""The addition to an action's id for the step that only prepares the publication."""

_OURS = {"prepare", "verify", "apply-held", "call-tools"}
"""Operations that our own process does, whatever a client claims."""

_LONGEST_WORDS = 4_000
"""The most characters of a client's words about a failure."""

_URL = re.compile(r"https?://[^\s\"'<>]+/(?:pull|pulls|merge_requests)/\d+", re.IGNORECASE)


def record_client_report(run: Run, previous: Previous) -> PhaseReport | None:
    """Report the client's work to the engine; return None for a repeated or empty report.

    Raises WrongAction, ActionUnnamed, NothingVisible, ArtifactUnfit, OutOfBounds, ForeignCommits.
    The run is then unchanged.
    """
    action, name = run.action, previous.action_id
    if name and name != action.action_id and _is_known(run, name):
        return None
    if name and name.removesuffix(PUSH) != action.action_id:
        raise WrongAction(f"{name} is not outstanding; what is: {action.action_id}.")
    if isinstance(action, Exec) and action.operation in _OURS:
        return None
    if previous.error and isinstance(action, SpawnAgent | WriteFile | Exec):
        return _report_failure(run, action, previous)
    match action:
        case SpawnAgent():
            return report_work(run, action, previous)
        case WriteFile():
            return _report_file(run, action, previous)
        case Exec():
            return _report_command(run, action, previous)
        case _:
            return None


def _is_known(run: Run, name: str) -> bool:
    plain = name.removesuffix(PUSH)
    return any(key == plain or key.startswith(f"{plain}/") for key in run.state.seen)


def _report_failure(
    run: Run, action: SpawnAgent | WriteFile | Exec, previous: Previous
) -> PhaseReport:
    """Report that the client failed. An agent is asked once more; of a file or a command a person
    decides whether it is tried again.
    """
    if not previous.action_id:
        raise ActionUnnamed("A failure leaves nothing to see.")
    words = previous.error[:_LONGEST_WORDS]
    if isinstance(action, SpawnAgent):
        tell_failed_agents(run, action, previous, words)
    else:
        run.tell(ActionFailed(**head_of(action.action_id, now()), message=words))
    return PhaseReport(
        state_updated=True,
        next_action_hint="revision_required",
        display_message=f"{run.pipeline.phase(action.phase).label}: failed",
    )


# -- files and commands
# --------------------------------------------------------------------------------------------------


def _report_file(run: Run, action: WriteFile, previous: Previous) -> PhaseReport | None:
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


def _report_command(run: Run, action: Exec, previous: Previous) -> PhaseReport:
    label = run.pipeline.phase(action.phase).label
    step = last_dispatch(run.places)
    # A host that knows no ids reports the step that was handed out last.
    name = previous.action_id or (step.action_id if step is not None else "")
    only_pushed = previous.setup_only or name == f"{action.action_id}{PUSH}"
    if only_pushed or action.operation == "final-commit":
        if not is_pushed(run):
            raise NothingVisible(f"{run.state.branch} is not at its remote as it is here.")
        if only_pushed:
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


class PublishStep(NamedTuple):
    """One argument list for the client; `setup_only` if another follows in the same phase."""

    commands: tuple[str, ...]
    setup_only: bool = False


def make_publish_step(run: Run, action: Exec) -> PublishStep | Published | PublicationAsked:
    """Return the client's next step of a publication. If there is none, return its report; if a
    person is asked first, the report of that.
    """
    match action.operation:
        case "pull-request":
            return _open_pull_request(run, action)
        case "post-to-source":
            return _post_summary(run, action)
        case _:
            return _push_last(run, action)


def _open_pull_request(run: Run, action: Exec) -> PublishStep | Published:
    offered = offer(run)
    written = pull_request_text(run, offered)
    run.workspace.write(PULL_REQUEST, f"# {written.title}\n\n{written.body}")
    if not offered.branch:
        reason = f"there is no pull request: {offered.said}"
        return report_publication(run, action, reason)
    if run.repository.remote_url() is None:
        return report_publication(
            run, action, f"there is no remote to open a pull request at; its text is {PULL_REQUEST}"
        )
    return _push_and_offer(run, offered, written)


def _list_branches(run: Run) -> tuple[str, ...]:
    """Return the branches that are to be at the remote. One that was not moved is the client's."""
    offered = offer(run)
    named = (run.state.branch, "" if offered.left_behind else offered.branch)
    return tuple(dict.fromkeys(filter(None, named)))


def is_pushed(run: Run) -> bool:
    """Return whether the remote has the branches of the run as they are here."""
    return all(run.repository.pushed(branch) for branch in _list_branches(run))


def _post_summary(run: Run, action: Exec) -> PublishStep | Published | PublicationAsked:
    source = run.state.source
    if run.state.flags.skip_pr:
        return report_publication(
            run, action, f"the result was not posted to {source.url}: the run was begun with --nopr"
        )
    if can_be_posted(run.pipeline, run.state):
        if not may_post(run.pipeline, run.state):
            return PublicationAsked(
                key=f"{action.action_id}/asked", at=now(), action_id=action.action_id
            )
        return PublishStep(comment_command(source.url, comment_text(run)))
    path = f"{run.workspace.relative}/{run.pipeline.summary}"
    by_hand = f"the result was not posted to {source.url}: post {path} there by hand"
    return report_publication(run, action, by_hand)


def _push_last(run: Run, action: Exec) -> PublishStep | Published:
    offered = offer(run)
    if not run.state.pull_request:
        place = offered.branch or run.state.branch
        return report_publication(run, action, f"the work is on the branch {place}")
    return _push_and_offer(run, offered, pull_request_text(run, offered))


def _push_and_offer(run: Run, offered: Offer, written: PullRequestText) -> PublishStep:
    """Return the step that pushes the branches; once they are pushed, that of the pull request."""
    if not is_pushed(run):
        push = ("git", "push", "--set-upstream", "origin", *_list_branches(run))
        return PublishStep(push, setup_only=True)
    wanted = wanted_pull_request(run, offered.branch, written)
    return PublishStep(pull_request_command(wanted, run.state.pull_request, whole=True))


def report_publication(run: Run, action: Exec, detail: str, url: str = "") -> Published:
    """Return the report that there is nothing left to publish."""
    opens = action.operation == "pull-request"
    branch = offer(run).branch if opens else run.state.pull_request_branch
    return Published(
        **head_of(action.action_id, now()),
        detail=detail,
        url=url,
        branch=branch,
    )
