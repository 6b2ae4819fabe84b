"""Who may do what: every sort of account, by every way in."""

from typing import Any

import pytest

from forge_bot.errors import BadInput
from forge_bot.gate import (
    Account,
    Allowed,
    Attempt,
    Deed,
    Ground,
    Has,
    Node,
    Part,
    Policy,
    Refused,
    Role,
    Standing,
    Unknown,
    authorise,
    read_inputs,
    read_standing,
    to_ask_about,
)
from forge_bot.gate.people import Kind, account_named, read_account

Json = dict[str, Any]


def answer(role: str = "", permission: str = "", login: str = "ann", flags: dict[str, bool] | None = None) -> Json:
    """GitHub's answer about somebody's permission."""
    return {"permission": permission, "role_name": role, "user": {"login": login, "type": "User", "id": 7, "permissions": flags or {}}}


PULL = {"pull": True}
TRIAGE = {**PULL, "triage": True}
PUSH = {**TRIAGE, "push": True}
MAINTAIN = {**PUSH, "maintain": True}

# Name of the case, account, status and answer of GitHub, and the ground to refuse on (None: allowed).
WHO: list[tuple[str, Json | None, int, Any, Ground | None]] = [
    ("admin", {"login": "ann", "type": "User", "id": 7}, 200, answer("admin", "admin"), None),
    ("maintain", {"login": "ann", "type": "User", "id": 7}, 200, answer("maintain", "write"), None),
    ("write", {"login": "ann", "type": "User", "id": 7}, 200, answer("write", "write"), None),
    ("triage", {"login": "ann", "type": "User", "id": 7}, 200, answer("triage", "read"), Ground.ROLE),
    ("read", {"login": "ann", "type": "User", "id": 7}, 200, answer("read", "read"), Ground.ROLE),
    ("none", {"login": "ann", "type": "User", "id": 7}, 200, answer("none", "none"), Ground.ROLE),
    ("custom on write", {"login": "ann", "type": "User", "id": 7}, 200, answer("release-crew", "write", flags=PUSH), None),
    ("custom on maintain", {"login": "ann", "type": "User", "id": 7}, 200, answer("leads", "write", flags=MAINTAIN), None),
    ("custom on triage", {"login": "ann", "type": "User", "id": 7}, 200, answer("sorters", "read", flags=TRIAGE), Ground.ROLE),
    ("custom on read", {"login": "ann", "type": "User", "id": 7}, 200, answer("auditors", "read", flags=PULL), Ground.ROLE),
    (
        "custom that contradicts itself",
        {"login": "ann", "type": "User", "id": 7},
        200,
        answer("x", "read", flags={"push": True}),
        Ground.ROLE,
    ),
    ("custom without flags", {"login": "ann", "type": "User", "id": 7}, 200, answer("x", "write"), Ground.ROLE),
    ("standard that contradicts itself", {"login": "ann", "type": "User", "id": 7}, 200, answer("admin", "read"), Ground.ROLE),
    ("old server, write", {"login": "ann", "type": "User", "id": 7}, 200, answer("", "write"), None),
    ("old server, read", {"login": "ann", "type": "User", "id": 7}, 200, answer("", "read"), Ground.ROLE),
    ("upper case in the name", {"login": "Ann", "type": "User", "id": 7}, 200, answer("write", "write"), None),
    ("no permission told", {"login": "ann", "type": "User", "id": 7}, 200, answer("admin", ""), Ground.UNVERIFIED),
    ("unknown permission", {"login": "ann", "type": "User", "id": 7}, 200, answer("admin", "owner"), Ground.UNVERIFIED),
    ("answer about another", {"login": "ann", "type": "User", "id": 7}, 200, answer("admin", "admin", "bob"), Ground.UNVERIFIED),
    ("answer about nobody", {"login": "ann", "type": "User", "id": 7}, 200, {"permission": "admin", "user": None}, Ground.UNVERIFIED),
    ("answer that is a list", {"login": "ann", "type": "User", "id": 7}, 200, [], Ground.UNVERIFIED),
    ("suspended or renamed", {"login": "ann", "type": "User", "id": 7}, 404, {}, Ground.UNVERIFIED),
    ("token without rights", {"login": "ann", "type": "User", "id": 7}, 403, {}, Ground.UNVERIFIED),
    ("token refused", {"login": "ann", "type": "User", "id": 7}, 401, {}, Ground.UNVERIFIED),
    ("limit reached", {"login": "ann", "type": "User", "id": 7}, 429, answer("admin", "admin"), Ground.UNVERIFIED),
    ("GitHub broken", {"login": "ann", "type": "User", "id": 7}, 502, answer("admin", "admin"), Ground.UNVERIFIED),
    ("no answer", {"login": "ann", "type": "User", "id": 7}, 0, None, Ground.UNVERIFIED),
    ("renamed repository", {"login": "ann", "type": "User", "id": 7}, 301, answer("admin", "admin"), Ground.UNVERIFIED),
    ("ghost", {"login": "ghost", "type": "User", "id": 10137}, 200, answer("admin", "admin", "ghost"), Ground.GHOST),
    ("deleted", None, 200, answer("admin", "admin"), Ground.GHOST),
    ("some app", {"login": "x[bot]", "type": "Bot", "id": 8}, 200, answer("admin", "admin", "x[bot]"), Ground.BOT),
    ("app that says it is a user", {"login": "x[bot]", "type": "User", "id": 8}, 200, answer("admin", "admin", "x[bot]"), Ground.BOT),
    ("bot without the ending", {"login": "Copilot", "type": "Bot", "id": 8}, 200, answer("write", "write", "Copilot"), Ground.BOT),
    ("dependabot", {"login": "dependabot[bot]", "type": "Bot", "id": 9}, 404, {}, Ground.BOT),
    ("organisation", {"login": "octo", "type": "Organization", "id": 3}, 200, answer("admin", "admin", "octo"), Ground.NOT_A_PERSON),
    ("mannequin", {"login": "old", "type": "Mannequin", "id": 4}, 200, answer("admin", "admin", "old"), Ground.NOT_A_PERSON),
    ("no type", {"login": "ann", "id": 7}, 200, answer("admin", "admin"), Ground.NOT_A_PERSON),
]
ROOT_USER = Account("root", Kind.PERSON, 1)
WAYS = ["label", "comment", "dispatch", "re-run by them", "re-run of theirs", "checks"]
ROWS = [(way, *who) for who in WHO for way in WAYS]


