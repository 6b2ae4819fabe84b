"""GitHub's JSON and its conversion to our types.

Only the fields that we read are declared. Unknown fields are ignored: GitHub adds some at any time.
"""

from datetime import datetime

from pydantic import AliasPath, BaseModel, ConfigDict, Field

from forge_bot.gate.json_payload import Node
from forge_bot.gate.people import GHOST, Account, read_account
from forge_bot.github_api.types import (
    Comment,
    Issue,
    IssueEvent,
    Permission,
    RepositoryRole,
)


class JsonModel(BaseModel):
    """Part of a response. It is strict: a number in place of a text does not come from GitHub."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class UserWire(JsonModel):
    """An account."""

    login: str
    type: str = ""


def account_of(user: UserWire | None) -> Account:
    """Return the account as the gate reads it, or the ghost that GitHub shows for a deleted one."""
    return (read_account(Node(user.model_dump())) if user is not None else None) or GHOST


class AppWire(JsonModel):
    """A GitHub App: the author of a check, or the app that sent something."""

    slug: str = ""


def app_name(app: AppWire | None) -> str:
    """Return the name of the app that sent something; empty if a person sent it."""
    return "" if app is None else app.slug or "an app"


class LabelWire(JsonModel):
    """A label."""

    name: str | None = None


class IssueTypeWire(JsonModel):
    """The type that an organisation gave an issue."""

    name: str | None = None


class IssueWire(JsonModel):
    """An issue, or a pull request seen as one."""

    number: int
    title: str
    body: str | None = None
    labels: list[LabelWire | str] = []
    user: UserWire | None = None
    author_association: str = "NONE"
    html_url: str
    repository_url: str = ""
    state: str
    closed_at: datetime | None = Field(default=None, strict=False)
    state_reason: str | None = None
    locked: bool = False
    pull_request: dict[str, object] | None = None
    type: IssueTypeWire | str | None = None

    def issue(self) -> Issue:
        """Convert to an Issue."""
        names = (label if isinstance(label, str) else label.name for label in self.labels)
        return Issue(
            number=self.number,
            title=self.title,
            body=self.body or "",
            labels=tuple(name for name in names if name),
            author=account_of(self.user),
            author_association=self.author_association,
            url=self.html_url,
            state=self.state,
            closed_at=self.closed_at if self.state == "closed" else None,
            state_reason=self.state_reason or "",
            locked=self.locked,
            is_pull_request=self.pull_request is not None,
            type=(self.type if isinstance(self.type, str) else self.type and self.type.name) or "",
        )


class CommentWire(JsonModel):
    """A comment."""

    id: int
    body: str | None = None
    user: UserWire | None = None
    created_at: datetime = Field(strict=False)
    updated_at: datetime = Field(strict=False)
    html_url: str
    issue_url: str = ""
    performed_via_github_app: AppWire | None = None

    def comment(self) -> Comment:
        """Convert to a Comment."""
        return Comment(
            id=self.id,
            author=account_of(self.user),
            body=self.body or "",
            created_at=self.created_at,
            updated_at=self.updated_at,
            url=self.html_url,
            via_app=app_name(self.performed_via_github_app),
        )


class EventWire(JsonModel):
    """An event in the timeline of an issue."""

    event: str = ""
    actor: UserWire | None = None
    created_at: datetime = Field(strict=False)
    label: LabelWire | None = None
    performed_via_github_app: AppWire | None = None

    def event_of_issue(self) -> IssueEvent:
        """Convert to an IssueEvent."""
        return IssueEvent(
            kind=self.event,
            actor=account_of(self.actor),
            at=self.created_at,
            label=(self.label.name or "") if self.label is not None else "",
            via_app=app_name(self.performed_via_github_app),
        )


class ReactionWire(JsonModel):
    """One reaction of one account."""

    content: str
    user: UserWire | None = None


class RoleWire(JsonModel):
    """A response about an account's permission."""

    permission: Permission = Field(strict=False)
    role_name: str

    def role(self) -> RepositoryRole:
        """Convert to a RepositoryRole."""
        return RepositoryRole(role_name=self.role_name, permission=self.permission)


class RepositoryWire(JsonModel):
    """A repository."""

    full_name: str
    default_branch: str = ""
    private: bool = False
    archived: bool = False
    has_issues: bool = True


class CreatedWire(JsonModel):
    """A created object."""

    id: int


class GraphErrorWire(JsonModel):
    """A GraphQL error; these come with status 200."""

    message: str
    type: str = ""


class GraphWire(JsonModel):
    """A GraphQL response."""

    errors: list[GraphErrorWire] = []


class EditedWire(JsonModel):
    """The GraphQL response about the last edit of an issue's body."""

    last_edited_at: datetime | None = Field(
        validation_alias=AliasPath("data", "repository", "issue", "lastEditedAt"), strict=False
    )
