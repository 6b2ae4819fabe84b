"""Types for GitHub: issues, comments, pull requests, checks, facts of a repository."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from forge_bot.gate.people import Account
from forge_bot.values import Frozen


class Permission(StrEnum):
    """The four base permissions that GitHub reports for everybody.

    Triage counts as read and maintain as write.
    """

    NONE = "none"
    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


class RepositoryRole(Frozen):
    """The permission of an account in the repository."""

    role_name: str = Field(
        description=(
            "none, read, triage, write, maintain, admin, or the name of an organisation's own role"
        )
    )
    permission: Permission = Field(
        description="the base permission: the floor that an organisation's own role stands on"
    )


class Issue(Frozen):
    """An issue, or a pull request seen as one. Title and body are untrusted."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    author: Account
    author_association: str = Field(
        description="never a proof of permission: private members show as NONE"
    )
    url: str
    state: str
    closed_at: datetime | None = Field(default=None, description="None while it is open")
    state_reason: str = Field(
        default="", description="completed, not_planned, duplicate, reopened, or empty"
    )
    locked: bool = False
    is_pull_request: bool = False
    type: str = Field(default="", description="the issue's type, as `Bug`; empty if it has none")


class Comment(Frozen):
    """A comment on an issue or pull request. The body is untrusted."""

    id: int
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    url: str
    via_app: str = Field(
        default="", description="the app that it was sent through; empty for a person's own hand"
    )

    @property
    def edited(self) -> bool:
        """Return whether the text was edited, or may have been."""
        return self.updated_at != self.created_at


class IssueEvent(Frozen):
    """An event of an issue. `kind` is GitHub's word, such as labeled, unlabeled, renamed."""

    kind: str
    actor: Account
    at: datetime
    label: str = ""
    via_app: str = Field(
        default="", description="the app that it was done through; empty for a person's own hand"
    )


class Reaction(StrEnum):
    """The reactions that GitHub knows."""

    PLUS_ONE = "+1"
    MINUS_ONE = "-1"
    LAUGH = "laugh"
    CONFUSED = "confused"
    HEART = "heart"
    HOORAY = "hooray"
    ROCKET = "rocket"
    EYES = "eyes"


class PullState(StrEnum):
    """The state of a pull request."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class PullRequest(Frozen):
    """A pull request of the repository's own branches."""

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
    node_id: str = Field(description="its name in GraphQL")


class NewPullRequest(Frozen):
    """A pull request to be opened between two branches of the repository."""

    title: str
    body: str
    head: str
    base: str
    draft: bool = True


class FailedCheck(Frozen):
    """A check that did not succeed. Summary and log are untrusted output."""

    name: str
    conclusion: str
    url: str
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
    private: bool
    archived: bool
    has_issues: bool
    labels: tuple[str, ...]
    protected: bool = Field(description="whether anything guards the default branch")
    rules: tuple[str, ...] = Field(
        description="kinds of rules that rule sets have for the default branch"
    )
    signed: tuple[str, ...] = Field(
        description="those of the branches asked about that rule sets keep for signed commits"
    )
    workflow: str | None = Field(
        description="the text of the workflow file on the default branch; None where there is none"
    )
    workflow_permissions: str | None = Field(
        description="what the token of Actions may by default: read or write"
    )
    actions_may_open_pulls: bool | None
    secrets: tuple[str, ...] | None = Field(description="names only")
    hidden: tuple[str, ...] = ()
