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


def read_whole_issue(found: "github.Issue.Issue") -> Issue:
    """Return an issue that was asked for by its number. Lists may lack what more it has."""
    parts = found.sub_issues_summary
    return read_issue(found).replace(
        type=(found.type.name or "") if found.type else "",
        open_sub_issues=max(parts.total - parts.completed, 0) if parts else 0,
    )


def read_issue(found: "github.Issue.Issue") -> Issue:
    """Return an issue as PyGithub read it; asking for what a list lacks would cost a request."""
    return Issue(
        number=found.number,
        title=found.title,
        body=found.body or "",
        labels=tuple(label.name for label in found.labels if label.name),
        author=_account(found.user),
        url=found.html_url,
        state=found.state,
        closed_at=found.closed_at if found.state == "closed" else None,
        state_reason=found.state_reason or "",
        is_pull_request="/pull/" in found.html_url,
    )


def read_comment(found: "github.IssueComment.IssueComment") -> Comment:
    """Return a comment as PyGithub read it."""
    app = found.performed_via_github_app
    return Comment(
        id=found.id,
        author=_account(found.user),
        body=found.body or "",
        created_at=found.created_at,
        updated_at=found.updated_at,
        url=found.html_url,
        via_app=(app.slug or "an app") if app else "",
    )


def is_own(found: "github.PullRequest.PullRequest") -> bool:
    """Return whether its branch belongs to the repository itself, not to a fork."""
    head = found.head.repo
    return bool(head) and head.full_name == found.base.repo.full_name


def read_pull(found: "github.PullRequest.PullRequest") -> PullRequest:
    """Return a pull request as PyGithub read it."""
    state = PullState.OPEN if found.state == "open" else PullState.CLOSED
    return PullRequest(
        number=found.number,
        title=found.title,
        body=found.body or "",
        author=_account(found.user),
        state=PullState.MERGED if found.merged_at else state,
        draft=found.draft,
        head=found.head.ref,
        head_sha=found.head.sha,
        base=found.base.ref,
        url=found.html_url,
    )