def attempt_by(way: str, account: Account | None) -> Attempt:
    """How somebody tries something, in this way."""
    everybody: dict[Part, Account | None] = {Part.SENDER: account, Part.ACTOR: account, Part.RERUNNER: account}
    match way:
        case "label":
            return Attempt(Deed.START, everybody)
        case "comment":
            return Attempt(Deed.COMMAND, {Part.AUTHOR: account, **everybody})
        case "dispatch":
            return Attempt(Deed.START, everybody)
        case "re-run by them":
            return Attempt(Deed.COMMAND, {**dict.fromkeys((Part.AUTHOR, Part.SENDER, Part.ACTOR), ROOT_USER), Part.RERUNNER: account})
        case "re-run of theirs":
            return Attempt(Deed.COMMAND, {**dict.fromkeys((Part.AUTHOR, Part.SENDER, Part.ACTOR), account), Part.RERUNNER: ROOT_USER})
        case _:
            return Attempt(Deed.RESUME, everybody)


def test_the_matrix_is_long_enough_to_be_trusted() -> None:
    assert len(ROWS) >= 200


@pytest.mark.promise("docs-gate-people")
@pytest.mark.parametrize(("way", "name", "account", "status", "told", "ground"), ROWS, ids=[f"{row[0]}: {row[1]}" for row in ROWS])
def test_who_may_do_what(way: str, name: str, account: Json | None, status: int, told: Any, ground: Ground | None) -> None:
    attempt = attempt_by(way, read_account(Node(account)))
    standings: dict[str, Standing] = {"root": Has(Role.ADMIN)}
    for login in to_ask_about(attempt, Policy()):
        standings.setdefault(login, read_standing(login, status, Node(told)))
    verdict = authorise(attempt, standings, Policy())
    assert isinstance(verdict, Allowed) == (ground is None)
    if isinstance(verdict, Refused):
        assert verdict.ground is ground
        assert verdict.sentence


@pytest.mark.parametrize("floor", ["triage", "write", "maintain", "admin"])
@pytest.mark.parametrize("role", list(Role))
def test_a_role_passes_a_floor_that_is_not_above_it(floor: str, role: Role) -> None:
    policy = read_inputs({"FORGE_BOT_ROLE": floor}).policy
    verdict = authorise(attempt_by("comment", ROOT_USER), {"root": Has(role)}, policy)
    assert isinstance(verdict, Allowed) == (list(Role).index(role) >= [member.word for member in Role].index(floor))


