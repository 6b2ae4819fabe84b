"""Limits and failures: how long is waited, what is tried again, and what is said when it does not
help.
"""

from collections.abc import Iterator

import pytest

from forge_bot.errors import BadAddress, GitHubUnavailable, PermissionMissing, RateLimited
from forge_bot.forge.github.client import GitHub
from forge_bot.sentences import hint_of
from tests.fakes.github import FakeGitHub, Issue


@pytest.fixture
def issue(github: FakeGitHub) -> Issue:
    return github.issue(github.repository())


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def bot(github: FakeGitHub, issue: Issue, waits: list[float]) -> Iterator[GitHub]:
    with GitHub(
        "acme/widget", github.token("ann"), github.url, wait=waits.append, patience=60, timeout=1
    ) as found:
        yield found


@pytest.mark.parametrize("status", [403, 429])
def test_a_secondary_limit_is_waited_for_as_long_as_github_says_and_the_comment_is_said_once(
    github: FakeGitHub, bot: GitHub, issue: Issue, waits: list[float], status: int
) -> None:
    github.faults.secondary("POST", 30, status=status)
    bot.comment(1, "hello")
    assert waits == [30.0]
    assert len(issue.comments) == 1


def test_a_limit_beyond_the_patience_is_told_with_its_end_and_not_waited_for(
    github: FakeGitHub, bot: GitHub, issue: Issue, waits: list[float]
) -> None:
    github.faults.secondary("POST", 61)
    with pytest.raises(RateLimited, match="used up for 61 seconds") as told:
        bot.comment(1, "hello")
    assert told.value.seconds == 61
    github.faults.exhausted("GET", github.clock.seconds + 3599)
    with pytest.raises(RateLimited, match="used up for 3600 seconds") as told:
        bot.issue(1)
    assert told.value.seconds == 3600
    assert waits == []
    assert issue.comments == []


def test_the_hourly_limit_is_waited_for_by_githubs_own_clock_when_it_ends_soon(
    github: FakeGitHub, bot: GitHub, waits: list[float]
) -> None:
    github.faults.exhausted("GET", github.clock.seconds + 9)
    assert bot.issue(1).number == 1
    assert waits == [10.0]


def test_a_failing_server_is_asked_again_for_what_only_reads(
    github: FakeGitHub, bot: GitHub, issue: Issue, waits: list[float]
) -> None:
    github.faults.status("GET", 502, times=2)
    assert bot.issue(1).number == 1
    assert waits == [1.0, 2.0]
    github.faults.status("GET", 503, times=3)
    with pytest.raises(GitHubUnavailable, match="GitHub answered 503"):
        bot.issue(1)
    github.faults.status("POST", 502)
    with pytest.raises(GitHubUnavailable, match="GitHub answered 502"):
        bot.comment(1, "hello")
    assert github.asked()[-1].startswith("POST")
    assert issue.comments == []


def test_a_write_whose_answer_is_lost_is_not_sent_again_and_may_have_been_done(
    github: FakeGitHub, bot: GitHub, issue: Issue
) -> None:
    github.faults.lost("POST", after=True)
    with pytest.raises(GitHubUnavailable, match="did not answer") as told:
        bot.comment(1, "hello")
    assert "may have been carried out" in hint_of(told.value)
    assert len(issue.comments) == 1
    github.faults.lost("GET")
    assert [comment.body for comment in bot.comments(1)] == ["hello"]


def test_a_write_that_is_the_same_when_it_is_done_twice_is_sent_again(
    github: FakeGitHub, bot: GitHub, issue: Issue, waits: list[float]
) -> None:
    comment = bot.comment(1, "hello")
    github.faults.lost("PATCH", after=True)
    github.faults.status("POST .*/reactions", 502)
    bot.edit_comment(comment.id, "hello there")
    bot.react_to_comment(comment.id, "rocket")
    assert [each.body for each in issue.comments] == ["hello there"]
    assert [each.content for each in issue.comments[0].reactions] == ["rocket"]
    assert waits == [1.0, 1.0]


def test_a_server_that_says_nothing_is_given_up_on(github: FakeGitHub, bot: GitHub) -> None:
    github.faults.silent("POST")
    with pytest.raises(GitHubUnavailable, match=r"did not answer \(ReadTimeout\)"):
        bot.comment(1, "hello")


@pytest.mark.parametrize(
    "address",
    ["http://github.corp/api/v3", "ftp://127.0.0.1", "nonsense", "http://[x", "https://h:port"],
)
def test_no_token_is_sent_to_an_address_that_shows_it(address: str) -> None:
    with pytest.raises(BadAddress):
        GitHub("acme/widget", "t", address)


def test_a_refusal_without_a_named_permission_says_what_github_says(
    github: FakeGitHub, bot: GitHub
) -> None:
    github.faults.status("GET", 403, "Resource protected by SAML enforcement.")
    with pytest.raises(
        PermissionMissing,
        match=r"access is forbidden \(GitHub says: Resource protected by SAML enforcement\)",
    ):
        bot.issue(1)
