"""Types for issues, comments, pull requests, reviews, checks and facts of a repository."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from forge_bot.gate.people import Account
from forge_bot.values import Frozen

Reaction = Literal["eyes", "rocket", "confused", "+1"]
"""The receipt on a comment that is answered: seen, done, not done, taken."""


class Issue(Frozen):
    """An issue, or a pull request seen as one. Title and body are untrusted."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    author: Account
    url: str
    state: str
    closed_at: datetime | None = Field(description="None while it is open")
    state_reason: str = Field(description="completed, not_planned, duplicate, reopened, or empty")
    is_pull_request: bool
    type: str = Field(default="", description="the issue's type, as `Bug`; empty if it has none")


class Comment(Frozen):
    """A comment on an issue or pull request. The body is untrusted."""

    id: int
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    url: str
    via_app: str = Field(description="the app it was sent through; empty for a person")

    @property
    def edited(self) -> bool:
        """Return whether the text was edited, or may have been."""
        return self.updated_at != self.created_at


class PullState(StrEnum):
    """The state of a pull request."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class PullRequest(Frozen):
    """A pull request whose branch belongs to the repository itself."""

    number: int
    title: str
    body: str
    author: Account
    state: PullState
    draft: bool
    head: str = Field(description="the branch")
    head_sha: str
    base: str
    url: str
    merged_at: datetime | None = None
    merge_commit: str = Field(default="", description="what the base branch got by the merge")


class NewPullRequest(Frozen):
    """A pull request to be opened between two branches of the repository."""

    title: str
    body: str
    head: str
    base: str
    draft: bool = True


class FailedCheck(Frozen):
    """A check run, or a commit status, the older kind of check, that did not succeed. Summary and
    log are untrusted output.
    """

    name: str
    conclusion: str = ""
    url: str = ""
    summary: str = ""
    log: str = Field(default="", description="the last lines of the job's log, where it has one")


class RepositoryFacts(Frozen):
    """The facts that doctor checks. None means that this token may not see it; `hidden` names
    it.
    """

    full_name: str
    default_branch: str
    archived: bool
    has_issues: bool
    labels: tuple[str, ...]
    workflow: str | None = Field(description="the workflow file's text on the default branch")
    workflow_state: str = Field(description="active, disabled_manually, …; empty if not seen")
    schedule_state: str = Field(description="the same of the scheduled workflow")
    actions_may_open_pulls: bool | None
    secrets: tuple[str, ...] | None = Field(description="names only")
    rules: tuple[str, ...] = Field(description="rules that the default branch has, by kind")
    hidden: tuple[str, ...] = ()


class ReviewComment(Frozen):
    """A comment in a thread, or the text of a review. The body is untrusted."""

    id: str
    author: Account
    body: str
    at: datetime = Field(description="when it was written or last edited")
    url: str = ""


class ReviewThread(Frozen):
    """A thread, without hidden comments."""

    resolved: bool
    first: int = Field(description="the id of its first comment, which replies belong to")
    path: str
    line: int | None
    outdated: bool
    hunk: str
    comments: tuple[ReviewComment, ...]


class Reviews(Frozen):
    """The present reviews of a pull request. `unread` counts the threads beyond the bound."""

    threads: tuple[ReviewThread, ...] = ()
    requests: tuple[ReviewComment, ...] = ()
    unread: int = 0
