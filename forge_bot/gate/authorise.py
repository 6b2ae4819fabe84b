"""Decides who may use forge-bot, by one pure function for labels, comments, dispatches, re-runs and
wakes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from forge_bot.gate.people import Account, AccountKind
from forge_bot.gate.roles import KnownRole, Membership, Role
from forge_bot.sentences import say


class RequestedOperation(StrEnum):
    """The operation that is asked for."""

    START = "start"
    COMMAND = "command"
    RESUME = "resume"
    """Go on with what was allowed before. Nothing new is asked for."""


class ActorPart(StrEnum):
    """The part somebody has in an event."""

    AUTHOR = "author"
    SENDER = "sender"
    ACTOR = "actor"
    RERUNNER = "triggering actor"


_PARTS = {
    ActorPart.AUTHOR: "gate.authorise.author",
    ActorPart.SENDER: "gate.authorise.sender",
    ActorPart.ACTOR: "gate.authorise.actor",
    ActorPart.RERUNNER: "gate.authorise.rerunner",
}
"""The name of the sentence's words for each part."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request and the people behind it. Everybody named here has to be allowed; an account that
    is None was deleted or hidden.
    """

    operation: RequestedOperation
    people: Mapping[ActorPart, Account | None]
    edited: bool = False
    via_app: str = ""


def attempt_of_comment(
    operation: RequestedOperation,
    author: Account | None,
    sender: Account | None,
    *,
    edited: bool,
    via_app: str,
    others: Mapping[ActorPart, Account | None] | None = None,
) -> Attempt:
    """Return the attempt that a comment with commands is; `others` have a part in the event beside
    author and sender.

    The gate makes it of an event. Whoever reads the thread makes it of the comment. No fact has a
    default, so that both state all of them.
    """
    people = {ActorPart.AUTHOR: author, ActorPart.SENDER: sender, **(others or {})}
    return Attempt(operation, people, edited=edited, via_app=via_app)


@dataclass(frozen=True, slots=True)
class Policy:
    """The role that is needed, and the account that forge-bot itself writes with."""

    floor: Role = Role.WRITE
    own: str = "github-actions[bot]"


class DenyReason(StrEnum):
    """The reason why somebody is refused. An unknown role is a reason too."""

    NOBODY = "nobody"
    GHOST = "ghost"
    BOT = "bot"
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


_TOLD = {DenyReason.ROLE, DenyReason.UNVERIFIED, DenyReason.VIA_APP, DenyReason.EDITED}


@dataclass(frozen=True, slots=True)
class Denied:
    """It is not done. The sentence is plain text and may name the account."""

    ground: DenyReason
    sentence: str
    who: str = ""

    @property
    def told(self) -> bool:
        """Return whether the refusal is posted in the thread. Bots and absent people get no answer:
        a bot might answer back.
        """
        return self.ground in _TOLD


def to_ask_about(attempt: Attempt, policy: Policy) -> tuple[str, ...]:
    """The names whose roles decide, each once; none when it is refused without."""
    if _unfit(attempt, policy) is not None:
        return ()
    people = (
        account
        for account in attempt.people.values()
        if account is not None and account.kind is AccountKind.PERSON
    )
    return tuple({account.login.casefold(): account.login for account in people}.values())


def authorise(
    attempt: Attempt, standings: Mapping[str, Membership], policy: Policy
) -> Allowed | Denied:
    """Return whether it may be done. `standings` holds GitHub's answer for each name of
    `to_ask_about`; a missing one counts as unknown.

    The author of a comment has to be its sender. Bots may do nothing, but for the own one, which
    may wake its own run.
    """
    if (refused := _unfit(attempt, policy)) is not None:
        return refused
    for login in to_ask_about(attempt, policy):
        standing = standings.get(login)
        if not isinstance(standing, KnownRole):
            reason = say("gate.authorise.not_asked") if standing is None else standing.reason
            sentence = say("gate.authorise.role_unknown", login=login, reason=reason)
            return Denied(DenyReason.UNVERIFIED, sentence, login)
        if standing.role < policy.floor:
            named = (
                say("gate.authorise.counts_as", name=standing.name, role=standing.role.word)
                if standing.name
                else standing.role.word
            )
            sentence = say(
                "gate.authorise.role_too_low", login=login, named=named, needed=policy.floor.word
            )
            return Denied(DenyReason.ROLE, sentence, login)
    return Allowed(_in_whose_name(attempt))


def _in_whose_name(attempt: Attempt) -> Account:
    named = (attempt.people.get(part) for part in ActorPart)
    return next(account for account in named if account is not None)


def _unfit(attempt: Attempt, policy: Policy) -> Denied | None:
    """The ground that needs no role to be known."""
    if not attempt.people:
        return Denied(DenyReason.NOBODY, say("gate.authorise.nobody"))
    for part, account in attempt.people.items():
        if (refused := _no_person(part, account, attempt.operation, policy)) is not None:
            return refused
    if attempt.via_app:
        return Denied(DenyReason.VIA_APP, say("gate.authorise.through_an_app", app=attempt.via_app))
    if attempt.edited:
        return Denied(DenyReason.EDITED, say("gate.authorise.edited"))
    author, sender = attempt.people.get(ActorPart.AUTHOR), attempt.people.get(ActorPart.SENDER)
    if (
        author is not None
        and sender is not None
        and (author.id != sender.id or not author.named(sender.login))
    ):
        return Denied(
            DenyReason.NOT_THE_AUTHOR,
            say("gate.authorise.not_the_author", sender=sender.login, author=author.login),
            sender.login,
        )
    return None


def _no_person(
    part: ActorPart, account: Account | None, operation: RequestedOperation, policy: Policy
) -> Denied | None:
    if account is None:
        return Denied(DenyReason.GHOST, say("gate.authorise.ghost", part=say(_PARTS[part])))
    match account.kind:
        case AccountKind.PERSON:
            return None
        case AccountKind.BOT:
            if operation is RequestedOperation.RESUME and account.named(policy.own):
                return None
            sentence = say("gate.authorise.bot", part=say(_PARTS[part]), login=account.login)
            return Denied(DenyReason.BOT, sentence, account.login)
        case AccountKind.GHOST:
            return Denied(DenyReason.GHOST, say("gate.authorise.ghost", part=say(_PARTS[part])))
        case AccountKind.ORGANISATION | AccountKind.OTHER:
            sentence = say(
                "gate.authorise.not_a_person", part=say(_PARTS[part]), login=account.login
            )
            return Denied(DenyReason.NOT_A_PERSON, sentence, account.login)
