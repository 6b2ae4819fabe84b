"""Publication by the client: the argument lists for it, and the steps with
nothing to do about.
"""

from typing import NamedTuple

from forge_bot.engine import Exec
from forge_bot.engine.post_to_source import can_be_posted, may_post
from forge_bot.engine.reports import PublicationAsked, Published
from forge_bot.runs.clock import now
from forge_bot.runs.publish import PULL_REQUEST, comment_text, pull_request_text
from forge_bot.runs.run import Run


class PublishStep(NamedTuple):
    """One argument list for the client; `setup_only` if another follows in the same phase."""

    commands: tuple[str, ...]
    setup_only: bool = False


def publish_step(run: Run, action: Exec) -> PublishStep | Published | PublicationAsked:
    """The client's next step of a publication, or the report that there is none to take here, or
    that a person is asked first.
    """
    match action.operation:
        case "pull-request":
            return _pull_request(run, action)
        case "post-to-source":
            return _post(run, action)
        case _:
            return _last_push(run, action)


def _pull_request(run: Run, action: Exec) -> PublishStep | Published:
    state = run.state
    written = pull_request_text(run)
    run.workspace.write(PULL_REQUEST, f"# {written.title}\n\n{written.body}")
    if run.repository.remote_url() is None:
        return _published(
            action, f"there is no remote to open a pull request at; its text is {PULL_REQUEST}"
        )
    if not run.repository.pushed(state.branch):
        return _push(run)
    where = ("--head", state.branch, "--base", state.base_branch)
    return PublishStep(
        ("gh", "pr", "create", *where, "--title", written.title, "--body", written.body)
    )


def _post(run: Run, action: Exec) -> PublishStep | Published | PublicationAsked:
    source = run.state.source
    if run.state.flags.skip_pr:
        return _published(
            action, f"the result was not posted to {source.url}: the run was begun with --nopr"
        )
    if can_be_posted(run.pipeline, run.state):
        if not may_post(run.pipeline, run.state):
            return PublicationAsked(
                key=f"{action.action_id}/asked", at=now(), action_id=action.action_id
            )
        return PublishStep(("gh", "issue", "comment", source.url, "--body", comment_text(run)))
    return _published(
        action,
        f"the result was not posted to {source.url}: post"
        f" {run.workspace.relative}/{run.pipeline.summary} there by hand",
    )


def _last_push(run: Run, action: Exec) -> PublishStep | Published:
    if run.state.pull_request and not run.repository.pushed(run.state.branch):
        return _push(run)
    return _published(action, f"the work is on the branch {run.state.branch}")


def _push(run: Run) -> PublishStep:
    return PublishStep(
        ("git", "push", "--set-upstream", "origin", run.state.branch), setup_only=True
    )


def _published(action: Exec, detail: str, url: str = "") -> Published:
    return Published(
        key=action.action_id, at=now(), action_id=action.action_id, detail=detail, url=url
    )


def done_by_client(action: Exec, detail: str, url: str) -> Published:
    """The report that the client took the last step."""
    return _published(action, detail, url)