@pytest.mark.parametrize("floor", ["read", "none", "everyone", "*", "Write", "all"])
def test_nobody_can_open_the_gate_to_everybody(floor: str) -> None:
    with pytest.raises(BadInput):
        read_inputs({"FORGE_BOT_ROLE": floor})


def test_the_own_bot_may_wake_its_run_and_nothing_else() -> None:
    own = Account("github-actions[bot]", Kind.BOT, 41898282)
    for deed, allowed in ((Deed.RESUME, True), (Deed.START, False), (Deed.COMMAND, False)):
        attempt = Attempt(deed, {Part.SENDER: own, Part.ACTOR: own, Part.RERUNNER: own})
        assert to_ask_about(attempt, Policy()) == ()
        assert isinstance(authorise(attempt, {}, Policy()), Allowed) is allowed
    woken = Attempt(Deed.RESUME, {Part.SENDER: own, Part.ACTOR: account_named("dependabot[bot]")})
    assert isinstance(authorise(woken, {}, Policy()), Refused)
    other = Policy(own="our-app[bot]")
    assert isinstance(authorise(Attempt(Deed.RESUME, {Part.SENDER: own}), {}, other), Refused)


def test_an_account_that_writes_for_forge_bot_but_is_a_person_has_to_have_the_role() -> None:
    machine = Account("forge-machine", Kind.PERSON, 5)
    policy = Policy(own="forge-machine")
    verdict = authorise(attempt_by("comment", machine), {}, policy)
    assert isinstance(verdict, Refused)


@pytest.mark.parametrize(
    ("attempt", "ground"),
    [
        (Attempt(Deed.COMMAND, {}), Ground.NOBODY),
        (Attempt(Deed.COMMAND, {Part.AUTHOR: ROOT_USER}, edited=True), Ground.EDITED),
        (Attempt(Deed.COMMAND, {Part.AUTHOR: ROOT_USER}, via_app="linear"), Ground.VIA_APP),
        (Attempt(Deed.COMMAND, {Part.AUTHOR: ROOT_USER, Part.SENDER: Account("bob", Kind.PERSON, 2)}), Ground.NOT_THE_AUTHOR),
        (Attempt(Deed.COMMAND, {Part.AUTHOR: ROOT_USER, Part.SENDER: Account("root", Kind.PERSON, 2)}), Ground.NOT_THE_AUTHOR),
        (Attempt(Deed.COMMAND, {Part.AUTHOR: Account("mallory", Kind.PERSON, 3), Part.SENDER: ROOT_USER}), Ground.NOT_THE_AUTHOR),
        (Attempt(Deed.COMMAND, {Part.AUTHOR: None, Part.SENDER: ROOT_USER}), Ground.GHOST),
        (Attempt(Deed.COMMAND, {Part.AUTHOR: ROOT_USER, Part.ACTOR: account_named("")}), Ground.GHOST),
        (Attempt(Deed.COMMAND, {Part.AUTHOR: ROOT_USER, Part.ACTOR: account_named("dependabot[bot]")}), Ground.BOT),
    ],
)
def test_what_is_refused_without_asking(attempt: Attempt, ground: Ground) -> None:
    assert to_ask_about(attempt, Policy()) == ()
    verdict = authorise(attempt, {"root": Has(Role.ADMIN), "bob": Has(Role.ADMIN), "mallory": Has(Role.ADMIN)}, Policy())
    assert isinstance(verdict, Refused)
    assert verdict.ground is ground


def test_everybody_concerned_is_asked_about_once_whatever_the_case_of_their_name() -> None:
    people = {Part.AUTHOR: ROOT_USER, Part.SENDER: ROOT_USER, Part.ACTOR: account_named("Root"), Part.RERUNNER: account_named("bob")}
    attempt = Attempt(Deed.COMMAND, people)
    assert [login.casefold() for login in to_ask_about(attempt, Policy())] == ["root", "bob"]
    assert isinstance(authorise(attempt, {"Root": Has(Role.ADMIN)}, Policy()), Refused)
    assert isinstance(authorise(attempt, {"Root": Has(Role.ADMIN), "bob": Unknown("x")}, Policy()), Refused)
    assert authorise(attempt, {"Root": Has(Role.WRITE), "bob": Has(Role.WRITE)}, Policy()) == Allowed(ROOT_USER)
