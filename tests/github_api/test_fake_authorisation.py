"""Who may do what on the fake: 401, 403 and 404 as GitHub tells them apart."""

import pytest

from tests.fakes.github import FakeGitHub, Role
from tests.github_api.asking import Asking

ROLES = ("NONE", "READ", "TRIAGE", "WRITE", "MAINTAIN", "ADMIN")


@pytest.fixture(autouse=True)
def furnished(github: FakeGitHub) -> None:
    repo = github.repository()
    github.repository("acme/secret", private=True)
    for role in ROLES[1:]:
        github.member(repo, role.lower(), Role[role])
    issue = github.issue(repo)
    github.comment(issue, "mine")


def test_a_token_that_is_not_known_is_refused_even_for_what_everybody_may_see(
    github: FakeGitHub,
) -> None:
    said = Asking(github, "ghp_wrong")("GET", "+")
    assert (said.status, said.message) == (401, "Bad credentials")
    assert Asking(github)("GET", "+").status == 200
    assert Asking(github)("POST", "+/issues", {"title": "x"}).status == 401


def test_what_one_may_not_see_is_not_there(github: FakeGitHub) -> None:
    for token in ("", github.token("admin")):
        assert Asking(github, token)("GET", "/repos/acme/secret").status == 404
        assert Asking(github, token)("GET", "/repos/acme/secret/issues/1").status == 404
    assert Asking(github, github.token("acme"))("GET", "/repos/acme/secret").status == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "least"),
    [
        ("POST", "+/issues", {"title": "x"}, "NONE"),
        ("POST", "+/issues/1/comments", {"body": "x"}, "NONE"),
        ("POST", "+/issues/1/reactions", {"content": "eyes"}, "NONE"),
        ("POST", "+/issues/1/labels", {"labels": ["x"]}, "TRIAGE"),
        ("PATCH", "+/issues/1", {"state": "closed"}, "TRIAGE"),
        ("PATCH", "+/issues/1", {"title": "x"}, "WRITE"),
        ("POST", "+/labels", {"name": "x"}, "WRITE"),
        ("PUT", "+/issues/1/lock", None, "WRITE"),
        ("PUT", "+/contents/x.txt", {"message": "x", "content": "eA=="}, "WRITE"),
        ("GET", "+/actions/secrets", None, "WRITE"),
        ("GET", "+/collaborators/read/permission", None, "WRITE"),
        ("GET", "+/actions/permissions/workflow", None, "ADMIN"),
        ("PATCH", "+", {"has_issues": True}, "ADMIN"),
    ],
)
def test_each_role_may_what_the_ones_below_it_may(
    github: FakeGitHub, method: str, path: str, body: object, least: str
) -> None:
    for role in ROLES:
        said = Asking(github, github.token(role.lower()))(method, path, body)
        assert (said.status == 403) == (Role[role] < Role[least]), (role, said)


def test_a_comment_is_edited_by_its_author_and_by_those_who_may_write(github: FakeGitHub) -> None:
    comment = github.found("acme", "widget").issues[1].comments[0].id
    for login, status in (("ann", 200), ("triage", 403), ("write", 200)):
        assert (
            Asking(github, github.token(login))(
                "PATCH", f"+/issues/comments/{comment}", {"body": "x"}
            ).status
            == status
        )


def test_the_role_that_counts_is_role_name_and_the_older_word_hides_two(github: FakeGitHub) -> None:
    repo = github.found("acme", "widget")
    github.member(repo, "lead", Role.WRITE, custom="release-lead")
    github.user("stranger")
    ask = Asking(github, github.token("write"))
    told = {
        login: ask("GET", f"+/collaborators/{login}/permission").body
        for login in ("maintain", "triage", "lead", "stranger", "acme")
    }
    assert {login: (body["permission"], body["role_name"]) for login, body in told.items()} == {
        "maintain": ("write", "maintain"),
        "triage": ("read", "triage"),
        "lead": ("write", "release-lead"),
        "stranger": ("read", "read"),
        "acme": ("admin", "admin"),
    }
    assert ask("GET", "+/collaborators/unheard-of/permission").status == 404


def test_the_token_of_actions_may_what_it_was_given_and_is_told_what_is_missing(
    github: FakeGitHub,
) -> None:
    repo = github.found("acme", "widget")
    ask = Asking(github, github.actions_token(repo, issues="write"))
    said = ask("POST", "+/issues/1/comments", {"body": "on it"})
    assert (said.status, said.body["user"]["login"], said.body["user"]["type"]) == (
        201,
        "github-actions[bot]",
        "Bot",
    )
    refused = ask("PUT", "+/contents/x.txt", {"message": "x", "content": "eA=="})
    assert (refused.status, refused.message) == (403, "Resource not accessible by integration")
    assert refused.headers["x-accepted-github-permissions"] == "contents=write"
    assert ask("GET", "+/collaborators/read/permission").status == 200
    assert ask("GET", "/user").status == 403


def test_the_token_of_actions_ends_at_its_repository(github: FakeGitHub) -> None:
    other = github.repository("acme/other")
    github.issue(other)
    ask = Asking(
        github,
        github.actions_token(github.found("acme", "widget"), issues="write", contents="write"),
        "/repos/acme/other",
    )
    assert ask("GET", "+/issues/1").status == 200
    assert ask("POST", "+/issues/1/comments", {"body": "x"}).status == 403
    assert ask("GET", "/repos/acme/secret").status == 404


def test_actions_open_pull_requests_only_where_the_repository_lets_them(github: FakeGitHub) -> None:
    repo = github.found("acme", "widget")
    github.commit(repo, "feature/x", {"a": "1"})
    ask = Asking(github, github.actions_token(repo, pull_requests="write"))
    wanted = {"title": "x", "head": "feature/x", "base": "main"}
    assert (
        ask("POST", "+/pulls", wanted).message
        == "GitHub Actions is not permitted to create or approve pull requests."
    )
    repo.actions_may_open_pulls = True
    assert ask("POST", "+/pulls", wanted).status == 201


def test_in_a_locked_conversation_those_talk_who_may_write(github: FakeGitHub) -> None:
    repo = github.found("acme", "widget")
    repo.issues[1].locked = True
    said = Asking(github, github.token("triage"))("POST", "+/issues/1/comments", {"body": "x"})
    assert (said.status, said.message) == (403, "Unable to create comment because issue is locked.")
    assert (
        Asking(github, github.token("write"))("POST", "+/issues/1/comments", {"body": "x"}).status
        == 201
    )
