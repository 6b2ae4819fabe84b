"""Pull requests, checks, facts and dispatches through the adapter."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from forge_bot.errors import GitHubRefused, NotOnGitHub, PermissionMissing
from forge_bot.forge.github.client import GitHub
from forge_bot.forge.types import NewPullRequest, PullState
from forge_bot.sentences import hint_of
from tests.fakes.github import FakeGitHub, Repository
from tests.forge import never

NEW = NewPullRequest(title="Fix the login", body="Closes #1", head="fix/1-login", base="main")
FORGE = ".github/workflows/forge-bot.yml"
TEXT = "name: forge\non:\n  workflow_dispatch:\n    inputs: {issue: {required: true}}\n"


@pytest.fixture
def repo(github: FakeGitHub) -> Repository:
    found = github.repository(files={"a.py": "x = 1\n", FORGE: TEXT})
    found.actions_may_open_pulls = True
    github.commit(found, "fix/1-login", {"a.py": "x = 2\n"})
    return found


@pytest.fixture
def bot(github: FakeGitHub, repo: Repository) -> Iterator[GitHub]:
    token = github.actions_token(
        repo, contents="write", issues="write", pull_requests="write", actions="write"
    )
    with GitHub("acme/widget", token, github.url, wait=never) as found:
        yield found


def test_a_draft_is_opened_found_by_its_branch_changed_and_made_ready(
    github: FakeGitHub, bot: GitHub, repo: Repository
) -> None:
    assert bot.pull_request_for("fix/1-login") is None
    made = bot.open_pull_request(NEW)
    assert (made.draft, made.state, made.author.login, made.head, made.base) == (
        True,
        PullState.OPEN,
        "github-actions[bot]",
        "fix/1-login",
        "main",
    )
    assert made.head_sha == repo.bare.head("fix/1-login")
    assert bot.pull_request_for("fix/1-login") == made
    bot.update_pull_request(1, title="Login fixed", body="")
    bot.mark_ready(made)
    assert bot.pull_request_for("fix/1-login") == replace(
        made, title="Login fixed", body="", draft=False
    )


def test_of_several_pull_requests_of_a_branch_the_open_one_counts_and_then_the_newest(
    github: FakeGitHub, bot: GitHub, repo: Repository
) -> None:
    first, second = (github.pull(repo, "fix/1-login") for _ in range(2))
    second.state = "closed"
    assert (found := bot.pull_request_for("fix/1-login")) is not None
    assert found.number == first.number
    first.state = "closed"
    assert first.pull is not None
    first.pull.merged = github.clock.tick()
    assert (found := bot.pull_request_for("fix/1-login")) is not None
    assert (found.number, found.state) == (second.number, PullState.CLOSED)


def test_a_pull_request_that_github_does_not_take_says_why(bot: GitHub, repo: Repository) -> None:
    repo.bare.set_ref("refs/heads/empty", repo.bare.head("main"))
    with pytest.raises(GitHubRefused, match="No commits between main and empty"):
        bot.open_pull_request(replace(NEW, head="empty"))
    with pytest.raises(GitHubRefused, match="head is invalid") as refused:
        bot.open_pull_request(replace(NEW, head="unknown"))
    assert refused.value.details == ("head is invalid",)
    with pytest.raises(GitHubRefused, match="title is too long"):
        bot.open_pull_request(replace(NEW, title="x" * 257))


def test_where_actions_may_not_open_pull_requests_the_setting_is_named(
    bot: GitHub, repo: Repository
) -> None:
    repo.actions_may_open_pulls = False
    with pytest.raises(
        PermissionMissing, match="does not let GitHub Actions open pull requests"
    ) as refused:
        bot.open_pull_request(NEW)
    assert "Allow GitHub Actions to create and approve pull requests" in hint_of(refused.value)


def test_a_token_without_the_permission_is_told_which_one_it_needs(
    github: FakeGitHub, repo: Repository
) -> None:
    github.pull(repo, "fix/1-login", draft=True)
    with GitHub(
        "acme/widget", github.actions_token(repo, pull_requests="read"), github.url
    ) as reader:
        found = reader.pull_request_for("fix/1-login")
        assert found is not None
        assert found.draft
        with pytest.raises(
            PermissionMissing, match="needs the permission pull_requests: write"
        ) as refused:
            reader.open_pull_request(NEW)
        assert refused.value.details == ("pull_requests: write",)
        with pytest.raises(PermissionMissing, match="Resource not accessible by integration"):
            reader.mark_ready(found)
        with pytest.raises(NotOnGitHub, match="no such pull request"):
            reader.mark_ready(replace(found, number=99))


def test_failed_checks_come_with_the_ends_of_their_logs_and_the_token_stays_at_home(
    github: FakeGitHub, bot: GitHub, repo: Repository
) -> None:
    github.pull(repo, "fix/1-login")
    head = repo.bare.head("fix/1-login")
    lines = [f"2026-01-01T00:00:00.0000000Z line {number}" for number in range(5000)]
    log = (
        "\ufeff"
        + "\n".join([*lines, "2026-01-01T00:00:01.0000000Z \x1b[31mE  assert 1 == 2\x1b[0m"])
        + "\n"
    )
    github.check(repo, head, "test", "failure", log=log, title="1 failed", summary="in a.py")
    github.check(repo, head, "lint", "success", log="fine")
    github.check(repo, head, "docs", None)
    github.check(repo, head, "gone", "timed_out")
    found = bot.failed_checks(1)
    assert [(each.name, each.conclusion) for each in found] == [
        ("test", "failure"),
        ("gone", "timed_out"),
    ]
    assert (found[0].summary, found[1].log) == ("1 failed\nin a.py", "")
    assert found[0].log.splitlines()[-2:] == ["line 4999", "E  assert 1 == 2"]
    assert len(found[0].log.splitlines()) == 60


def test_the_facts_of_a_repository_for_an_administrator(
    github: FakeGitHub, repo: Repository
) -> None:
    repo.secrets.append("ANTHROPIC_API_KEY")
    github.label(repo, "forge")
    with GitHub("acme/widget", github.token("acme"), github.url) as admin:
        assert admin.about().default_branch == "main"
        assert (admin.labels(), admin.secrets()) == (("forge",), ("ANTHROPIC_API_KEY",))
        assert (admin.text_of_file(FORGE, "main"), admin.may_open_pulls()) == (TEXT, True)


def test_the_token_of_actions_may_not_see_what_actions_may_do_and_names_of_secrets(
    bot: GitHub, repo: Repository
) -> None:
    assert bot.text_of_file(".github/workflows/none.yml", "main") is None
    for ask in (bot.may_open_pulls, bot.secrets):
        with pytest.raises(PermissionMissing):
            ask()


def test_a_thousand_threads_of_reviews_are_read_by_pages_and_the_others_counted(
    github: FakeGitHub, bot: GitHub, repo: Repository
) -> None:
    pull = github.pull(repo, "fix/1-login")
    for number in range(1_005):
        github.review_comment(pull, f"Number {number}.", by="eve", line=number + 1)
    threads = pull.pull.threads if pull.pull is not None else []
    threads[0].outdated, threads[1].comments[0].minimized = True, "spam"
    threads[2].comments[0].user = None
    before = len(github.exchanges)
    reviews = bot.reviews(pull.number)
    assert (len(reviews.threads), reviews.unread) == (999, 5)
    first, third = reviews.threads[0], reviews.threads[1]
    assert (first.outdated, first.line, first.comments[0].author.login) == (True, 1, "eve")
    assert (third.line, third.comments[0].author.login) == (3, "ghost")
    assert github.asked(since=before) == ["POST /graphql"] * 10
