"""Who may do what: every sort of account, by every kind of event."""

from typing import Any

import pytest

from forge_bot.errors import BadInput
from forge_bot.forge.github.gate_client import read_account, read_membership
from forge_bot.forge.json_values import Node
from forge_bot.forge.types import Account, AccountKind, Membership, Role, UnknownRole, account_named
from forge_bot.gate.environment_variables import read_inputs
from forge_bot.gate.people import (
    ActorPart,
    Allowed,
    Attempt,
    Denied,
    DenyReason,
    Policy,
    RequestedOperation,
    authorise,
    to_ask_about,
)

Json = dict[str, Any]
ROLE, UNVERIFIED, NO_PERSON = DenyReason.ROLE, DenyReason.UNVERIFIED, DenyReason.NOT_A_PERSON
_FLAGS = ("pull", "triage", "push", "maintain")


def account(login: str = "ann", kind: str | None = "User") -> Json:
    return {"login": login, "id": 7} | ({"type": kind} if kind else {})


def answer(role: str = "", permission: str = "", login: str = "ann", flags: int = 0) -> Json:
    """GitHub's answer about somebody's permission, with so many of its flags."""
    user = {**account(login), "permissions": dict.fromkeys(_FLAGS[:flags], True)}
    return {"permission": permission, "role_name": role, "user": user}


# Account, status and answer of GitHub, and the ground to refuse on (None: allowed).
WHO: dict[str, tuple[Json | None, int, Any, DenyReason | None]] = {
    "admin": (account(), 200, answer("admin", "admin"), None),
    "maintain": (account(), 200, answer("maintain", "write"), None),
    "write": (account(), 200, answer("write", "write"), None),
    "triage": (account(), 200, answer("triage", "read"), ROLE),
    "read": (account(), 200, answer("read", "read"), ROLE),
    "none": (account(), 200, answer("none", "none"), ROLE),
    "custom on write": (account(), 200, answer("crew", "write", flags=3), None),
    "custom on maintain": (account(), 200, answer("leads", "write", flags=4), None),
    "custom on triage": (account(), 200, answer("sorters", "read", flags=2), ROLE),
    "custom that contradicts itself": (account(), 200, answer("x", "read", flags=3), ROLE),
    "custom without flags": (account(), 200, answer("x", "write"), ROLE),
    "standard that contradicts itself": (account(), 200, answer("admin", "read"), ROLE),
    "old server, write": (account(), 200, answer("", "write"), None),
    "old server, read": (account(), 200, answer("", "read"), ROLE),
    "upper case in the name": (account("Ann"), 200, answer("write", "write"), None),
    "no permission": (account(), 200, answer("admin", ""), UNVERIFIED),
    "unknown permission": (account(), 200, answer("admin", "owner"), UNVERIFIED),
    "answer about another": (account(), 200, answer("admin", "admin", "bob"), UNVERIFIED),
    "about nobody": (account(), 200, {"permission": "admin", "user": None}, UNVERIFIED),
    "answer that is a list": (account(), 200, [], UNVERIFIED),
    "suspended or renamed": (account(), 404, {}, UNVERIFIED),
    "token without rights": (account(), 403, {}, UNVERIFIED),
    "limit reached": (account(), 429, answer("admin", "admin"), UNVERIFIED),
    "GitHub broken": (account(), 502, answer("admin", "admin"), UNVERIFIED),
    "no answer": (account(), 0, None, UNVERIFIED),
    "renamed repository": (account(), 301, answer("admin", "admin"), UNVERIFIED),
    "ghost": (account("ghost"), 200, answer("admin", "admin", "ghost"), NO_PERSON),
    "deleted": (None, 200, answer("admin", "admin"), NO_PERSON),
    "some app": (account("x[bot]", "Bot"), 200, answer("admin", "admin", "x[bot]"), NO_PERSON),
    "app as a user": (account("x[bot]"), 200, answer("admin", "admin", "x[bot]"), NO_PERSON),
    "bot of any name": (account("Cop", "Bot"), 200, answer("write", "write", "Cop"), NO_PERSON),
    "organisation": (account("octo", "Organization"), 200, answer("admin", "admin"), NO_PERSON),
    "mannequin": (account("old", "Mannequin"), 200, answer("admin", "admin", "old"), NO_PERSON),
    "no type": (account(kind=None), 200, answer("admin", "admin"), NO_PERSON),
}
ROOT = Account("root", AccountKind.PERSON, 1)
BOB = Account("bob", AccountKind.PERSON, 2)
OWN = Account("github-actions[bot]", AccountKind.BOT, 41898282)
_ALL = frozenset(ActorPart)
_NO_AUTHOR = _ALL - {ActorPart.AUTHOR}
# The operation, the parts of the event, and which of them are theirs.
EVENTS = {
    "label": (RequestedOperation.START, _NO_AUTHOR, _ALL),
    "comment": (RequestedOperation.COMMAND, _ALL, _ALL),
    "dispatch": (RequestedOperation.RESUME, _NO_AUTHOR, _ALL),
    "re-run by them": (RequestedOperation.COMMAND, _ALL, {ActorPart.RERUNNER}),
    "re-run of theirs": (RequestedOperation.COMMAND, _ALL, _ALL - {ActorPart.RERUNNER}),
}


