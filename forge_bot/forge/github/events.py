"""GitHub's events: what happened, read from the payload that a job is started with. The forms are
those of https://docs.github.com/en/webhooks/webhook-events-and-payloads. Nothing raises, whatever a
payload is.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from forge_bot.forge.github.gate_client import read_account
from forge_bot.forge.github.job_step import StepContext
from forge_bot.forge.json_values import Node, read_json
from forge_bot.forge.types import Account, ActorPart, Event, Nothing, Trigger, account_named

_People = Mapping[ActorPart, Account | None]


def read_event(payload: Node, context: StepContext) -> Event | Nothing:
    """Return what happened. Whoever started this run of the workflow, also a second time, is one of
    the people concerned.
    """
    people = {
        ActorPart.SENDER: read_account(payload["sender"]),
        ActorPart.ACTOR: account_named(context.actor),
        ActorPart.RERUNNER: account_named(context.triggering_actor),
    }
    reader = _READERS.get(context.event)
    if reader is None or not payload.exists:
        return Nothing("forge-bot does not listen to this kind of event, or it has no payload")
    return reader(payload, people)


def _issue(payload: Node, people: _People) -> Event | Nothing:
    action, issue = payload.text("action"), payload.number("issue", "number")
    if issue is None or payload.at("issue", "pull_request").exists:
        return Nothing("the event names no issue, and runs start from issues")
    if action in {"closed", "reopened"}:
        return Event(Trigger.STATE, issue, people)
    if action not in {"labeled", "opened"}:
        return Nothing("of what happens to issues, only labels, closing and reopening count")
    labels = [payload["label"]] if action == "labeled" else payload.items("issue", "labels")
    return Event(Trigger.LABEL, issue, people, labels=tuple(_names(labels)))


def _comment(payload: Node, people: _People) -> Event | Nothing:
    thread, comment = payload.number("issue", "number"), payload.number("comment", "id")
    if payload.text("action") != "created" or thread is None or comment is None:
        return Nothing("only new comments are read; edited ones have to be written anew")
    app = payload.at("comment", "performed_via_github_app")
    return Event(
        Trigger.COMMENT,
        thread,
        {ActorPart.AUTHOR: read_account(payload.at("comment", "user")), **people},
        comment=comment,
        body=payload.text("comment", "body"),
        edited=_is_edited(payload["comment"]),
        via_app=(app.text("slug") or "an app") if app.exists else "",
        on_pull=payload.at("issue", "pull_request").exists,
    )


def _is_edited(comment: Node) -> bool:
    """Return whether a comment was changed, or does not say when."""
    created, updated = comment.text("created_at"), comment.text("updated_at")
    return not created or created != (updated or created)


def _dispatch(payload: Node, people: _People) -> Event | Nothing:
    issue = payload.text("inputs", "issue").strip().removeprefix("#")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", issue):
        return Nothing("the dispatch names no issue")
    return Event(Trigger.DISPATCH, int(issue), people)


def _workflow_run(payload: Node, people: _People) -> Event | Nothing:
    run = payload["workflow_run"]
    if run.number("head_repository", "id") != payload.number("repository", "id"):
        return Nothing("the checks ran for a branch of another repository")
    return _checks(payload, run, people)


def _checks(payload: Node, check: Node, people: _People) -> Event | Nothing:
    """Return that checks failed on a branch with a pull request that lies in this repository:
    branches of forks may have any name.
    """
    failed = check.text("conclusion") in {"failure", "timed_out"}
    if payload.text("action") != "completed" or not failed:
        return Nothing("the checks are not finished, or did not fail")
    repository = payload.number("repository", "id")
    heads = [pull.number("head", "repo", "id") for pull in check.items("pull_requests")]
    if repository is None or repository not in heads:
        return Nothing("the checks ran for no pull request of this repository")
    return Event(Trigger.CHECKS, 0, people, branch=check.text("head_branch"))


_READERS: dict[str, Callable[[Node, _People], Event | Nothing]] = {
    "issues": _issue,
    "issue_comment": _comment,
    "workflow_dispatch": _dispatch,
    "check_suite": lambda payload, people: _checks(payload, payload["check_suite"], people),
    "workflow_run": _workflow_run,
}


def _names(labels: Iterable[Node]) -> Iterator[str]:
    return (name for label in labels if (name := label.text("name")))


@dataclass(frozen=True, slots=True)
class EventIssue:
    """An issue as its event has it. Title and body are untrusted."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...]


def issue_of_event(payload: str) -> EventIssue | None:
    """Return the issue in the file with the payload of an event; None if there is none."""
    file = Path(payload)
    issue = read_json(file.read_bytes() if file.is_file() else b"")["issue"]
    number = issue.number("number")
    if number is None or issue["pull_request"].exists:
        return None
    labels = tuple(_names(issue.items("labels")))
    return EventIssue(number, issue.text("title"), issue.text("body"), labels)


def payload_of(issue: EventIssue) -> str:
    """Return a payload that `issue_of_event` reads as this issue."""
    labels = [{"name": label} for label in issue.labels]
    return json.dumps({"issue": {**asdict(issue), "labels": labels}})
