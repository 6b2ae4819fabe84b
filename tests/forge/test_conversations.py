"""What the bot says and reads on GitHub, over real HTTP, with every exchange held against GitHub's
description.
"""

from collections.abc import Iterator

import pytest

from forge_bot.errors import ConversationLocked, GitHubError, GitHubRefused, MovedElsewhere
from forge_bot.forge.github.client import GitHub
from forge_bot.forge.types import AccountKind
from forge_bot.forge.types import Role as Rank
from forge_bot.sentences import hint_of
from tests.fakes.github import FakeGitHub, Issue, Repository, Role
from tests.forge import never


@pytest.fixture
def repo(github: FakeGitHub) -> Repository:
    return github.repository()


@pytest.fixture
def issue(github: FakeGitHub, repo: Repository) -> Issue:
    return github.issue(repo, "Fix the login", "It times out.", labels=["forge"])


@pytest.fixture
def bot(github: FakeGitHub, repo: Repository) -> Iterator[GitHub]:
    with GitHub(
        "acme/widget", github.actions_token(repo, issues="write"), github.url, wait=never
    ) as found:
        yield found


def test_comments_come_in_the_order_of_their_ids_and_none_twice(
    github: FakeGitHub, bot: GitHub, issue: Issue
) -> None:
    for number in range(230):
        github.comment(issue, f"{number}")
    every = bot.comments(1)
    assert [comment.body for comment in every] == [f"{number}" for number in range(230)]
    assert len(github.exchanges) == 3, "a hundred at a time"


def test_a_comment_that_was_edited_says_so_and_one_of_nobody_is_a_ghosts(
    github: FakeGitHub, bot: GitHub, issue: Issue
) -> None:
    github.comment(issue, "as sent")
    github.comment(issue, "of nobody", by="")
    edited = github.comment(issue, "/forge approve")
    edited.updated += 1
    assert [(each.edited, each.author.kind) for each in bot.comments(1)] == [
        (False, AccountKind.PERSON),
        (False, AccountKind.GHOST),
        (True, AccountKind.PERSON),
    ]


def test_a_comment_says_through_which_app_it_was_sent_and_what_sort_of_account_wrote_it(
    github: FakeGitHub, bot: GitHub, issue: Issue
) -> None:
    github.user("acme-team", "Organization")
    github.comment(issue, "/approve", via_app="some-app")
    github.comment(issue, "/approve", by="acme-team")
    found = bot.comments(1)
    assert [each.via_app for each in found] == ["some-app", ""]
    assert [each.author.kind for each in found] == [AccountKind.PERSON, AccountKind.OTHER]


def test_a_text_that_is_too_long_is_refused_in_githubs_words(bot: GitHub, issue: Issue) -> None:
    made = bot.comment(1, "x" * 65_536)
    with pytest.raises(GitHubRefused, match="body is too long"):
        bot.comment(1, "x" * 65_537)
    with pytest.raises(GitHubRefused, match="body is too long"):
        bot.edit_comment(made.id, "x" * 65_537)


def test_a_custom_role_counts_as_the_one_that_it_is_built_on(
    github: FakeGitHub, bot: GitHub, repo: Repository
) -> None:
    github.member(repo, "maint", Role.MAINTAIN)
    github.member(repo, "lead", Role.WRITE, custom="release-lead")
    github.user("stranger")
    logins = ("maint", "lead", "stranger", "unheard-of", "acme", "a/b?c")
    assert {login: bot.membership(login) for login in logins} == {
        "maint": Rank.MAINTAIN,
        "lead": Rank.WRITE,
        "stranger": Rank.READ,
        "unheard-of": Rank.NONE,
        "acme": Rank.ADMIN,
        "a/b?c": Rank.NONE,
    }


def test_what_is_not_there_is_none_whatever_words_github_has_for_it(
    github: FakeGitHub, bot: GitHub, repo: Repository
) -> None:
    assert bot.membership("dependabot[bot]") is Rank.NONE
    assert bot.text_of_file(".github/workflows/forge-bot.yml", "never-pushed") is None
    assert bot.rules_of("never-pushed") == ()


def test_all_members_of_a_team_are_read_and_none_where_the_token_may_not_look(
    github: FakeGitHub, repo: Repository
) -> None:
    github.teams["acme/core"] = tuple(f"Member{number}" for number in range(130))
    for permission, team, count in (
        ("read", "acme/core", 130),
        ("read", "acme/gone", None),
        ("read", "other/core", None),
        ("none", "acme/core", None),
    ):
        token = github.actions_token(repo, members=permission)
        with GitHub(repo.full_name, token, github.url) as asking:
            members = asking.team_members(team)
        assert (None if members is None else len(members)) == count, (permission, team)
        assert members is None or "member129" in members


def test_a_locked_conversation_is_told(github: FakeGitHub, issue: Issue) -> None:
    issue.locked = True
    with (
        GitHub("acme/widget", github.token("stranger"), github.url) as stranger,
        pytest.raises(ConversationLocked) as told,
    ):
        stranger.comment(1, "hello")
    assert (
        told.value.message
        == "the comment on acme/widget#1 could not be written: the conversation is locked."
    )
    assert "Unlock" in hint_of(told.value)


def test_an_issue_that_went_to_another_repository_is_neither_read_nor_written(
    github: FakeGitHub, bot: GitHub, repo: Repository, issue: Issue
) -> None:
    github.comment(issue, "/forge approve")
    there = github.transfer(repo, issue, github.repository("acme/other"))
    with pytest.raises(MovedElsewhere, match=r"moved to .*/acme/other/issues/1"):
        bot.issue(1)
    with pytest.raises(GitHubError):
        bot.comment(1, "hello")
    assert [comment.body for comment in there.comments] == ["/forge approve"]
