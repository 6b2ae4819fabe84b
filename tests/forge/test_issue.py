"""Reading an issue over real HTTP from the GitHub of the tests, and which remote addresses lead to a
repository there; a token goes nowhere else.
"""

import json
from dataclasses import replace

import pytest

from forge_bot.errors import IssueUnavailable
from forge_bot.forge import IssueRef, fetch_issue, parse_issue_url, parse_remote
from forge_bot.sentences import hint_of
from tests.fakes.github import FakeGitHub, Issue
from tests.fakes.rows import rows

REF = IssueRef(host="github.com", owner="o", repository="r", number=42)


def named(api: str, token: str | None) -> dict[str, str]:
    """The environment that names an API and a token."""
    return {"GITHUB_API_URL": api, "GITHUB_TOKEN": token or ""}


@pytest.fixture
def issue(github: FakeGitHub) -> Issue:
    repo = github.repository("o/r")
    return github.issue(
        repo, "Fix the login", "It times out.", labels=["bug", "forge:S"], number=42
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/o/r/issues/42",
        "https://github.com/o/r/issues/42/",
        "https://www.github.com/o/r/issues/42?x=1#issuecomment-7",
        "http://github.com/o/r/issues/42",
    ],
)
def test_the_url_of_an_issue_is_recognised(url: str) -> None:
    assert parse_issue_url(url) == REF


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://github.com/o/r/pull/42",
        "https://github.com/o/r/issues",
        "https://github.com/o/r/issues/0",
        "https://github.com/o/r/issues/4²",
        "see https://github.com/o/r/issues/42",
        "https://github.com/o/r/issues/42 please",
        "ftp://github.com/o/r/issues/42",
        "o/r#42",
        "http://[x",
        "https://github.com/../x/issues/1",
        "https://github.com/o/../issues/1",
        "https://github.com/o/r%2F..%2Fx/issues/1",
        f"https://github.com/o/r/issues/{'9' * 5000}",
    ],
)
def test_anything_else_is_a_task_in_words(text: str) -> None:
    assert parse_issue_url(text) is None


def test_an_enterprise_host_is_known_only_if_it_is_named() -> None:
    url = "https://git.corp.example:8443/team/app/issues/7"
    assert parse_issue_url(url) is None
    ref = parse_issue_url(url, hosts=("github.com", "git.corp.example:8443"))
    assert ref is not None
    assert ref.host == "git.corp.example:8443"


def test_the_token_is_sent_to_no_host_that_was_not_named() -> None:
    for url in (
        "https://evil.example/o/r/issues/1",
        "https://github.com@evil.example/o/r/issues/1",
        "https://github.com.evil/o/r/issues/1",
    ):
        assert parse_issue_url(url) is None, url


def test_a_token_with_a_line_end_is_used_without_it_and_a_broken_one_is_not_sent_or_shown(
    github: FakeGitHub, issue: Issue
) -> None:
    token = github.token("ann")
    fetch_issue(REF, named(github.url, f"{token}\n"))
    with pytest.raises(IssueUnavailable, match="signs that no token has") as refused:
        fetch_issue(REF, named(github.url, "geh eim"))
    assert "geh" not in str(refused.value)
    assert [(each.words, each.authorization) for each in github.exchanges] == [
        ("GET /repos/o/r/issues/42", f"token {token}")
    ]


def test_an_issue_is_read_in_one_request(github: FakeGitHub, issue: Issue) -> None:
    found = fetch_issue(REF, named(github.url, github.token("bob")))
    assert (found.title, found.body, found.labels, found.author.login) == (
        "Fix the login",
        "It times out.",
        ("bug", "forge:S"),
        "ann",
    )
    assert github.asked() == ["GET /repos/o/r/issues/42"]


def test_a_pull_request_is_no_issue(github: FakeGitHub) -> None:
    repo = github.repository("o/r")
    github.commit(repo, "feature/x", {"a": "1"})
    github.issue(repo, number=41)
    github.pull(repo, "feature/x")
    with pytest.raises(IssueUnavailable, match="is a pull request"):
        fetch_issue(REF, named(github.url, None))


