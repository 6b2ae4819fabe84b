"""Who may do what: every sort of account, by every way in."""

from typing import Any

import pytest

from forge_bot.errors import BadInput
from forge_bot.gate.authorise import (
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
from forge_bot.gate.environment_variables import read_inputs
from forge_bot.gate.json_payload import Node
from forge_bot.gate.people import Account, AccountKind, account_named, read_account
from forge_bot.gate.roles import KnownRole, Membership, Role, UnknownRole, read_membership

Json = dict[str, Any]


def answer(
    role: str = "", permission: str = "", login: str = "ann", flags: dict[str, bool] | None = None
) -> Json:
    """GitHub's answer about somebody's permission."""
    return {
        "permission": permission,
        "role_name": role,
        "user": {"login": login, "type": "User", "id": 7, "permissions": flags or {}},
    }


PULL = {"pull": True}
TRIAGE = {**PULL, "triage": True}
PUSH = {**TRIAGE, "push": True}
MAINTAIN = {**PUSH, "maintain": True}

# Name of the case, account, status and answer of GitHub, and the ground to refuse on (None:
# allowed).
WHO: list[tuple[str, Json | None, int, Any, DenyReason | None]] = [
    ("admin", {"login": "ann", "type": "User", "id": 7}, 200, answer("admin", "admin"), None),
    ("maintain", {"login": "ann", "type": "User", "id": 7}, 200, answer("maintain", "write"), None),
    ("write", {"login": "ann", "type": "User", "id": 7}, 200, answer("write", "write"), None),
    (
        "triage",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("triage", "read"),
        DenyReason.ROLE,
    ),
    (
        "read",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("read", "read"),
        DenyReason.ROLE,
    ),
    (
        "none",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("none", "none"),
        DenyReason.ROLE,
    ),
    (
        "custom on write",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("release-crew", "write", flags=PUSH),
        None,
    ),
    (
        "custom on maintain",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("leads", "write", flags=MAINTAIN),
        None,
    ),
    (
        "custom on triage",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("sorters", "read", flags=TRIAGE),
        DenyReason.ROLE,
    ),
    (
        "custom on read",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("auditors", "read", flags=PULL),
        DenyReason.ROLE,
    ),
    (
        "custom that contradicts itself",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("x", "read", flags={"push": True}),
        DenyReason.ROLE,
    ),
    (
        "custom without flags",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("x", "write"),
        DenyReason.ROLE,
    ),
    (
        "standard that contradicts itself",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("admin", "read"),
        DenyReason.ROLE,
    ),
    (
        "old server, write",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("", "write"),
        None,
    ),
    (
        "old server, read",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("", "read"),
        DenyReason.ROLE,
    ),
    (
        "upper case in the name",
        {"login": "Ann", "type": "User", "id": 7},
        200,
        answer("write", "write"),
        None,
    ),
    (
        "no permission told",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("admin", ""),
        DenyReason.UNVERIFIED,
    ),
    (
        "unknown permission",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("admin", "owner"),
        DenyReason.UNVERIFIED,
    ),
    (
        "answer about another",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("admin", "admin", "bob"),
        DenyReason.UNVERIFIED,
    ),
    (
        "answer about nobody",
        {"login": "ann", "type": "User", "id": 7},
        200,
        {"permission": "admin", "user": None},
        DenyReason.UNVERIFIED,
    ),
    (
        "answer that is a list",
        {"login": "ann", "type": "User", "id": 7},
        200,
        [],
        DenyReason.UNVERIFIED,
    ),
    (
        "suspended or renamed",
        {"login": "ann", "type": "User", "id": 7},
        404,
        {},
        DenyReason.UNVERIFIED,
    ),
    (
        "token without rights",
        {"login": "ann", "type": "User", "id": 7},
        403,
        {},
        DenyReason.UNVERIFIED,
    ),
    ("token refused", {"login": "ann", "type": "User", "id": 7}, 401, {}, DenyReason.UNVERIFIED),
    (
        "limit reached",
        {"login": "ann", "type": "User", "id": 7},
        429,
        answer("admin", "admin"),
        DenyReason.UNVERIFIED,
    ),
    (
        "GitHub broken",
        {"login": "ann", "type": "User", "id": 7},
        502,
        answer("admin", "admin"),
        DenyReason.UNVERIFIED,
    ),
    ("no answer", {"login": "ann", "type": "User", "id": 7}, 0, None, DenyReason.UNVERIFIED),
    (
        "renamed repository",
        {"login": "ann", "type": "User", "id": 7},
        301,
        answer("admin", "admin"),
        DenyReason.UNVERIFIED,
    ),
    (
        "ghost",
        {"login": "ghost", "type": "User", "id": 10137},
        200,
        answer("admin", "admin", "ghost"),
        DenyReason.GHOST,
    ),
    ("deleted", None, 200, answer("admin", "admin"), DenyReason.GHOST),
    (
        "some app",
        {"login": "x[bot]", "type": "Bot", "id": 8},
        200,
        answer("admin", "admin", "x[bot]"),
        DenyReason.BOT,
    ),
    (
        "app that says it is a user",
        {"login": "x[bot]", "type": "User", "id": 8},
        200,
        answer("admin", "admin", "x[bot]"),
        DenyReason.BOT,
    ),
    (
        "bot without the ending",
        {"login": "Copilot", "type": "Bot", "id": 8},
        200,
        answer("write", "write", "Copilot"),
        DenyReason.BOT,
    ),
    ("dependabot", {"login": "dependabot[bot]", "type": "Bot", "id": 9}, 404, {}, DenyReason.BOT),
    (
        "organisation",
        {"login": "octo", "type": "Organization", "id": 3},
        200,
        answer("admin", "admin", "octo"),
        DenyReason.NOT_A_PERSON,
    ),
    (
        "mannequin",
        {"login": "old", "type": "Mannequin", "id": 4},
        200,
        answer("admin", "admin", "old"),
        DenyReason.NOT_A_PERSON,
    ),
    ("no type", {"login": "ann", "id": 7}, 200, answer("admin", "admin"), DenyReason.NOT_A_PERSON),
]
ROOT_USER = Account("root", AccountKind.PERSON, 1)
WAYS = ["label", "comment", "dispatch", "re-run by them", "re-run of theirs", "checks"]
ROWS = [(way, *who) for who in WHO for way in WAYS]


def attempt_by(way: str, account: Account | None) -> Attempt:
    """How somebody tries something, in this way."""
    everybody: dict[ActorPart, Account | None] = {
        ActorPart.SENDER: account,
        ActorPart.ACTOR: account,
        ActorPart.RERUNNER: account,
    }
    match way:
        case "label":
            return Attempt(RequestedOperation.START, everybody)
        case "comment":
            return Attempt(RequestedOperation.COMMAND, {ActorPart.AUTHOR: account, **everybody})
        case "dispatch":
            return Attempt(RequestedOperation.START, everybody)
        case "re-run by them":
            return Attempt(
                RequestedOperation.COMMAND,
                {
                    **dict.fromkeys(
                        (ActorPart.AUTHOR, ActorPart.SENDER, ActorPart.ACTOR), ROOT_USER
                    ),
                    ActorPart.RERUNNER: account,
                },
            )
        case "re-run of theirs":
            return Attempt(
                RequestedOperation.COMMAND,
                {
                    **dict.fromkeys((ActorPart.AUTHOR, ActorPart.SENDER, ActorPart.ACTOR), account),
                    ActorPart.RERUNNER: ROOT_USER,
                },
            )
        case _:
            return Attempt(RequestedOperation.RESUME, everybody)


@pytest.mark.parametrize(
    ("way", "name", "account", "status", "told", "ground"),
    ROWS,
    ids=[f"{row[0]}: {row[1]}" for row in ROWS],
)
def test_who_may_do_what(
    way: str, name: str, account: Json | None, status: int, told: Any, ground: DenyReason | None
) -> None:
    attempt = attempt_by(way, read_account(Node(account)))
    standings: dict[str, Membership] = {"root": KnownRole(Role.ADMIN)}
    for login in to_ask_about(attempt, Policy()):
        standings.setdefault(login, read_membership(login, status, Node(told)))
    verdict = authorise(attempt, standings, Policy())
    assert isinstance(verdict, Allowed) == (ground is None)
    if isinstance(verdict, Denied):
        assert verdict.ground is ground
        assert verdict.sentence


@pytest.mark.parametrize("floor", ["triage", "write", "maintain", "admin"])
@pytest.mark.parametrize("role", list(Role))
def test_a_role_passes_a_floor_that_is_not_above_it(floor: str, role: Role) -> None:
    policy = read_inputs({"FORGE_BOT_ROLE": floor}).policy
    verdict = authorise(attempt_by("comment", ROOT_USER), {"root": KnownRole(role)}, policy)
    assert isinstance(verdict, Allowed) == (
        list(Role).index(role) >= [member.word for member in Role].index(floor)
    )


@pytest.mark.parametrize("floor", ["read", "none", "everyone", "*", "Write", "all"])
def test_nobody_can_open_the_gate_to_everybody(floor: str) -> None:
    with pytest.raises(BadInput):
        read_inputs({"FORGE_BOT_ROLE": floor})


def test_the_own_bot_may_wake_its_run_and_nothing_else() -> None:
    own = Account("github-actions[bot]", AccountKind.BOT, 41898282)
    for deed, allowed in (
        (RequestedOperation.RESUME, True),
        (RequestedOperation.START, False),
        (RequestedOperation.COMMAND, False),
    ):
        attempt = Attempt(
            deed, {ActorPart.SENDER: own, ActorPart.ACTOR: own, ActorPart.RERUNNER: own}
        )
        assert to_ask_about(attempt, Policy()) == ()
        assert isinstance(authorise(attempt, {}, Policy()), Allowed) is allowed
    woken = Attempt(
        RequestedOperation.RESUME,
        {ActorPart.SENDER: own, ActorPart.ACTOR: account_named("dependabot[bot]")},
    )
    assert isinstance(authorise(woken, {}, Policy()), Denied)
    other = Policy(own="our-app[bot]")
    assert isinstance(
        authorise(Attempt(RequestedOperation.RESUME, {ActorPart.SENDER: own}), {}, other), Denied
    )


def test_an_account_that_writes_for_forge_bot_but_is_a_person_has_to_have_the_role() -> None:
    machine = Account("forge-machine", AccountKind.PERSON, 5)
    policy = Policy(own="forge-machine")
    verdict = authorise(attempt_by("comment", machine), {}, policy)
    assert isinstance(verdict, Denied)


@pytest.mark.parametrize(
    ("attempt", "ground"),
    [
        (Attempt(RequestedOperation.COMMAND, {}), DenyReason.NOBODY),
        (
            Attempt(RequestedOperation.COMMAND, {ActorPart.AUTHOR: ROOT_USER}, edited=True),
            DenyReason.EDITED,
        ),
        (
            Attempt(RequestedOperation.COMMAND, {ActorPart.AUTHOR: ROOT_USER}, via_app="linear"),
            DenyReason.VIA_APP,
        ),
        (
            Attempt(
                RequestedOperation.COMMAND,
                {
                    ActorPart.AUTHOR: ROOT_USER,
                    ActorPart.SENDER: Account("bob", AccountKind.PERSON, 2),
                },
            ),
            DenyReason.NOT_THE_AUTHOR,
        ),
        (
            Attempt(
                RequestedOperation.COMMAND,
                {
                    ActorPart.AUTHOR: ROOT_USER,
                    ActorPart.SENDER: Account("root", AccountKind.PERSON, 2),
                },
            ),
            DenyReason.NOT_THE_AUTHOR,
        ),
        (
            Attempt(
                RequestedOperation.COMMAND,
                {
                    ActorPart.AUTHOR: Account("mallory", AccountKind.PERSON, 3),
                    ActorPart.SENDER: ROOT_USER,
                },
            ),
            DenyReason.NOT_THE_AUTHOR,
        ),
        (
            Attempt(
                RequestedOperation.COMMAND, {ActorPart.AUTHOR: None, ActorPart.SENDER: ROOT_USER}
            ),
            DenyReason.GHOST,
        ),
        (
            Attempt(
                RequestedOperation.COMMAND,
                {ActorPart.AUTHOR: ROOT_USER, ActorPart.ACTOR: account_named("")},
            ),
            DenyReason.GHOST,
        ),
        (
            Attempt(
                RequestedOperation.COMMAND,
                {ActorPart.AUTHOR: ROOT_USER, ActorPart.ACTOR: account_named("dependabot[bot]")},
            ),
            DenyReason.BOT,
        ),
    ],
)
def test_what_is_refused_without_asking(attempt: Attempt, ground: DenyReason) -> None:
    assert to_ask_about(attempt, Policy()) == ()
    verdict = authorise(
        attempt,
        {
            "root": KnownRole(Role.ADMIN),
            "bob": KnownRole(Role.ADMIN),
            "mallory": KnownRole(Role.ADMIN),
        },
        Policy(),
    )
    assert isinstance(verdict, Denied)
    assert verdict.ground is ground


def test_everybody_concerned_is_asked_about_once_whatever_the_case_of_their_name() -> None:
    people = {
        ActorPart.AUTHOR: ROOT_USER,
        ActorPart.SENDER: ROOT_USER,
        ActorPart.ACTOR: account_named("Root"),
        ActorPart.RERUNNER: account_named("bob"),
    }
    attempt = Attempt(RequestedOperation.COMMAND, people)
    assert [login.casefold() for login in to_ask_about(attempt, Policy())] == ["root", "bob"]
    assert isinstance(authorise(attempt, {"Root": KnownRole(Role.ADMIN)}, Policy()), Denied)
    assert isinstance(
        authorise(attempt, {"Root": KnownRole(Role.ADMIN), "bob": UnknownRole("x")}, Policy()),
        Denied,
    )
    assert authorise(
        attempt, {"Root": KnownRole(Role.WRITE), "bob": KnownRole(Role.WRITE)}, Policy()
    ) == Allowed(ROOT_USER)
