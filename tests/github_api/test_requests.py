"""How many requests each thing costs is small, counted here, and said in docs/github.md."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_bot.github_api.pygithub import GitHub
from forge_bot.github_api.types import NewPullRequest, PullRequest
from tests.fakes.github import FakeGitHub
from tests.github_api.asking import never

PAGE = (Path(__file__).parents[2] / "docs" / "github.md").read_text(encoding="utf-8")
SAID = {
    name: int(number) for name, number in re.findall(r"^\| `(\w+)` \| (\d+)", PAGE, re.MULTILINE)
}
NEW = NewPullRequest(title="x", body="", head="fix/2", base="main")

DOING: dict[str, Callable[[GitHub], object]] = {
    "issue": lambda bot: bot.issue(1),
    "issues_of": lambda bot: bot.issues_of("ann"),
    "open_issue": lambda bot: bot.open_issue("x", "y"),
    "comments": lambda bot: bot.comments(1),
    "membership": lambda bot: bot.membership("ann"),
    "comment": lambda bot: bot.comment(1, "x"),
    "edit_comment": lambda bot: bot.edit_comment(_first(bot), "x"),
    "react_to_comment": lambda bot: bot.react_to_comment(_first(bot), "eyes"),
    "create_label": lambda bot: bot.create_label("a", "ffffff", ""),
    "pull_request_for": lambda bot: bot.pull_request_for("fix/1"),
    "open_pull_request": lambda bot: bot.open_pull_request(NEW),
    "update_pull_request": lambda bot: bot.update_pull_request(2, title="y", body="z"),
    "mark_ready": lambda bot: bot.mark_ready(_pull(bot)),
    "failed_checks": lambda bot: bot.failed_checks(2),
    "facts": lambda bot: bot.facts(".github/workflows/forge.yml"),
}
# What a thing needs to be known before it is done; it is not counted.
BEFORE = {"edit_comment": 1, "react_to_comment": 1, "mark_ready": 1}


def _first(bot: GitHub) -> int:
    return bot.comments(1)[0].id


def _pull(bot: GitHub) -> PullRequest:
    found = bot.pull_request_for("fix/1")
    assert found is not None
    return found


@pytest.mark.parametrize("name", DOING)
def test_the_page_says_what_each_thing_costs(github: FakeGitHub, name: str) -> None:
    repo = github.repository(
        files={"a": "1", ".github/workflows/forge.yml": "on: workflow_dispatch\n"}
    )
    repo.actions_may_open_pulls = True
    github.comment(github.issue(repo, labels=["forge"]), "hello")
    for branch in ("fix/1", "fix/2"):
        github.commit(repo, branch, {"a": branch})
    github.pull(repo, "fix/1", draft=True)
    token = github.actions_token(
        repo, issues="write", pull_requests="write", contents="write", actions="write"
    )
    with GitHub("acme/widget", token, github.url, wait=never) as bot:
        DOING[name](bot)
    assert len(github.exchanges) - BEFORE.get(name, 0) == SAID[name]


def test_the_page_speaks_of_everything_that_github_is_asked() -> None:
    asked = {name for name in vars(GitHub) if not name.startswith("_")} - {"name", "close"}
    assert set(SAID) == set(DOING) == asked
