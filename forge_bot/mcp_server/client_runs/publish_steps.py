"""Publication by the client: the argument lists for it, and the steps with
nothing to do about.
"""

from typing import NamedTuple

from forge_bot.engine import Exec
from forge_bot.engine.gates import can_be_posted, may_post
from forge_bot.engine.reports import PublicationAsked, Published, head_of
from forge_bot.runs.branch_for_merge import offer
from forge_bot.runs.publish_result import (
    PULL_REQUEST,
    comment_text,
    correction,
    creation,
    pull_request_text,
    wanted_pull_request,
)
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now


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
    if not is_pushed(run):
        return _push_branches(run)
    wanted = wanted_pull_request(run, offered.branch, written)
    return PublishStep(creation(wanted, whole=True))


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
        return PublishStep(("gh", "issue", "comment", source.url, "--body", comment_text(run)))
    path = f"{run.workspace.relative}/{run.pipeline.summary}"
    by_hand = f"the result was not posted to {source.url}: post {path} there by hand"
    return report_publication(run, action, by_hand)


def _push_last(run: Run, action: Exec) -> PublishStep | Published:
    offered = offer(run)
    if not run.state.pull_request:
        place = offered.branch or run.state.branch
        return report_publication(run, action, f"the work is on the branch {place}")
    if not is_pushed(run):
        return _push_branches(run)
    wanted = wanted_pull_request(run, offered.branch, pull_request_text(run, offered))
    return PublishStep(correction(wanted, run.state.pull_request, whole=True))


def _push_branches(run: Run) -> PublishStep:
    names = _list_branches(run)
    return PublishStep(("git", "push", "--set-upstream", "origin", *names), setup_only=True)


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
