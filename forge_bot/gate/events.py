"""Finds the request in an event, from the event's name and payload, before it is known whether it
is allowed. Pure; everything that asks for nothing is `Nothing` with a reason.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from forge_bot.forge import StepContext, read_account
from forge_bot.forge.json_values import Node
from forge_bot.forge.types import Account, account_named
from forge_bot.gate.environment_variables import Inputs
from forge_bot.gate.grammar import Command, Mistyped, Start
from forge_bot.gate.parse_comment import parse_comment
from forge_bot.gate.people import ActorPart, Attempt, RequestedOperation

_BRANCH = re.compile(
    r"(?:feature|fix|feat|docs|refactor|perf|test|build|ci|chore|revert)[/-]"
    r"(?P<issue>[1-9]\d{0,8})-\S+"
)


class Trigger(StrEnum):
    """The kind of event that brought the request."""

    LABEL = "label"
    COMMENT = "comment"
    DISPATCH = "dispatch"
    CHECKS = "checks"
    STATE = "state"
    """The issue was closed or opened again: whoever does so asks for no run."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing is asked for, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Intent:
    """Something is asked for. `thread` is where it was written: the issue, or a pull request whose
    issue is not known yet.
    """

    trigger: Trigger
    thread: int
    attempt: Attempt
    command: Command | Mistyped | None = None
    comment: int | None = None
    on_pull: bool = False
    check: int | None = None
    pulls: tuple[int, ...] = ()


class Result(StrEnum):
    """The kinds of result. Only after the first one the later steps run."""

    PROCEED = "proceed"
    NOTHING = "nothing"
    REFUSED = "refused"
    UNVERIFIED = "unverified"
    MISTYPED = "mistyped"
    HELPED = "helped"


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The result, its reason, and the data for the later steps."""

    result: Result
    reason: str
    issue: int | None = None
    by: Account | None = None
    tracking: int | None = None


_People = Mapping[ActorPart, Account | None]


def read_event(name: str, payload: Node, inputs: Inputs, context: StepContext) -> Intent | Nothing:
    """Return the request in an event. `name` is that in GITHUB_EVENT_NAME; the forms are those of
    https://docs.github.com/en/webhooks/webhook-events-and-payloads. Nothing raises, whatever the
    payload is.

    Whoever started this run of the workflow, also a second time, is one of the people concerned.
    """
    people = {
        ActorPart.SENDER: read_account(payload["sender"]),
        ActorPart.ACTOR: account_named(context.actor),
        ActorPart.RERUNNER: account_named(context.triggering_actor),
    }
    reader = _READERS.get(name)
    if reader is None or not payload.exists:
        return Nothing("forge-bot does not listen to this kind of event, or it has no payload")
    return reader(payload, inputs, people)


def _issue(payload: Node, inputs: Inputs, people: _People) -> Intent | Nothing:
    action, issue = payload.text("action"), payload.number("issue", "number")
    if issue is None or payload.at("issue", "pull_request").exists:
        return Nothing("the event names no issue, and runs start from issues")
    if action in {"closed", "reopened"}:
        return _resume(Trigger.STATE, issue, people)
    if action not in {"labeled", "opened"}:
        return Nothing("of what happens to issues, only labels, closing and reopening count")
    labels = [payload["label"]] if action == "labeled" else payload.items("issue", "labels")
    if inputs.label.casefold() not in {label.text("name").casefold() for label in labels}:
        return Nothing("the label is not the one that starts a run")
    attempt = Attempt(RequestedOperation.START, people, edited=False, via_app="")
    return Intent(Trigger.LABEL, issue, attempt)


def _comment(payload: Node, inputs: Inputs, people: _People) -> Intent | Nothing:
    thread, comment = payload.number("issue", "number"), payload.number("comment", "id")
    if payload.text("action") != "created" or thread is None or comment is None:
        return Nothing("only new comments are read; edited ones have to be written anew")
    body = payload.text("comment", "body")
    command = parse_comment(body, inputs.prefix, bare=inputs.bare, mention=inputs.mention).command
    if command is None:
        return Nothing("the comment holds no command")
    app = payload.at("comment", "performed_via_github_app")
    on_pull = payload.at("issue", "pull_request").exists
    starts = isinstance(command, Start) and not on_pull
    attempt = Attempt(
        RequestedOperation.START if starts else RequestedOperation.COMMAND,
        {ActorPart.AUTHOR: read_account(payload.at("comment", "user")), **people},
        edited=_is_edited(payload["comment"]),
        via_app=(app.text("slug") or "an app") if app.exists else "",
    )
    return Intent(Trigger.COMMENT, thread, attempt, command, comment, on_pull)


def _is_edited(comment: Node) -> bool:
    """Return whether a comment was changed after it was written. One that does not say when counts
    as changed.
    """
    created, updated = comment.text("created_at"), comment.text("updated_at")
    return not created or created != (updated or created)


def _dispatch(payload: Node, _inputs: Inputs, people: _People) -> Intent | Nothing:
    issue = payload.text("inputs", "issue").strip().removeprefix("#")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", issue):
        return Nothing("the dispatch names no issue")
    return _resume(Trigger.DISPATCH, int(issue), people)


def _check_suite(payload: Node, _inputs: Inputs, people: _People) -> Intent | Nothing:
    return _checks(payload, payload["check_suite"], people)


def _workflow_run(payload: Node, _inputs: Inputs, people: _People) -> Intent | Nothing:
    run = payload["workflow_run"]
    if run.number("head_repository", "id") != payload.number("repository", "id"):
        return Nothing("the checks ran for a branch of another repository")
    return _checks(payload, run, people)


def _checks(payload: Node, check: Node, people: _People) -> Intent | Nothing:
    """Return that a run goes on because checks failed on its branch. Its pull request lies in this
    repository: branches of forks may have any name.
    """
    failed = check.text("conclusion") in {"failure", "timed_out"}
    if payload.text("action") != "completed" or not failed:
        return Nothing("the checks are not finished, or did not fail")
    repository = payload.number("repository", "id")
    pulls = tuple(
        number
        for pull in check.items("pull_requests")
        if pull.number("head", "repo", "id") == repository is not None
        and (number := pull.number("number")) is not None
    )
    issue = issue_of_branch(check.text("head_branch"))
    if issue is None or not pulls:
        return Nothing("the checks ran for no branch of a run with a pull request here")
    return _resume(Trigger.CHECKS, issue, people, check=check.number("id"), pulls=pulls)


def _resume(
    trigger: Trigger,
    issue: int,
    people: _People,
    *,
    check: int | None = None,
    pulls: tuple[int, ...] = (),
) -> Intent:
    attempt = Attempt(RequestedOperation.RESUME, people, edited=False, via_app="")
    return Intent(trigger, issue, attempt, check=check, pulls=pulls)


_READERS: dict[str, Callable[[Node, Inputs, _People], Intent | Nothing]] = {
    "issues": _issue,
    "issue_comment": _comment,
    "workflow_dispatch": _dispatch,
    "check_suite": _check_suite,
    "workflow_run": _workflow_run,
}


def issue_of_branch(branch: str) -> int | None:
    """Return 42 for `feature/42-fix-auth-timeout`, and for `feature-42-fix-auth-timeout`, as it is
    called beside a branch `feature`; None for a branch that no run on an issue makes.
    """
    match = _BRANCH.fullmatch(branch)
    return None if match is None else int(match["issue"])
