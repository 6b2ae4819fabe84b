"""Reads an event from its name and payload: a closed union, and everything else is
Nothing with a reason.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from forge_bot.gate.json_payload import Node
from forge_bot.gate.people import Account, read_account
from forge_bot.sentences import say

_BRANCH = re.compile(
    r"(?:feature|fix|feat|docs|refactor|perf|test|build|ci|chore|revert)[/-]"
    r"(?P<issue>[1-9]\d{0,8})-\S+"
)


@dataclass(frozen=True, slots=True)
class LabelAdded:
    """Labels came to an issue: one was put on, or the issue was opened with some."""

    issue: int
    added: tuple[str, ...]
    sender: Account | None


@dataclass(frozen=True, slots=True)
class IssueStateChanged:
    """Somebody closed an issue, or opened it again."""

    issue: int
    sender: Account | None


@dataclass(frozen=True, slots=True)
class CommentCreated:
    """Somebody wrote a comment. On a pull request, `thread` is its number, not an issue's."""

    thread: int
    comment: int
    body: str
    author: Account | None
    sender: Account | None
    on_pull: bool = False
    edited: bool = False
    via_app: str = ""


@dataclass(frozen=True, slots=True)
class Dispatched:
    """Somebody started the workflow by hand or by the API, so that the run of an issue goes on."""

    issue: int
    sender: Account | None


@dataclass(frozen=True, slots=True)
class CheckFailed:
    """Checks failed on a branch of a run that has a pull request in this repository."""

    issue: int
    branch: str
    commit: str
    pulls: tuple[int, ...]
    check: int
    sender: Account | None


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing that concerns forge-bot, and why."""

    reason: str


Event = LabelAdded | IssueStateChanged | CommentCreated | Dispatched | CheckFailed | Nothing

_NEW_STATE = frozenset({"closed", "reopened"})


def read_event(name: str, payload: Node) -> Event:
    """Return the event that a payload describes. `name` is the event's name as in
    GITHUB_EVENT_NAME; the forms are those of
    https://docs.github.com/en/webhooks/webhook-events-and-payloads. Nothing raises, whatever the
    payload is.
    """
    if not payload.exists:
        return Nothing(say("gate.events.no_payload"))
    reader = _READERS.get(name)
    if reader is None:
        return Nothing(say("gate.events.other_event"))
    return reader(payload)


def _issue(payload: Node) -> Event:
    action = payload.text("action")
    issue = payload.number("issue", "number")
    if action not in {"labeled", "opened"} | _NEW_STATE:
        return Nothing(say("gate.events.other_issue_event"))
    if issue is None:
        return Nothing(say("gate.events.no_issue"))
    if payload.at("issue", "pull_request").exists:
        return Nothing(say("gate.events.on_a_pull_request"))
    if action in _NEW_STATE:
        return IssueStateChanged(issue, read_account(payload["sender"]))
    labels = [payload["label"]] if action == "labeled" else payload.items("issue", "labels")
    added = tuple(name for label in labels if (name := label.text("name")))
    if not added:
        return Nothing(say("gate.events.no_label"))
    return LabelAdded(issue, added, read_account(payload["sender"]))


def _comment(payload: Node) -> Event:
    thread, comment = payload.number("issue", "number"), payload.number("comment", "id")
    if payload.text("action") != "created":
        return Nothing(say("gate.events.edited_comment"))
    if thread is None or comment is None:
        return Nothing(say("gate.events.no_comment"))
    body = payload.text("comment", "body")
    if not body:
        return Nothing(say("gate.events.empty_comment"))
    app = payload.at("comment", "performed_via_github_app")
    return CommentCreated(
        thread=thread,
        comment=comment,
        body=body,
        author=read_account(payload.at("comment", "user")),
        sender=read_account(payload["sender"]),
        on_pull=payload.at("issue", "pull_request").exists,
        edited=is_edited(payload["comment"]),
        via_app=(app.text("slug") or say("gate.events.an_app")) if app.exists else "",
    )


def is_edited(comment: Node) -> bool:
    """Return whether a comment says that it was changed after it was written. One that does not say
    when counts as changed.
    """
    created, updated = comment.text("created_at"), comment.text("updated_at")
    return not created or created != (updated or created)


def _dispatch(payload: Node) -> Event:
    written = payload.text("inputs", "issue").strip().removeprefix("#")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", written):
        return Nothing(say("gate.events.dispatch_without_issue"))
    return Dispatched(int(written), read_account(payload["sender"]))


def _check_suite(payload: Node) -> Event:
    return _checks(payload, payload["check_suite"], payload.text("check_suite", "head_branch"))


def _workflow_run(payload: Node) -> Event:
    run = payload["workflow_run"]
    if run.number("head_repository", "id") != payload.number("repository", "id"):
        return Nothing(say("gate.events.other_repository"))
    return _checks(payload, run, run.text("head_branch"))


def _checks(payload: Node, check: Node, branch: str) -> Event:
    number = check.number("id")
    if payload.text("action") != "completed" or number is None:
        return Nothing(say("gate.events.checks_not_finished"))
    if check.text("conclusion") not in {"failure", "timed_out"}:
        return Nothing(say("gate.events.checks_did_not_fail"))
    issue = issue_of_branch(branch)
    if issue is None:
        return Nothing(say("gate.events.no_branch_of_a_run"))
    pulls = _own_pulls(check, payload.number("repository", "id"))
    if not pulls:
        return Nothing(say("gate.events.no_pull_request"))
    return CheckFailed(
        issue, branch, check.text("head_sha"), pulls, number, read_account(payload["sender"])
    )


def _own_pulls(check: Node, repository: int | None) -> tuple[int, ...]:
    """The pull requests whose branch is in this repository; branches of forks may have any name."""
    pulls = (
        pull
        for pull in check.items("pull_requests")
        if pull.number("head", "repo", "id") == repository
    )
    return tuple(
        number
        for pull in pulls
        if repository is not None and (number := pull.number("number")) is not None
    )


_READERS: dict[str, Callable[[Node], Event]] = {
    "issues": _issue,
    "issue_comment": _comment,
    "workflow_dispatch": _dispatch,
    "check_suite": _check_suite,
    "workflow_run": _workflow_run,
}


def issue_of_branch(branch: str) -> int | None:
    """42 for `feature/42-fix-auth-timeout`, and for `feature-42-fix-auth-timeout`, as it is called
    beside a branch `feature`; None for a branch that no run on an issue makes.
    """
    match = _BRANCH.fullmatch(branch)
    return None if match is None else int(match["issue"])
