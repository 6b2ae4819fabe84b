"""Types for GitHub: issues, comments, pull requests, checks, facts of a repository."""

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
    body: str = ""
    labels: tuple[str, ...] = ()
    author: Account = GHOST
    url: str
    state: str
    closed_at: datetime | None = Field(default=None, description="None while it is open")
    state_reason: str = Field(
        default="", description="completed, not_planned, duplicate, reopened, or empty"
    )
    is_pull_request: bool = False
    type: str = Field(default="", description="the issue's type, as `Bug`; empty if it has none")
    open_sub_issues: int = 0


class Comment(Frozen):
    """A comment on an issue or pull request. The body is untrusted."""

    id: int
    author: Account = GHOST
    body: str = ""
    created_at: datetime
    updated_at: datetime
    url: str
    via_app: str = Field(default="", description="the app it was sent through; empty for a person")

    @property
    def edited(self) -> bool:
        """Return whether the text was edited, or may have been."""
        return self.updated_at != self.created_at


class Reaction(StrEnum):
    """The reactions that we give."""

    PLUS_ONE = "+1"
    CONFUSED = "confused"
    ROCKET = "rocket"
    EYES = "eyes"


class PullState(StrEnum):
    """The state of a pull request."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class PullRequest(Frozen):
    """A pull request whose branch belongs to the repository itself."""

    number: int
    title: str
    body: str = ""
    author: Account = GHOST
    state: PullState
    draft: bool = False
    head: str = Field(description="the branch")
    head_sha: str
    base: str
    url: str


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
    log: str = Field(
        default="",
        description="the last lines of the job's log; empty where there is none to be had",
    )


class RepositoryFacts(Frozen):
    """The facts that doctor checks.

    None means that this token may not see it; `hidden` names it.
    """

    full_name: str
    default_branch: str
    archived: bool
    has_issues: bool
    labels: tuple[str, ...]
    workflow: str | None = Field(
        description="the text of the workflow file on the default branch; None where there is none"
    )
    actions_may_open_pulls: bool | None
    secrets: tuple[str, ...] | None = Field(description="names only")
    hidden: tuple[str, ...] = ()


def _account(user: "NamedUser | Organization | None") -> Account:
    """Return the account as the gate reads it, or the ghost that GitHub shows for a deleted one."""
    if user is None:
        return GHOST
    return read_account(Node({"login": user.login, "type": user.type})) or GHOST


def read_whole_issue(seen: "github.Issue.Issue") -> Issue:
    """Return an issue that was asked for by its number. Lists may lack what more it has."""
    parts = seen.sub_issues_summary
    return read_issue(seen).replace(
        type=(seen.type.name or "") if seen.type else "",
        open_sub_issues=max(parts.total - parts.completed, 0) if parts else 0,
    )


def read_issue(seen: "github.Issue.Issue") -> Issue:
    """Return an issue as PyGithub read it; asking for what a list lacks would cost a request."""
    return Issue(
        number=seen.number,
        title=seen.title,
        body=seen.body or "",
        labels=tuple(label.name for label in seen.labels if label.name),
        author=_account(seen.user),
        url=seen.html_url,
        state=seen.state,
        closed_at=seen.closed_at if seen.state == "closed" else None,
        state_reason=seen.state_reason or "",
        is_pull_request="/pull/" in seen.html_url,
    )


def read_comment(seen: "github.IssueComment.IssueComment") -> Comment:
    """Return a comment as PyGithub read it."""
    app = seen.performed_via_github_app
    return Comment(
        id=seen.id,
        author=_account(seen.user),
        body=seen.body or "",
        created_at=seen.created_at,
        updated_at=seen.updated_at,
        url=seen.html_url,
        via_app=(app.slug or "an app") if app else "",
    )


def is_own(seen: "github.PullRequest.PullRequest") -> bool:
    """Return whether its branch belongs to the repository itself, not to a fork."""
    head = seen.head.repo
    return bool(head) and head.full_name == seen.base.repo.full_name


def read_pull(seen: "github.PullRequest.PullRequest") -> PullRequest:
    """Return a pull request as PyGithub read it."""
    state = PullState.OPEN if seen.state == "open" else PullState.CLOSED
    return PullRequest(
        number=seen.number,
        title=seen.title,
        body=seen.body or "",
        author=_account(seen.user),
        state=PullState.MERGED if seen.merged_at else state,
        draft=seen.draft,
        head=seen.head.ref,
        head_sha=seen.head.sha,
        base=seen.base.ref,
        url=seen.html_url,
    )
