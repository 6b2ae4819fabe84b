"""GitHub's JSON, as far as we read it, and the way into our own words. Unknown fields are passed over: GitHub adds some at any time."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from forge_bot.gate import Node, read_account
from forge_bot.gate.people import AccountKind
from forge_bot.github_api.types import GHOST, Comment, Issue, IssueEvent, Permission, Person, PersonKind, RepositoryRole


class JsonModel(BaseModel):
    """Part of an answer. Strict: a number in the place of a text is not GitHub's."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class UserWire(JsonModel):
    """An account."""

    login: str
    type: str = ""


_KINDS = {
    AccountKind.PERSON: PersonKind.USER,
    AccountKind.BOT: PersonKind.BOT,
    AccountKind.ORGANISATION: PersonKind.ORGANISATION,
    AccountKind.GHOST: PersonKind.GHOST,
    AccountKind.OTHER: PersonKind.OTHER,
}


def person(user: UserWire | None) -> Person:
    """Return the account as the gate reads it, or the ghost that GitHub shows for one that is gone."""
    account = read_account(Node(user.model_dump())) if user is not None else None
    return GHOST if account is None else Person(login=account.login, kind=_KINDS[account.kind])


class AppWire(JsonModel):
    """A GitHub App: the one that made a check, or that something was sent through."""

    slug: str = ""


def app_name(app: AppWire | None) -> str:
    """Return the name of the app that something was sent through; empty for a person's own hand."""
    return "" if app is None else app.slug or "an app"


class LabelWire(JsonModel):
    """A label."""

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
    locked: bool = False
    pull_request: dict[str, object] | None = None

    def issue(self) -> Issue:
        """In our words."""
        names = (label if isinstance(label, str) else label.name for label in self.labels)
        return Issue(
            number=self.number,
            title=self.title,
            body=self.body or "",
            labels=tuple(name for name in names if name),
            author=person(self.user),
            author_association=self.author_association,
            url=self.html_url,
            state=self.state,
            locked=self.locked,
            is_pull_request=self.pull_request is not None,
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
        """In our words."""
        return Comment(
            id=self.id,
            author=person(self.user),
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
        """In our words."""
        return IssueEvent(
            kind=self.event,
            actor=person(self.actor),
            at=self.created_at,
            label=(self.label.name or "") if self.label is not None else "",
            via_app=app_name(self.performed_via_github_app),
        )


class ReactionWire(JsonModel):
    """One reaction of one account."""

    content: str
    user: UserWire | None = None


class RoleWire(JsonModel):
    """An answer about somebody's permission."""

    permission: Permission = Field(strict=False)
    role_name: str

    def role(self) -> RepositoryRole:
        """In our words."""
        return RepositoryRole(role_name=self.role_name, permission=self.permission)


class RepositoryWire(JsonModel):
    """A repository."""

    full_name: str
    default_branch: str = ""
    private: bool = False
    archived: bool = False
    has_issues: bool = True


class CreatedWire(JsonModel):
    """Something that was made."""

    id: int


class GraphErrorWire(JsonModel):
    """An error of GraphQL; they come with status 200."""

    message: str
    type: str = ""


class GraphWire(JsonModel):
    """An answer of GraphQL."""

    errors: list[GraphErrorWire] = []


class EditedWire(JsonModel):
    """When the body of an issue was last edited."""

    last_edited_at: datetime | None = Field(default=None, alias="lastEditedAt", strict=False)


class EditedRepositoryWire(JsonModel):
    """The repository of that issue."""

    issue: EditedWire


class EditedDataWire(JsonModel):
    """The data of that answer."""

    repository: EditedRepositoryWire


class EditedAnswerWire(JsonModel):
    """The answer of GraphQL to when the body of an issue was last edited."""

    data: EditedDataWire
