"""Types for GitHub: issues, comments, pull requests, checks, facts of a repository; each made of
PyGithub's object, whose missing values would cost a request each.
"""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import Field

from forge_bot.gate.json_payload import Node
from forge_bot.gate.people import GHOST, Account, read_account
from forge_bot.values import Frozen

if TYPE_CHECKING:
    import github.Issue
    import github.IssueComment
    import github.PullRequest
    from github.NamedUser import NamedUser
    from github.Organization import Organization


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


def _account(user: "NamedUser | Organization | None") -> Account:
    """Return the account as the gate reads it, or the ghost that GitHub shows for a deleted one."""
    if user is None:
        return GHOST
    return read_account(Node({"login": user.login, "type": user.type})) or GHOST


def read_issue(issue: "github.Issue.Issue", *, whole: bool = False) -> Issue:
    """Return an issue as PyGithub read it. Lists may lack what a `whole` one has."""
    return Issue(
        number=issue.number,
        title=issue.title,
        body=issue.body or "",
        labels=tuple(label.name for label in issue.labels if label.name),
        author=_account(issue.user),
        url=issue.html_url,
        state=issue.state,
        closed_at=issue.closed_at if issue.state == "closed" else None,
        state_reason=issue.state_reason or "",
        is_pull_request="/pull/" in issue.html_url,
        type=(issue.type.name or "") if whole and issue.type else "",
    )


def read_comment(comment: "github.IssueComment.IssueComment") -> Comment:
    """Return a comment as PyGithub read it."""
    app = comment.performed_via_github_app
    return Comment(
        id=comment.id,
        author=_account(comment.user),
        body=comment.body or "",
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        url=comment.html_url,
        via_app=(app.slug or "an app") if app else "",
    )


def is_own(pull: "github.PullRequest.PullRequest") -> bool:
    """Return whether its branch belongs to the repository itself, not to a fork."""
    head = pull.head.repo
    return bool(head) and head.full_name == pull.base.repo.full_name


def read_pull(pull: "github.PullRequest.PullRequest") -> PullRequest:
    """Return a pull request as PyGithub read it."""
    state = PullState.OPEN if pull.state == "open" else PullState.CLOSED
    return PullRequest(
        number=pull.number,
        title=pull.title,
        body=pull.body or "",
        author=_account(pull.user),
        state=PullState.MERGED if pull.merged_at else state,
        draft=pull.draft,
        head=pull.head.ref,
        head_sha=pull.head.sha,
        base=pull.base.ref,
        url=pull.html_url,
        merged_at=pull.merged_at,
        merge_commit=(pull.merge_commit_sha or "") if pull.merged_at else "",
    )
