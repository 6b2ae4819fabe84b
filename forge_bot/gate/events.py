"""Read off an event which request it makes: one, or nothing with a reason."""

import re
from dataclasses import dataclass
from enum import StrEnum

from forge_bot.forge.types import Account, Event, Nothing, Trigger
from forge_bot.gate.environment_variables import Inputs
from forge_bot.gate.grammar import Command, Mistyped, Start
from forge_bot.gate.parse_comment import parse_comment
from forge_bot.gate.people import Attempt, RequestedOperation

_BRANCH = re.compile(
    r"(?:feature|fix|feat|docs|refactor|perf|test|build|ci|chore|revert)[/-]"
    r"(?P<issue>[1-9]\d{0,8})-\S+"
)


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


def read_request(event: Event | Nothing, inputs: Inputs) -> Intent | Nothing:
    """Return the request in an event."""
    if isinstance(event, Nothing):
        return event
    operation, thread, command = RequestedOperation.RESUME, event.thread, None
    match event.trigger:
        case Trigger.LABEL:
            if inputs.label.casefold() not in {label.casefold() for label in event.labels}:
                return Nothing("the label is not the one that starts a run")
            operation = RequestedOperation.START
        case Trigger.COMMENT:
            mention, bare = inputs.mention, inputs.bare
            command = parse_comment(event.body, inputs.prefix, bare=bare, mention=mention).command
            if command is None:
                return Nothing("the comment holds no command")
            starts = isinstance(command, Start) and not event.on_pull
            operation = RequestedOperation.START if starts else RequestedOperation.COMMAND
        case Trigger.CHECKS:
            thread = issue_of_branch(event.branch) or 0
            if not thread:
                return Nothing("the checks ran for no branch of a run")
        case Trigger.DISPATCH | Trigger.STATE:
            pass
    attempt = Attempt(operation, event.people, event.edited, event.via_app)
    return Intent(event.trigger, thread, attempt, command, event.comment, event.on_pull)


def issue_of_branch(branch: str) -> int | None:
    """Return 42 for `feature/42-fix-auth-timeout`, and for `feature-42-fix-auth-timeout`, as it is
    called beside a branch `feature`; None for a branch that no run on an issue makes.
    """
    match = _BRANCH.fullmatch(branch)
    return None if match is None else int(match["issue"])
