"""Reading an issue over real HTTP from a small GitHub on loopback."""

from collections.abc import Iterator

import pytest

from forge_bot.errors import IssueUnavailable
from forge_bot.github_api import IssueRef, fetch_issue, parse_issue_url
from tests.fakes.small_github import ISSUE, SmallGitHub

REF = IssueRef(host="github.com", owner="o", repository="r", number=42)


@pytest.fixture
def github() -> Iterator[SmallGitHub]:
    server = SmallGitHub()
    yield server
    server.close()


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


@pytest.mark.parametrize(
    "api_url", ["ftp://127.0.0.1/", "nonsense", "http://", "http://[x", "http://github.corp/api/v3", "https://h:port/"]
)
def test_an_api_address_that_is_none_or_would_show_the_token_is_refused(api_url: str) -> None:
    with pytest.raises(IssueUnavailable, match="is no"):
        fetch_issue(REF, "secret", api_url)


def test_a_token_with_a_line_end_is_used_without_it_and_a_broken_one_is_not_sent_or_shown(github: SmallGitHub) -> None:
    fetch_issue(REF, "secret\n", github.url)
    with pytest.raises(IssueUnavailable, match="signs that no token has") as refused:
        fetch_issue(REF, "geh eim", github.url)
    assert "geh" not in str(refused.value)
    assert github.asked == [("/repos/o/r/issues/42", "token secret")]


def test_an_issue_is_read_in_one_request_with_the_token(github: SmallGitHub) -> None:
    issue = fetch_issue(REF, "secret", github.url)
    assert (issue.title, issue.body, issue.labels, issue.author) == ("Fix the login", "It times out.", ("bug", "forge:S"), "ann")
    assert github.asked == [("/repos/o/r/issues/42", "token secret")]


def test_an_issue_without_body_and_author_is_read_too(github: SmallGitHub) -> None:
    github.reply = (200, {**ISSUE, "body": None, "user": None}, {})
    issue = fetch_issue(REF, None, github.url)
    assert (issue.body, issue.author) == ("", "ghost")
    assert github.asked[0][1] is None


def test_a_pull_request_is_no_issue(github: SmallGitHub) -> None:
    github.reply = (200, {**ISSUE, "pull_request": {"url": "https://api.github.com/repos/o/r/pulls/42"}}, {})
    with pytest.raises(IssueUnavailable, match="is a pull request"):
        fetch_issue(REF, None, github.url)


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
            "until 2026-01-01 00:00 UTC",
        ),
        (410, {"message": "This issue was deleted"}, {}, "was deleted"),
        (500, {"message": "oops"}, {}, "answered 500"),
        (200, "<html>not json</html>", {}, "could not be read"),
        (200, [], {}, "not GitHub's"),
        (200, {}, {}, "not GitHub's"),
        (200, "{broken", {}, "not GitHub's"),
        (200, {**ISSUE, "title": 5}, {}, "not GitHub's"),
        (500, [1], {}, "not GitHub's"),
        (301, {"message": "Moved"}, {"Location": "https://evil.example/x"}, "not GitHub's"),
        (403, {"message": "You have exceeded a secondary rate limit."}, {"Retry-After": "60"}, "used up for 60 seconds"),
        (429, {"message": "Too many"}, {"Retry-After": "60"}, "used up for 60 seconds"),
        (403, {"message": "API rate limit exceeded"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 17}, "used up"),
    ],
)
def test_what_goes_wrong_is_told_precisely(github: SmallGitHub, status: int, body: object, headers: dict[str, str], said: str) -> None:
    github.reply = (status, body, headers)
    with pytest.raises(IssueUnavailable, match=said):
        fetch_issue(REF, None, github.url)
    assert len(github.asked) == 1, "nothing is retried"


def test_a_host_that_does_not_answer_is_told(github: SmallGitHub) -> None:
    github.http.server_close()
    with pytest.raises(IssueUnavailable, match="did not answer"):
        fetch_issue(REF, None, "http://127.0.0.1:1")
