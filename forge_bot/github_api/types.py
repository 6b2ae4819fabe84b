"""Types for GitHub: issues, comments, pull requests, checks, facts of a repository.

Most are read from GitHub's JSON as it comes. Only the fields that we read are declared.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, cast

from pydantic import AliasChoices, AliasPath, BeforeValidator, ConfigDict, Field

from forge_bot.gate.json_payload import Node
from forge_bot.gate.people import GHOST, Account, read_account
from forge_bot.values import Frozen


class FromGitHub(Frozen):
    """Part of an answer of GitHub. It is strict: a number in place of a text does not come from
    GitHub. Unknown fields are ignored: GitHub adds some at any time.
    """

    model_config = ConfigDict(extra="ignore", strict=True)


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _account(user: object) -> Account:
    """Return the account as the gate reads it, or the ghost that GitHub shows for a deleted one."""
    if isinstance(user, Account):
        return user
    known = {name: value for name, value in _table(user).items() if name in {"login", "type"}}
    return read_account(Node(known)) or GHOST


def _app(app: object) -> object:
    """Return the name of the app that sent something; empty if a person sent it."""
    found = _table(app)
    return (found.get("slug") or "an app") if isinstance(app, dict) else app or ""


def _open_of(summary: object) -> object:
    """Return how many sub-issues are open, from GitHub's summary of them."""
    found = _table(summary)
    total, completed = found.get("total"), found.get("completed")
    if isinstance(total, int) and isinstance(completed, int):
        return max(total - completed, 0)
    return summary or 0


def _named(value: object) -> object:
    """Return the name of a label or a type, whether GitHub gives an object or its name."""
    found = _table(value)
    return (found.get("name") or "") if isinstance(value, dict) else value or ""


def _names(values: object) -> object:
    if not isinstance(values, list):
        return values
    return tuple(name for name in map(_named, cast("list[object]", values)) if name)


def _summary(output: object) -> object:
    """Return the summary of a status, or title and summary of a check's report."""
    said = _table(output)
    parts = (str(each) for each in (said.get("title"), said.get("summary")) if each)
    return "\n".join(parts) if isinstance(output, dict) else output


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A text that GitHub leaves out where it is empty."""
Time = Annotated[datetime, Field(strict=False)]
Author = Annotated[Account, BeforeValidator(_account)]
Name = Annotated[str, BeforeValidator(_named)]
ViaApp = Annotated[str, BeforeValidator(_app)]
"""The app that something was sent through; empty for a person's own hand."""


class Permission(StrEnum):
    """The four base permissions that GitHub reports for everybody.

    Triage counts as read and maintain as write.
    """

    NONE = "none"
    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


class RepositoryRole(FromGitHub):
    """The permission of an account in the repository."""

    role_name: str = Field(
        description=(
            "none, read, triage, write, maintain, admin, or the name of an organisation's own role"
        )
    )
    permission: Permission = Field(
        strict=False,
        description="the base permission: the floor that an organisation's own role stands on",
    )


class Issue(FromGitHub):
    """An issue, or a pull request seen as one. Title and body are untrusted."""

    number: int
    title: str
    body: Text = ""
    labels: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    author: Author = Field(default=GHOST, validation_alias="user")
    author_association: str = Field(
        default="NONE", description="never a proof of permission: private members show as NONE"
    )
    url: str = Field(validation_alias="html_url")
    repository_url: str = ""
    state: str
    last_closed_at: Time | None = Field(default=None, validation_alias="closed_at")
    state_reason: Text = Field(
        default="", description="completed, not_planned, duplicate, reopened, or empty"
    )
    locked: bool = False
    is_pull_request: Annotated[bool, BeforeValidator(lambda value: value is not None)] = Field(
        default=False, validation_alias="pull_request"
    )
    type: Name = Field(default="", description="the issue's type, as `Bug`; empty if it has none")
    open_sub_issues: Annotated[int, BeforeValidator(_open_of)] = Field(
        default=0, validation_alias="sub_issues_summary"
    )

    @property
    def closed_at(self) -> datetime | None:
        """Return when it was closed; None while it is open."""
        return self.last_closed_at if self.state == "closed" else None


class Comment(FromGitHub):
    """A comment on an issue or pull request. The body is untrusted."""

    id: int
    author: Author = Field(default=GHOST, validation_alias="user")
    body: Text = ""
    created_at: Time
    updated_at: Time
    url: str = Field(validation_alias="html_url")
    issue_url: str = ""
    via_app: ViaApp = Field(default="", validation_alias="performed_via_github_app")

    @property
    def edited(self) -> bool:
        """Return whether the text was edited, or may have been."""
        return self.updated_at != self.created_at


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


class PullRequest(FromGitHub):
    """A pull request; `own` if its branch belongs to the repository itself."""

    number: int
    title: str
    body: Text = ""
    author: Author = Field(default=GHOST, validation_alias="user")
    shown_state: str = Field(validation_alias="state")
    merged_at: str | None = None
    draft: bool = False
    head: str = Field(validation_alias=AliasPath("head", "ref"), description="the branch")
    head_sha: str = Field(validation_alias=AliasPath("head", "sha"))
    head_repository: str = Field(
        default="",
        validation_alias=AliasPath("head", "repo", "full_name"),
        description="empty for a fork that was deleted",
    )
    base: str = Field(validation_alias=AliasPath("base", "ref"))
    base_repository: str = Field(
        default="", validation_alias=AliasPath("base", "repo", "full_name")
    )
    url: str = Field(validation_alias="html_url")
    node_id: str = Field(description="its name in GraphQL")

    @property
    def state(self) -> PullState:
        """Return whether it is open, closed or merged."""
        if self.merged_at:
            return PullState.MERGED
        return PullState.OPEN if self.shown_state == "open" else PullState.CLOSED

    @property
    def own(self) -> bool:
        """Return whether its branch belongs to the repository itself."""
        return bool(self.head_repository) and self.head_repository == self.base_repository


class NewPullRequest(Frozen):
    """A pull request to be opened between two branches of the repository."""

    title: str
    body: str
    head: str
    base: str
    draft: bool = True


class FailedCheck(FromGitHub):
    """A check run, or a commit status, the older kind of check, that did not succeed. Summary and
    log are untrusted output.
    """

    id: int = 0
    name: str = Field(validation_alias=AliasChoices("name", "context"))
    conclusion: Text = Field(default="", validation_alias=AliasChoices("conclusion", "state"))
    url: Text = Field(default="", validation_alias=AliasChoices("html_url", "target_url"))
    summary: Annotated[Text, BeforeValidator(_summary)] = Field(
        default="", validation_alias=AliasChoices("output", "description")
    )
    app: ViaApp = ""
    log: str = Field(
        default="",
        description="the last lines of the job's log; empty where there is none to be had",
    )

    @property
    def is_job(self) -> bool:
        """Return whether it is a job of Actions. Jobs have a log with the same id."""
        return self.app == "github-actions"


class SeenRepository(FromGitHub):
    """A repository as GitHub shows it."""

    full_name: str
    default_branch: str = ""
    private: bool = False
    archived: bool = False
    has_issues: bool = True


class RepositoryFacts(SeenRepository):
    """The facts that doctor checks.

    None means that this token may not see it; `hidden` names it.
    """

    labels: tuple[str, ...]
    workflow: str | None = Field(
        description="the text of the workflow file on the default branch; None where there is none"
    )
    actions_may_open_pulls: bool | None
    secrets: tuple[str, ...] | None = Field(description="names only")
    hidden: tuple[str, ...] = ()
