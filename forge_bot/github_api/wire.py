"""GitHub's JSON, as far as we read it, and the way into our own words. Unknown fields are passed over: GitHub adds some at any time."""

import base64
import binascii
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from forge_bot.github_api.types import (
    GHOST,
    Comment,
    FailedCheck,
    Issue,
    Permission,
    Person,
    PersonKind,
    PullRequest,
    PullState,
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


class EndWire(Wire):
    """Head or base of a pull request; the repository of a deleted fork is null."""

    ref: str
    sha: str
    repo: RepositoryWire | None = None


class PullWire(Wire):
    """A pull request."""

    number: int
    node_id: str
    title: str
    body: str | None = None
    user: UserWire | None = None
    state: str
    draft: bool = False
    merged_at: str | None = None
    html_url: str
    head: EndWire
    base: EndWire

    @property
    def own(self) -> bool:
        """Whether its branch is one of the repository itself."""
        return self.head.repo is not None and self.base.repo is not None and self.head.repo.full_name == self.base.repo.full_name

    def pull_request(self) -> PullRequest:
        """In our words."""
        return PullRequest(
            number=self.number,
            node_id=self.node_id,
            title=self.title,
            body=self.body or "",
            author=person(self.user),
            state=PullState.MERGED if self.merged_at else PullState.OPEN if self.state == "open" else PullState.CLOSED,
            draft=self.draft,
            head=self.head.ref,
            head_sha=self.head.sha,
            base=self.base.ref,
            url=self.html_url,
        )


class OutputWire(Wire):
    """What a check says about itself."""

    title: str | None = None
    summary: str | None = None


class AppWire(Wire):
    """The App that made a check."""

    slug: str = ""


class CheckWire(Wire):
    """A check run."""

    id: int
    name: str
    conclusion: str | None = None
    html_url: str | None = None
    output: OutputWire = OutputWire()
    app: AppWire | None = None

    @property
    def job(self) -> bool:
        """Whether it is a job of Actions: those have a log, under the same id."""
        return self.app is not None and self.app.slug == "github-actions"

    def failed(self, log: str) -> FailedCheck:
        """In our words."""
        summary = "\n".join(words for words in (self.output.title, self.output.summary) if words)
        return FailedCheck(name=self.name, conclusion=self.conclusion or "", url=self.html_url or "", summary=summary, log=log)


class ChecksWire(Wire):
    """The check runs of a commit."""

    check_runs: list[CheckWire]


class StatusWire(Wire):
    """A commit status, the older kind of check."""

    state: str
    context: str
    description: str | None = None
    target_url: str | None = None

    def failed(self) -> FailedCheck:
        """In our words."""
        return FailedCheck(name=self.context, conclusion=self.state, url=self.target_url or "", summary=self.description or "")


class CombinedWire(Wire):
    """The statuses of a commit."""

    statuses: list[StatusWire]


class CreatedWire(Wire):
    """Something that was made."""

    id: int


class RuleWire(Wire):
    """A rule that holds for a branch."""

    type: str


class BranchWire(Wire):
    """A branch."""

    protected: bool = False


class ActionsWire(Wire):
    """What the token of Actions may."""

    default_workflow_permissions: str
    can_approve_pull_request_reviews: bool


class SecretWire(Wire):
    """The name of a secret."""

    name: str


class SecretsWire(Wire):
    """The secrets of a repository."""

    secrets: list[SecretWire]


class FileWire(Wire):
    """A file with its content."""

    encoding: str
    content: str

    def text(self) -> str:
        """What stands in it."""
        try:
            return base64.b64decode(self.content).decode(errors="replace") if self.encoding == "base64" else self.content
        except binascii.Error:
            return ""


class GraphErrorWire(Wire):
    """An error of GraphQL; they come with status 200."""

    message: str
    type: str = ""


class GraphWire(Wire):
    """An answer of GraphQL."""

    errors: list[GraphErrorWire] = []
