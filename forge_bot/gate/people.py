"""People: the account that a payload names, its role in the repository, and whether it may use
forge-bot, by one pure function for labels, comments, dispatches, re-runs and wakes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from forge_bot.forge.types import Account, AccountKind, ActorPart, Membership, Role, UnknownRole
from forge_bot.sentences import say


class RequestedOperation(StrEnum):
    """The operation that is asked for."""

    START = "start"
    COMMAND = "command"
    RESUME = "resume"
    """Go on with what was allowed before. Nothing new is asked for."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request and the people behind it. Everybody named here has to be allowed; an account that
    is None was deleted or hidden. The gate makes it of an event, and whoever reads the thread of a
    comment: no fact has a default, so that both state all of them.
    """

    operation: RequestedOperation
    people: Mapping[ActorPart, Account | None]
    edited: bool
    via_app: str


@dataclass(frozen=True, slots=True)
class Policy:
    """The role that is needed, and the account that forge-bot itself writes with."""

    floor: Role = Role.WRITE
    own: str = "github-actions[bot]"


class DenyReason(StrEnum):
    """The reason why somebody is refused. An unknown role is a reason too."""

    NOT_A_PERSON = "not-a-person"
    VIA_APP = "via-app"
    EDITED = "edited"
    NOT_THE_AUTHOR = "not-the-author"
    UNVERIFIED = "unverified"
    ROLE = "role"


@dataclass(frozen=True, slots=True)
class Allowed:
    """Everybody concerned may do it; `by` is in whose name it is done."""

    by: Account


@dataclass(frozen=True, slots=True)
class Denied:
    """It is not done. The sentence is plain text and may name the account."""

    ground: DenyReason
    sentence: str
    who: str = ""

    @property
    def is_answered(self) -> bool:
        """Return whether the refusal is posted in the thread. Bots and absent people get no answer:
        a bot might answer back.
        """
        return self.ground not in {DenyReason.NOT_A_PERSON, DenyReason.NOT_THE_AUTHOR}


def to_ask_about(attempt: Attempt, policy: Policy) -> tuple[str, ...]:
    """Return the names whose roles decide, each once; none when it is refused without."""
    if _refused_unasked(attempt, policy) is not None:
        return ()
    people = (
        account
        for account in attempt.people.values()
        if account is not None and account.kind is AccountKind.PERSON
    )
    return tuple({account.login.casefold(): account.login for account in people}.values())


def authorise(
    attempt: Attempt, memberships: Mapping[str, Membership], policy: Policy
) -> Allowed | Denied:
    """Return whether it may be done. `memberships` holds GitHub's answer for each name of
    `to_ask_about`; a missing one counts as unknown.

    The author of a comment has to be its sender. Bots may do nothing, but for the own one, which
    may wake its own run.
    """
    if (refused := _refused_unasked(attempt, policy)) is not None:
        return refused
    for login in to_ask_about(attempt, policy):
        role = memberships.get(login, UnknownRole("nobody asked GitHub"))
        if isinstance(role, UnknownRole):
            sentence = f"the role of @{login} could not be found out: {role.reason}"
            return Denied(DenyReason.UNVERIFIED, sentence, login)
        if role < policy.floor:
            sentence = f"@{login} has the role {role.word}; {policy.floor.word} is needed"
            return Denied(DenyReason.ROLE, sentence, login)
    accounts = (attempt.people.get(part) for part in ActorPart)
    return Allowed(next(account for account in accounts if account is not None))


def _refused_unasked(attempt: Attempt, policy: Policy) -> Denied | None:
    """Return the ground that needs no role to be known."""
    for part, account in attempt.people.items():
        if (refused := _no_person(part, account, attempt.operation, policy)) is not None:
            return refused
    if attempt.via_app:
        return Denied(DenyReason.VIA_APP, say("gate.authorise.through_an_app", app=attempt.via_app))
    if attempt.edited:
        return Denied(DenyReason.EDITED, say("gate.authorise.edited"))
    author, sender = attempt.people.get(ActorPart.AUTHOR), attempt.people.get(ActorPart.SENDER)
    if author is None or sender is None or (author.id == sender.id and author.named(sender.login)):
        return None
    sentence = f"@{sender.login} sent what @{author.login} wrote"
    return Denied(DenyReason.NOT_THE_AUTHOR, sentence, sender.login)


def _no_person(
    part: ActorPart, account: Account | None, operation: RequestedOperation, policy: Policy
) -> Denied | None:
    if account is None or account.kind is AccountKind.GHOST:
        return Denied(DenyReason.NOT_A_PERSON, f"the {part} is no longer there")
    is_bot = account.kind is AccountKind.BOT
    wakes_itself = operation is RequestedOperation.RESUME and account.named(policy.own)
    if account.kind is AccountKind.PERSON or (is_bot and wakes_itself):
        return None
    sentence = f"the {part} {account.login} is {'a bot' if is_bot else 'not a person'}"
    return Denied(DenyReason.NOT_A_PERSON, sentence, account.login)