@pytest.mark.parametrize(
    ("status", "body", "headers", "said"),
    [
        (404, {"message": "Not Found"}, {}, "no such issue"),
        (401, {"message": "Bad credentials"}, {}, "token is not accepted"),
        (403, {"message": "Forbidden"}, {}, "access is forbidden"),
        (
            403,
            {"message": "API rate limit exceeded"},
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767225600"},
            "the rate limit is used up",
        ),
        (410, {"message": "This issue was deleted"}, {}, "was deleted"),
        (500, {"message": "oops"}, {}, "answered 500"),
        (200, "<html>not json</html>", {}, "could not be read"),
        (200, [], {}, "not GitHub's"),
        (200, {}, {}, "not GitHub's"),
        (200, "{broken", {}, "not GitHub's"),
        (200, {"number": 42, "title": 5, "html_url": "x", "state": "open"}, {}, "not GitHub's"),
        (301, {"message": "Moved"}, {"Location": "https://evil.example/x"}, "not GitHub's"),
        (
            403,
            {"message": "You have exceeded a secondary rate limit."},
            {"Retry-After": "60"},
            "used up for 60 seconds",
        ),
        (429, {"message": "Too many"}, {"Retry-After": "60"}, "used up for 60 seconds"),
        (
            403,
            {"message": "API rate limit exceeded"},
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 17},
            "used up",
        ),
    ],
)
def test_what_goes_wrong_is_told_precisely(
    github: FakeGitHub, status: int, body: object, headers: dict[str, str], said: str
) -> None:
    github.faults.strange(
        "GET", body if isinstance(body, str) else json.dumps(body), status=status, headers=headers
    )
    with pytest.raises(IssueUnavailable, match=said):
        fetch_issue(REF, named(github.url, None))
    assert len(github.exchanges) == 1, "nothing is retried"


def test_an_issue_that_is_gone_or_hidden_is_told(github: FakeGitHub, issue: Issue) -> None:
    issue.deleted = True
    with pytest.raises(IssueUnavailable, match="was deleted"):
        fetch_issue(REF, named(github.url, None))
    with pytest.raises(IssueUnavailable, match="no such issue") as missing:
        fetch_issue(replace(REF, number=43), named(github.url, None))
    assert "GITHUB_TOKEN" in hint_of(missing.value)
    with pytest.raises(IssueUnavailable, match="token is not accepted"):
        fetch_issue(REF, named(github.url, "ghp_wrong"))


def test_an_issue_of_a_renamed_repository_is_found_and_one_that_went_elsewhere_is_told(
    github: FakeGitHub, issue: Issue
) -> None:
    repo, other = github.found("o", "r"), github.repository("o/other")
    github.rename(repo, "new")
    assert fetch_issue(REF, named(github.url, None)).title == "Fix the login"
    github.transfer(repo, issue, other)
    with pytest.raises(IssueUnavailable, match=r"moved to http.*/o/other/issues/1"):
        fetch_issue(REF, named(github.url, None))


ROWS = rows(__file__)

DOTCOM = ("acme/rota", "https://github.com/acme/rota", "https://api.github.com")


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/acme/rota.git",
        "https://github.com/acme/rota",
        "https://somebody:secret@GitHub.com/acme/rota.git/",
        "git@github.com:acme/rota.git",
        "ssh://git@github.com/acme/rota.git",
    ],
)
def test_every_way_to_write_an_address_leads_to_the_same_place(remote: str) -> None:
    place = parse_remote(remote, {})
    assert place is not None
    assert (place.name, place.page, place.api) == DOTCOM


@pytest.mark.parametrize("remote", ROWS["what_lies_elsewhere_is_no"])
def test_what_lies_elsewhere_is_no_place_on_github(remote: str | None) -> None:
    assert parse_remote(remote, {}) is None


def test_a_server_of_ones_own_counts_when_the_environment_names_it() -> None:
    remote = "https://git.acme.example/acme/rota.git"
    assert parse_remote(remote, {}) is None
    named = parse_remote(remote, {"GH_HOST": "git.acme.example"})
    assert named is not None
    assert named.api == "https://git.acme.example/api/v3"
    run = parse_remote(
        remote,
        {
            "GITHUB_SERVER_URL": "https://git.acme.example",
            "GITHUB_API_URL": "https://git.acme.example/api/v3",
        },
    )
    assert run == named
