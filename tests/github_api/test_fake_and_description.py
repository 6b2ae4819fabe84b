"""The fake is held against GitHub's own description, and the check is one that can fail."""

import dataclasses
from typing import Any

import pytest

from tests.fakes.github import Exchange, FakeGitHub, Role
from tests.fakes.github.calls import ROUTES, matching
from tests.fakes.github.description import description
from tests.fakes.github.graphql import schema
from tests.fakes.github.payloads import EVENTS
from tests.github_api.asking import Asking


def complaints(exchange: Exchange, **changed: Any) -> list[str]:
    """What the description says to an exchange with something changed in it."""
    route, _ = matching(exchange.method, exchange.path)
    assert route is not None
    return description().check(route, dataclasses.replace(exchange, **changed))


def without(answer: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != name}


def test_the_description_holds_just_what_the_fake_answers() -> None:
    described = {
        (method.upper(), path)
        for path, methods in description().whole["paths"].items()
        for method in methods
    }
    assert described == {(route.method, route.template) for route in ROUTES}
    assert set(description().whole["x-webhooks"]) == set(EVENTS)
    assert description().whole["info"]["title"] == "reduced from @octokit/openapi@23.0.2"


def test_an_answer_that_does_not_fit_is_found(github: FakeGitHub) -> None:
    repo = github.repository()
    github.issue(repo)
    Asking(github)("GET", "+/issues/1")
    exchange = github.exchanges[-1]
    assert complaints(exchange) == []
    assert any(
        "labels_url" in found
        for found in complaints(exchange, answer=without(exchange.answer, "labels_url"))
    )
    assert any(
        "number" in found
        for found in complaints(exchange, answer={**exchange.answer, "number": "1"})
    )
    assert any(
        "html_url" in found
        for found in complaints(exchange, answer={**exchange.answer, "html_url": "no address"})
    )
    assert any(
        "created_at" in found
        for found in complaints(exchange, answer={**exchange.answer, "created_at": "yesterday"})
    )
    assert complaints(exchange, status=202) == [
        (
            "GET /repos/{owner}/{repo}/issues/{issue_number}: 202 is not among ['200', '301',"
            " '304', '404', '410']"
        )
    ]


def test_null_is_taken_where_github_says_so_and_nowhere_else(github: FakeGitHub) -> None:
    github.issue(github.repository(), body=None, by="")
    assert Asking(github)("GET", "+/issues/1").body["user"] is None
    exchange = github.exchanges[-1]
    assert any(
        "title" in found
        for found in complaints(exchange, answer={**exchange.answer, "title": None})
    )


def test_a_request_that_does_not_fit_is_found_where_github_took_it(github: FakeGitHub) -> None:
    repo = github.repository()
    github.issue(repo)
    github.member(repo, "maint", Role.WRITE)
    ask = Asking(github, github.token("maint"))
    ask("POST", "+/issues/1/comments", {"body": "hello"})
    exchange = github.exchanges[-1]
    assert any("request" in found for found in complaints(exchange, body={"body": 5}))
    assert any("request" in found for found in complaints(exchange, body=None))
    assert any("'sinse'" in found for found in complaints(exchange, query={"sinse": "x"}))
    assert (
        complaints(
            exchange,
            status=422,
            answer={"message": "Validation Failed", "documentation_url": "x"},
            body={"body": 5},
        )
        == []
    )


def test_an_operation_that_the_fake_lacks_fails_the_test_that_asks_for_it(
    github: FakeGitHub,
) -> None:
    github.repository()
    assert Asking(github)("GET", "+/stargazers").status == 404
    assert github.findings == ["GET /repos/acme/widget/stargazers: the fake has no such operation"]
    github.findings.clear()


def test_a_graphql_document_with_a_field_that_github_lacks_fails_the_test(
    github: FakeGitHub,
) -> None:
    ask = Asking(github, github.token("ann"))
    assert ask("POST", "/graphql", {"query": "{ viewer { login } }"}).body == {
        "data": {"viewer": {"login": "ann"}}
    }
    assert github.findings == []
    ask("POST", "/graphql", {"query": "{ viewer { logine } }"})
    assert "Cannot query field 'logine'" in github.findings.pop()
    assert "markPullRequestReadyForReview" in schema().mutation_type.fields  # pyright: ignore[reportOptionalMemberAccess]


PARTS = {
    "issues": ("issue",),
    "issue_comment": ("comment",),
    "pull_request": ("pull",),
    "check_run": ("check",),
    "check_suite": ("check",),
    "workflow_run": ("check",),
}


@pytest.mark.parametrize("event", EVENTS)
def test_a_payload_fits_the_description_of_its_webhook(github: FakeGitHub, event: str) -> None:
    github.user("acme", "Organization")
    repo = github.repository(files={"a": "1", ".github/workflows/ci.yml": "name: CI\non: push\n"})
    head = github.commit(repo, "feature/x", {"a": "2"})
    issue = github.issue(repo, labels=["forge"])
    everything: dict[str, Any] = {
        "issue": issue,
        "comment": github.comment(issue, "/forge"),
        "pull": github.pull(repo, "feature/x"),
    }
    github.label(repo, "forge")
    name = next(
        (name for name in PARTS if event.startswith(name.replace("_", "-") + "-")),
        "workflow_dispatch",
    )
    everything["check"] = github.check(repo, head, "test", "failure", log="boom")
    action = event.removeprefix(name.replace("_", "-")).removeprefix("-").replace("-", "_")
    parts = {part: everything[part] for part in PARTS.get(name, ())} or {
        "workflow": ".github/workflows/ci.yml"
    }
    parts |= {"label": "forge"} if action in {"labeled", "unlabeled"} else {}
    parts |= {"before": head} if action == "synchronize" else {}
    payload = github.payload(f"{name}.{action}".rstrip("."), repo, "maint", **parts)
    assert payload["sender"]["login"] == "maint"
    assert payload["repository"]["full_name"] == "acme/widget"
    assert payload["organization"]["login"] == "acme"
    assert payload.get("action") == (action or None)


def test_the_payload_of_a_label_names_the_new_one_and_all_of_them(github: FakeGitHub) -> None:
    repo = github.repository()
    issue = github.issue(repo, labels=["bug", "forge"])
    payload = github.payload("issues.labeled", repo, "maint", issue=issue, label="forge")
    assert payload["label"]["name"] == "forge"
    assert [label["name"] for label in payload["issue"]["labels"]] == ["bug", "forge"]


def test_a_comment_on_a_pull_request_says_so_and_one_of_nobody_has_no_user(
    github: FakeGitHub,
) -> None:
    repo = github.repository()
    github.commit(repo, "feature/x", {"a": "2"})
    comment = github.comment(github.pull(repo, "feature/x"), "/forge", by="")
    payload = github.payload("issue_comment.created", repo, "maint", comment=comment)
    assert "pull_request" in payload["issue"]
    assert payload["comment"]["user"] is None
