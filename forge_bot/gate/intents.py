"""Finds the request in an event, before it is known whether it is allowed. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from forge_bot.gate.authorise import ActorPart, Attempt, RequestedOperation, attempt_of_comment
from forge_bot.gate.environment_variables import Inputs, StepContext
from forge_bot.gate.events import (
    CheckFailed,
    CommentCreated,
    Dispatched,
    Event,
    IssueStateChanged,
    LabelAdded,
    Nothing,
)
from forge_bot.gate.grammar import Command, Help, Start
from forge_bot.gate.parse_comment import parse_comment
from forge_bot.gate.people import Account, account_named
from forge_bot.gate.written_command import Mistyped
from forge_bot.sentences import say


class Trigger(StrEnum):
    """The kind of event that brought the request."""

    LABEL = "label"
    COMMENT = "comment"
    DISPATCH = "dispatch"
    CHECKS = "checks"
    STATE = "state"
    """The issue was closed or opened again: whoever does so asks for no run."""


@dataclass(frozen=True, slots=True)
class NoIntent:
    """Nothing is asked for, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Intent:
    """Something is asked for. `thread` is where it was said: the issue, or a pull request whose
    issue is not known yet.
    """

    way: Trigger
    thread: int
    attempt: Attempt
    said: tuple[Command | Mistyped, ...] = ()
    comment: int | None = None
    on_pull: bool = False
    check: int | None = None
    pulls: tuple[int, ...] = ()

    @property
    def mistyped(self) -> tuple[Mistyped, ...]:
        """The lines that were meant as commands and are none."""
        return tuple(part for part in self.said if isinstance(part, Mistyped))

    @property
    def only_help(self) -> bool:
        """Return whether nothing but the list of commands is asked for."""
        return bool(self.said) and all(isinstance(part, Help) for part in self.said)


def intent_of(event: Event, inputs: Inputs, around: StepContext) -> Intent | NoIntent:
    """Return the request in an event. Whoever started this run of the workflow, also a second time,
    is one of the people concerned.
    """
    others = {
        ActorPart.ACTOR: account_named(around.actor),
        ActorPart.RERUNNER: account_named(around.triggering_actor),
    }
    match event:
        case Nothing(reason):
            return NoIntent(reason)
        case LabelAdded(issue, added, sender):
            if inputs.label.casefold() not in {label.casefold() for label in added}:
                return NoIntent(say("gate.intents.other_label"))
            return Intent(
                Trigger.LABEL,
                issue,
                Attempt(RequestedOperation.START, {ActorPart.SENDER: sender, **others}),
            )
        case IssueStateChanged(issue, sender):
            attempt = Attempt(RequestedOperation.RESUME, {ActorPart.SENDER: sender, **others})
            return Intent(Trigger.STATE, issue, attempt)
        case CommentCreated():
            return _of_comment(event, inputs, others)
        case Dispatched(issue, sender):
            attempt = Attempt(RequestedOperation.RESUME, {ActorPart.SENDER: sender, **others})
            return Intent(Trigger.DISPATCH, issue, attempt)
        case CheckFailed(issue, pulls=pulls, check=check, sender=sender):
            attempt = Attempt(RequestedOperation.RESUME, {ActorPart.SENDER: sender, **others})
            return Intent(Trigger.CHECKS, issue, attempt, check=check, pulls=pulls)
        case _:
            assert_never(event)


def _of_comment(
    event: CommentCreated, inputs: Inputs, others: dict[ActorPart, Account | None]
) -> Intent | NoIntent:
    parts = parse_comment(event.body, inputs.prefix, bare=inputs.bare).said
    if not parts:
        return NoIntent(say("gate.intents.no_command"))
    attempt = attempt_of_comment(
        operation_of(parts),
        event.author,
        event.sender,
        edited=event.edited,
        via_app=event.via_app,
        others=others,
    )
    return Intent(
        Trigger.COMMENT,
        event.thread,
        attempt,
        parts,
        event.comment,
        event.on_pull,
    )


def operation_of(parts: Sequence[Command | Mistyped]) -> RequestedOperation:
    """Return the combined intent of a comment's commands."""
    return (
        RequestedOperation.START
        if any(isinstance(part, Start) for part in parts)
        else RequestedOperation.COMMAND
    )
