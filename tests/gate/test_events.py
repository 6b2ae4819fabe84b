"""Payloads become requests or nothing, whatever is in them."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_bot.artifacts.plans import ChangeType
from forge_bot.forge import StepContext, read_event
from forge_bot.forge.json_values import Node, read_json
from forge_bot.forge.types import AccountKind, ActorPart, Nothing, Trigger
from forge_bot.gate.environment_variables import Inputs
from forge_bot.gate.events import Intent, issue_of_branch, read_request
from forge_bot.gate.people import RequestedOperation
from forge_bot.store.run_folder import branch_name
from tests.gate.payloads import (
    Json,
    changed,
    checked,
    commented,
    dispatched,
    examples,
    labelled,
    places,
    user,
)

CONTEXT = StepContext("", "", "o/r", "", "", "", "ann", "ann", "", 1, "", "")
# One value of each kind that a field may wrongly have; `...` leaves it out.
WRONG: list[Any] = [None, ..., True, -1, 2**70, "", "x", [], {}, [None], {"login": None}, "\ud800"]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                [
                    "action",
                    "issue",
                    "comment",
                    "sender",
                    "user",
                    "login",
                    "id",
                    "body",
                    "label",
                    "number",
                ]
            ),
            inner,
        )
    ),
    max_leaves=6,
)


def event(name: str, payload: object) -> Intent | Nothing:
    return read_request(read_event(Node(payload), replace(CONTEXT, event=name)), Inputs())


def asked(name: str, payload: object) -> Intent:
    intent = event(name, payload)
    assert isinstance(intent, Intent)
    return intent


def test_of_all_example_payloads_only_those_that_concern_forge_bot_are_more_than_nothing() -> None:
    read = [(name, payload.get("action"), event(name, payload)) for name, payload in examples()]
    assert len(read) == 329
    concerning = {(name, action) for name, action, intent in read if isinstance(intent, Intent)}
    assert concerning == {("issues", "reopened")}


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("issue_comment", commented()),
        ("issues", labelled()),
        ("workflow_dispatch", dispatched()),
        ("check_suite", checked()),
    ],
)
def test_any_value_in_any_place_is_read_without_an_error_and_never_as_more(
    name: str, payload: Json
) -> None:
    whole = asked(name, payload)
    for path in places(payload):
        for value in WRONG:
            intent = event(
                name, changed(payload, path, value if path or value is not ... else None)
            )
            if isinstance(intent, Intent):
                assert intent.trigger is whole.trigger
            else:
                assert intent.reason


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(["issues", "issue_comment", "workflow_run", "ping"]), _JSON)
def test_no_payload_is_too_odd_to_be_read(name: str, payload: object) -> None:
    assert isinstance(event(name, payload), Intent | Nothing)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' + b"9" * 5_000 + b"}", b"null", b'"\\ud800"'],
)
def test_bytes_that_are_no_payload_are_nothing(data: bytes) -> None:
    assert isinstance(read_event(read_json(data), replace(CONTEXT, event="issues")), Nothing)


@pytest.mark.parametrize(
    ("account", "kind"),
    [
        (user(), AccountKind.PERSON),
        (user("x[bot]", "Bot"), AccountKind.BOT),
        (user("x[bot]", "User"), AccountKind.BOT),
        (user("Copilot", "Bot"), AccountKind.BOT),
        (user("ghost"), AccountKind.GHOST),
        (user("octo-org", "Organization"), AccountKind.OTHER),
        ({"login": "ann", "id": 7, "type": ["User"]}, AccountKind.OTHER),
    ],
)
def test_accounts_are_of_the_kind_github_says(account: Json, kind: AccountKind) -> None:
    author = asked("issue_comment", commented(by=account)).attempt.people[ActorPart.AUTHOR]
    assert author is not None
    assert author.kind is kind


@pytest.mark.parametrize(
    "login",
    ["", "a b", "ann\nbob", "../admin", "[bot]", "ann[bot]x", "anné", "x" * 200, "@ann", "ann?x=1"],
)
def test_a_name_that_nobody_can_have_is_nobodys(login: str) -> None:
    assert (
        asked("issue_comment", commented(by=user(login))).attempt.people[ActorPart.AUTHOR] is None
    )


def test_the_label_starts_a_run_with_its_own_event_or_with_the_issue() -> None:
    opened = {**labelled(), "action": "opened", "label": None}
    for payload in (labelled(), labelled("Forge"), opened):
        intent = asked("issues", payload)
        assert (intent.trigger, intent.thread) == (Trigger.LABEL, 42)
        assert intent.attempt.operation is RequestedOperation.START
    on_pull = changed(labelled(), ("issue",), {"number": 42, "pull_request": {}})
    for name, payload in (
        ("issues", labelled("bug")),
        ("issues", on_pull),
        ("pull_request", labelled()),
    ):
        assert isinstance(event(name, payload), Nothing)


@pytest.mark.parametrize("action", ["edited", "deleted", "Created", "", None])
def test_only_new_comments_are_read(action: object) -> None:
    assert isinstance(event("issue_comment", {**commented(), "action": action}), Nothing)


def test_a_comment_says_where_it_stands_and_whether_it_was_touched() -> None:
    plain = asked("issue_comment", commented())
    assert (plain.thread, plain.comment, plain.on_pull) == (42, 1001, False)
    pull = changed(commented(), ("issue",), {"number": 42, "pull_request": {"url": "x"}})
    assert asked("issue_comment", pull) == replace(plain, on_pull=True)
    edited = replace(plain.attempt, edited=True)
    for payload in (commented(updated_at="2026-11-21T10:00:01Z"), commented(created_at=None)):
        assert asked("issue_comment", payload).attempt == edited
    for app, name in (({"slug": "helper"}, "helper"), ({}, "an app")):
        by_app = asked("issue_comment", commented(performed_via_github_app=app)).attempt
        assert by_app == replace(plain.attempt, via_app=name)


@pytest.mark.parametrize("issue", ["42", "#42", " 42 "])
def test_a_dispatch_names_its_issue_in_any_form_people_use(issue: object) -> None:
    intent = asked("workflow_dispatch", dispatched(issue))
    assert (intent.trigger, intent.thread) == (Trigger.DISPATCH, 42)


@pytest.mark.parametrize(
    "issue",
    ["", "0", "-1", "forty-two", "٤٢", "4 2", "99999999999", None, True, 4.2, [42], "42; rm"],
)
def test_a_dispatch_without_an_issue_is_nothing(issue: object) -> None:
    assert isinstance(event("workflow_dispatch", dispatched(issue)), Nothing)


def test_failed_checks_count_on_a_branch_of_a_run_with_a_pull_request_here() -> None:
    intent = asked("check_suite", checked())
    assert intent.thread == 42
    for conclusion in ("success", "cancelled", "skipped", "action_required", "FAILURE", ""):
        assert isinstance(event("check_suite", checked(conclusion)), Nothing)
    for branch in ("main", "fix/login", "fix/42", "other/42-login", "fix/042-login", "fix/42-a b"):
        assert isinstance(event("check_suite", checked(branch=branch)), Nothing)


def test_checks_of_a_branch_with_the_same_name_in_a_fork_do_not_count() -> None:
    assert isinstance(event("check_suite", checked(head=1)), Nothing)
    run = {**checked()["check_suite"], "head_repository": {"id": 1}}
    payload = {**labelled(), "action": "completed", "workflow_run": run}
    assert isinstance(event("workflow_run", payload), Nothing)
    run["head_repository"] = payload["repository"]
    assert isinstance(event("workflow_run", payload), Intent)
    assert isinstance(event("workflow_run", {**payload, "repository": {}}), Nothing)


def test_branches_are_those_that_runs_make() -> None:
    assert issue_of_branch(branch_name("42", "fix-auth-timeout")) == 42
    for branch in (branch_name("", "fix-auth"), branch_name("PROJ-42", "fix"), "fixer/42-auth"):
        assert issue_of_branch(branch) is None
    for kind in ChangeType:
        assert issue_of_branch(f"{kind}/42-fix-auth-timeout") == 42
        assert issue_of_branch(f"{kind}-42-fix-auth-timeout") == 42
