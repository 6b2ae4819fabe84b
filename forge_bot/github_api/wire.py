"""GitHub's JSON, as far as we read it, and the way into our own words. Unknown fields are passed over: GitHub adds some at any time."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from forge_bot.github_api.types import (
    GHOST,
    Comment,
    Issue,
    Permission,
    Person,
    PersonKind,
    Role,
)


class Wire(BaseModel):
    """Part of an answer. Strict: a number in the place of a text is not GitHub's."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class UserWire(Wire):
    """An account."""

    login: str
    type: str = "User"


def person(user: UserWire | None) -> Person:
    """The account, or the ghost that GitHub shows for one that is gone."""
    if user is None or user.login == GHOST.login:
        return GHOST
    # GitHub's other types (organisations, mannequins of imports) do not act by themselves.
    return Person(login=user.login, kind=PersonKind.BOT if user.type == "Bot" else PersonKind.USER)


class LabelWire(Wire):
    """A label."""

    name: str | None = None


class IssueWire(Wire):
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


class CommentWire(Wire):
    """A comment."""

    id: int
    body: str | None = None
    user: UserWire | None = None
    created_at: datetime = Field(strict=False)
    updated_at: datetime = Field(strict=False)
    html_url: str
    issue_url: str = ""

    def comment(self) -> Comment:
        """In our words."""
        times = {"created_at": self.created_at, "updated_at": self.updated_at}
        return Comment(id=self.id, author=person(self.user), body=self.body or "", url=self.html_url, **times)


class RoleWire(Wire):
    """An answer about somebody's permission."""

    permission: Permission = Field(strict=False)
    role_name: str

    def role(self) -> Role:
        """In our words."""
        return Role(role_name=self.role_name, permission=self.permission)


class RepositoryWire(Wire):
    """A repository."""

    full_name: str
    default_branch: str = ""
    private: bool = False
    archived: bool = False
    has_issues: bool = True


class CreatedWire(Wire):
    """Something that was made."""

    id: int


class GraphErrorWire(Wire):
    """An error of GraphQL; they come with status 200."""

    message: str
    type: str = ""


class GraphWire(Wire):
    """An answer of GraphQL."""

    errors: list[GraphErrorWire] = []
