"""Payloads become events or nothing, whatever is in them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_bot.artifacts.change_name import ChangeType
from forge_bot.gate.events import (
    CheckFailed,
    CommentCreated,
    Dispatched,
    Event,
    IssueStateChanged,
    LabelAdded,
    Nothing,
    issue_of_branch,
    read_event,
)
from forge_bot.gate.json_payload import Node, read_json
from forge_bot.gate.people import Account, AccountKind
from forge_bot.store import branch_name
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

ANN = Account("ann", AccountKind.PERSON, 7)


def event(name: str, payload: object) -> Event:
    return read_event(name, Node(payload))


def test_of_all_example_payloads_only_those_that_concern_forge_bot_are_more_than_nothing() -> None:
    read = [
        (name, payload.get("action"), type(event(name, payload))) for name, payload in examples()
    ]
    assert len(read) == 329
    assert {(name, action) for name, action, kind in read if kind is LabelAdded} == {
        ("issues", "labeled"),
        ("issues", "opened"),
    }
    assert {(name, action) for name, action, kind in read if kind is IssueStateChanged} == {
        ("issues", "reopened")
    }
    assert {(name, action) for name, action, kind in read if kind is CommentCreated} == {
        ("issue_comment", "created")
    }
    assert not [row for row in read if row[2] in {Dispatched, CheckFailed}]


WRONG: list[Any] = [
    None,
    ...,
    True,
    -1,
    0,
    2**70,
    "",
    "x",
    [],
    {},
    [None],
    {"login": None},
    1.5,
    "\ud800",
]


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
    whole = event(name, payload)
    for path in places(payload):
        for value in WRONG:
            found = event(name, changed(payload, path, value if path or value is not ... else None))
            assert isinstance(found, Nothing | type(whole))
            assert not isinstance(found, Nothing) or found.reason


@pytest.mark.parametrize("action", ["closed", "reopened"])
def test_an_issue_that_is_closed_or_reopened_is_read_with_who_did_it(action: str) -> None:
    payload = {**labelled(), "action": action}
    assert event("issues", payload) == IssueStateChanged(42, ANN)
    pull = {**payload, "issue": {"number": 57, "pull_request": {"url": "https://x.example/57"}}}
    assert isinstance(event("issues", pull), Nothing)


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
                    "type",
                    "body",
                    "label",
                    "labels",
                    "number",
                    "inputs",
                ]
            ),
            inner,
        )
    ),
    max_leaves=6,
)


@settings(max_examples=10, deadline=None)
@given(
    st.sampled_from(["issues", "issue_comment", "workflow_dispatch", "workflow_run", "ping"]),
    _JSON,
)
def test_no_payload_is_too_odd_to_be_read(name: str, payload: object) -> None:
    assert isinstance(event(name, payload), Event)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' + b"9" * 5_000 + b"}", b"null", b'"\\ud800"'],
)
def test_bytes_that_are_no_payload_are_nothing(data: bytes) -> None:
    assert isinstance(read_event("issues", read_json(data)), Nothing)


@pytest.mark.parametrize(
    ("account", "kind"),
    [
        (user(), AccountKind.PERSON),
        (user("x[bot]", "Bot"), AccountKind.BOT),
        (user("x[bot]", "User"), AccountKind.BOT),
        (user("Copilot", "Bot"), AccountKind.BOT),
        (user("octo-org", "Organization"), AccountKind.ORGANISATION),
        (user("ghost"), AccountKind.GHOST),
        (user("someone", "Mannequin"), AccountKind.OTHER),
        ({"login": "ann", "id": 7}, AccountKind.OTHER),
        ({"login": "ann", "id": 7, "type": ["User"]}, AccountKind.OTHER),
    ],
)
def test_accounts_are_of_the_kind_github_says(account: Json, kind: AccountKind) -> None:
    found = event("issue_comment", commented(by=account))
    assert isinstance(found, CommentCreated)
    assert found.author is not None
    assert found.author.kind is kind


@pytest.mark.parametrize(
    "login",
    [
        "",
        "a b",
        "ann\nbob",
        "../admin",
        "ann/permission",
        "[bot]",
        "ann[bot]x",
        "anné",
        "x" * 200,
        "@ann",
        "ann?x=1",
    ],
)
def test_a_name_that_nobody_can_have_is_nobodys(login: str) -> None:
    found = event("issue_comment", commented(by=user(login)))
    assert isinstance(found, CommentCreated)
    assert found.author is None


def test_a_label_comes_with_its_event_or_with_the_issue() -> None:
    assert event("issues", labelled()) == LabelAdded(42, ("forge",), ANN)
    opened = {**labelled("forge"), "action": "opened", "label": None}
    assert event("issues", opened) == LabelAdded(42, ("forge",), ANN)


def test_labels_on_pull_requests_start_nothing() -> None:
    assert isinstance(
        event("issues", changed(labelled(), ("issue",), {"number": 42, "pull_request": {}})),
        Nothing,
    )
    assert isinstance(event("pull_request", labelled()), Nothing)


@pytest.mark.parametrize("action", ["edited", "deleted", "Created", "", None])
def test_only_new_comments_are_read(action: object) -> None:
    assert isinstance(event("issue_comment", {**commented(), "action": action}), Nothing)


def test_a_comment_says_where_it_stands_and_whether_it_was_touched() -> None:
    plain = event("issue_comment", commented())
    assert plain == CommentCreated(42, 1001, "/approve", ANN, ANN)
    on_pull = event(
        "issue_comment",
        changed(commented(), ("issue",), {"number": 42, "pull_request": {"url": "x"}}),
    )
    assert on_pull == CommentCreated(42, 1001, "/approve", ANN, ANN, on_pull=True)
    edited = event("issue_comment", commented(updated_at="2026-11-21T10:00:01Z"))
    assert edited == CommentCreated(42, 1001, "/approve", ANN, ANN, edited=True)
    assert event("issue_comment", commented(created_at=None)) == edited
    by_app = event("issue_comment", commented(performed_via_github_app={"slug": "helper"}))
    assert by_app == CommentCreated(42, 1001, "/approve", ANN, ANN, via_app="helper")
    assert event("issue_comment", commented(performed_via_github_app={})) == CommentCreated(
        42, 1001, "/approve", ANN, ANN, via_app="an app"
    )


@pytest.mark.parametrize("issue", ["42", "#42", " 42 "])
def test_a_dispatch_names_its_issue_in_any_form_people_use(issue: object) -> None:
    assert event("workflow_dispatch", dispatched(issue)) == Dispatched(42, ANN)


@pytest.mark.parametrize(
    "issue",
    ["", "0", "-1", "forty-two", "٤٢", "4 2", "99999999999", None, True, 4.2, [42], "42; rm"],
)
def test_a_dispatch_without_an_issue_is_nothing(issue: object) -> None:
    assert isinstance(event("workflow_dispatch", dispatched(issue)), Nothing)


def test_failed_checks_count_on_a_branch_of_a_run_with_a_pull_request_here() -> None:
    found = event("check_suite", checked())
    assert found == CheckFailed(
        42,
        "fix/42-login",
        "a" * 40,
        (57,),
        99,
        Account("github-actions[bot]", AccountKind.BOT, 41898282),
    )
    for conclusion in (
        "success",
        "cancelled",
        "neutral",
        "skipped",
        "action_required",
        "stale",
        "startup_failure",
        "FAILURE",
        "",
    ):
        assert isinstance(event("check_suite", checked(conclusion)), Nothing)
    for branch in (
        "main",
        "fix/login",
        "fix/42",
        "other/42-login",
        "fix/042-login",
        "fix/42-a b",
        "",
    ):
        assert isinstance(event("check_suite", checked(branch=branch)), Nothing)


def test_checks_of_a_branch_with_the_same_name_in_a_fork_do_not_count() -> None:
    assert isinstance(event("check_suite", checked(head=1)), Nothing)
    run = {**checked()["check_suite"], "head_repository": {"id": 1}}
    payload = {
        "action": "completed",
        "workflow_run": run,
        "sender": user(),
        "repository": {"id": 186853002},
    }
    assert isinstance(event("workflow_run", payload), Nothing)
    run["head_repository"] = {"id": 186853002}
    assert isinstance(event("workflow_run", payload), CheckFailed)
    assert isinstance(event("workflow_run", {**payload, "repository": {}}), Nothing)


def test_branches_are_those_that_runs_make() -> None:
    assert issue_of_branch(branch_name("42", "fix-auth-timeout")) == 42
    assert issue_of_branch(branch_name("", "fix-auth-timeout")) is None
    assert issue_of_branch(branch_name("PROJ-42", "fix")) is None


@pytest.mark.parametrize("kind", ChangeType)
def test_the_branch_of_a_pull_request_begins_with_the_type_of_its_change(kind: ChangeType) -> None:
    assert issue_of_branch(f"{kind}/42-fix-auth-timeout") == 42
    assert issue_of_branch(f"{kind}-42-fix-auth-timeout") == 42
    assert issue_of_branch(f"{kind}er/42-fix-auth-timeout") is None