def attempt(
    operation: RequestedOperation = RequestedOperation.COMMAND,
    *,
    edited: bool = False,
    via_app: str = "",
    **people: Account | None,
) -> Attempt:
    """An attempt of the people that the parts name."""
    parts = {ActorPart[part.upper()]: account for part, account in people.items()}
    return Attempt(operation, parts, edited=edited, via_app=via_app)


@pytest.mark.parametrize("event", EVENTS)
def test_who_may_do_what(event: str) -> None:
    operation, parts, theirs = EVENTS[event]
    for name, (who, status, answered, ground) in WHO.items():
        person = read_account(Node(who))
        people = {part: person if part in theirs else ROOT for part in parts}
        tried = Attempt(operation, people, edited=False, via_app="")
        memberships: dict[str, Membership] = {"root": Role.ADMIN}
        for login in to_ask_about(tried, Policy()):
            memberships.setdefault(login, read_membership(login, status, Node(answered)))
        verdict = authorise(tried, memberships, Policy())
        assert isinstance(verdict, Allowed) == (ground is None), name
        if isinstance(verdict, Denied):
            assert verdict.ground is ground, name
            assert verdict.sentence, name


@pytest.mark.parametrize("floor", ["triage", "write", "maintain", "admin"])
def test_a_role_passes_a_floor_that_is_not_above_it(floor: str) -> None:
    policy = read_inputs({"FORGE_BOT_ROLE": floor}).policy
    for role in Role:
        verdict = authorise(attempt(author=ROOT), {"root": role}, policy)
        assert isinstance(verdict, Allowed) == (role >= Role[floor.upper()]), role


@pytest.mark.parametrize("floor", ["read", "none", "everyone", "*", "Write", "all"])
def test_nobody_can_open_the_gate_to_everybody(floor: str) -> None:
    with pytest.raises(BadInput):
        read_inputs({"FORGE_BOT_ROLE": floor})


@pytest.mark.parametrize("operation", RequestedOperation)
def test_the_own_bot_may_wake_its_run_and_nothing_else(operation: RequestedOperation) -> None:
    wakes = operation is RequestedOperation.RESUME
    own = attempt(operation, sender=OWN, actor=OWN, rerunner=OWN)
    assert to_ask_about(own, Policy()) == ()
    assert isinstance(authorise(own, {}, Policy()), Allowed) is wakes
    assert isinstance(authorise(own, {}, Policy(own="our-app[bot]")), Denied)
    woken = attempt(operation, sender=OWN, actor=account_named("dependabot[bot]"))
    assert isinstance(authorise(woken, {}, Policy()), Denied)


@pytest.mark.parametrize(
    ("refused", "ground"),
    [
        (attempt(author=ROOT, edited=True), DenyReason.EDITED),
        (attempt(author=ROOT, via_app="linear"), DenyReason.VIA_APP),
        (attempt(author=ROOT, sender=BOB), DenyReason.NOT_THE_AUTHOR),
        (
            attempt(author=ROOT, sender=Account("root", AccountKind.PERSON, 2)),
            DenyReason.NOT_THE_AUTHOR,
        ),
        (attempt(author=BOB, sender=ROOT), DenyReason.NOT_THE_AUTHOR),
        (attempt(author=None, sender=ROOT), NO_PERSON),
        (attempt(author=ROOT, actor=account_named("")), NO_PERSON),
        (attempt(author=ROOT, actor=account_named("dependabot[bot]")), NO_PERSON),
    ],
)
def test_what_is_refused_without_asking(refused: Attempt, ground: DenyReason) -> None:
    assert to_ask_about(refused, Policy()) == ()
    verdict = authorise(refused, {"root": Role.ADMIN, "bob": Role.ADMIN}, Policy())
    assert isinstance(verdict, Denied)
    assert verdict.ground is ground


def test_everybody_concerned_is_asked_about_once_whatever_the_case_of_their_name() -> None:
    tried = attempt(author=ROOT, sender=ROOT, actor=account_named("Root"), rerunner=BOB)
    assert [login.casefold() for login in to_ask_about(tried, Policy())] == ["root", "bob"]
    for bob in ({}, {"bob": UnknownRole("x")}, {"bob": Role.READ}):
        assert isinstance(authorise(tried, {"Root": Role.ADMIN, **bob}, Policy()), Denied)
    both: dict[str, Membership] = {"Root": Role.WRITE, "bob": Role.WRITE}
    assert authorise(tried, both, Policy()) == Allowed(ROOT)
