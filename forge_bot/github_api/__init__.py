"""Access to GitHub: one repository through PyGithub, with types of our own, and issues by URL."""

from forge_bot.github_api.issue import IssueRef, comment_once, fetch_issue, parse_issue_url
from forge_bot.github_api.pygithub import GitHub
from forge_bot.github_api.remote_address import RepositoryAddress, parse_remote
from forge_bot.github_api.request_runner import load_library
from forge_bot.github_api.types import (
    Comment,
    FailedCheck,
    Issue,
    IssueEvent,
    NewPullRequest,
    Permission,
    PullRequest,
    PullState,
    Reaction,
    RepositoryFacts,
    RepositoryRole,
)

__all__ = [
    "Comment",
    "FailedCheck",
    "GitHub",
    "Issue",
    "IssueEvent",
    "IssueRef",
    "NewPullRequest",
    "Permission",
    "PullRequest",
    "PullState",
    "Reaction",
    "RepositoryAddress",
    "RepositoryFacts",
    "RepositoryRole",
    "comment_once",
    "fetch_issue",
    "load_library",
    "parse_issue_url",
    "parse_remote",
]
