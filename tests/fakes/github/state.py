"""What lies in a repository beside its code: issues, comments, labels, reactions, pull requests,
checks, settings.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.fakes.github.bare import BareRepository
from tests.fakes.github.people import Member, Role, User


@dataclass
class Label:
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass
class Reaction:
    """One person's reaction to an issue or a comment."""

    id: int
    user: User
    content: str
    at: int


@dataclass
class Comment:
    """A comment on an issue or a pull request."""

    id: int
    issue: "Issue"
    user: User | None
    body: str
    created: int
    updated: int
    reactions: list[Reaction] = field(default_factory=list[Reaction])
    via_app: str = ""
    """The slug of the app that it was sent through."""


@dataclass
class IssueEvent:
    """A label that was added or removed, or another title. `kind` is GitHub's word for it."""

    id: int
    kind: str
    actor: User | None
    at: int
    label: Label | None = None
    titles: tuple[str, str] = ("", "")
    via_app: str = ""


@dataclass
class ReviewComment:
    """A comment in a thread of a review; user None is an account that is gone."""

    id: int
    user: User | None
    body: str
    created: int
    edited: int | None = None
    minimized: str | None = None


@dataclass
class ReviewThread:
    """A thread of a review, at a line; with `outdated` the line is gone."""

    path: str
    line: int
    comments: list[ReviewComment]
    resolved: bool = False
    outdated: bool = False


@dataclass
class Review:
    """A review, with GitHub's word for its verdict."""

    id: int
    user: User
    state: str
    body: str
    at: int


@dataclass
class Pull:
    """What a pull request has that an issue has not. The head lies in the same repository, or in
    `fork`.
    """

    head: str
    base: str
    draft: bool = False
    merged: int | None = None
    merge_commit: str = ""
    asked: list["User"] = field(default_factory=list["User"])
    last_head: str = ""
    fork: "Repository | None" = None
    threads: list[ReviewThread] = field(default_factory=list[ReviewThread])
    reviews: list[Review] = field(default_factory=list[Review])


@dataclass
class Issue:
    """An issue, or a pull request, which is one too. `user` None is an account that is gone."""

    id: int
    number: int
    title: str
    body: str | None
    user: User | None
    created: int
    updated: int
    labels: list[Label] = field(default_factory=list[Label])
    comments: list[Comment] = field(default_factory=list[Comment])
    reactions: list[Reaction] = field(default_factory=list[Reaction])
    state: str = "open"
    state_reason: str | None = None
    closed: int | None = None
    locked: bool = False
    lock_reason: str | None = None
    pull: Pull | None = None
    events: list[IssueEvent] = field(default_factory=list[IssueEvent])
    deleted: bool = False
    moved: tuple["Repository", int] | None = None

    @property
    def kind(self) -> str:
        """The word in the addresses of its pages."""
        return "pull" if self.pull else "issues"


@dataclass
class Check:
    """A check run, and with it the job of the same id when Actions made it."""

    id: int
    suite: int
    name: str
    sha: str
    status: str = "completed"
    conclusion: str | None = "success"
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    log: str | None = None
    at: int = 0


@dataclass
class Status:
    """One commit status, the older kind of check."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target: str | None
    user: User
    at: int


@dataclass
class Protection:
    """How a branch is guarded: by branch protection or by a rule set, which may demand signatures
    alone.
    """

    ruleset: bool = False
    signatures: bool = False

    @property
    def kind(self) -> str:
        """What the rules for pushes call it."""
        return "signatures" if self.signatures else "ruleset" if self.ruleset else "branch"


@dataclass
class Dispatch:
    """A workflow that was started by hand or by a bot."""

    workflow: str
    ref: str
    inputs: dict[str, Any]
    user: User


@dataclass
class WorkflowRun:
    """A run of the bot's workflow: when it began and ended, in seconds, and how."""

    id: int
    title: str
    event: str
    began: int
    ended: int
    conclusion: str
    actor: User


@dataclass
class Repository:
    """A repository: settings and conversations here, the code in `bare`, which is the only truth
    about it.
    """

    id: int
    owner: User
    name: str
    bare: BareRepository
    private: bool = False
    created: int = 0
    members: dict[str, Member] = field(default_factory=dict[str, Member])
    labels: list[Label] = field(default_factory=list[Label])
    issues: dict[int, Issue] = field(default_factory=dict[int, Issue])
    checks: dict[int, Check] = field(default_factory=dict[int, Check])
    statuses: list[Status] = field(default_factory=list[Status])
    protections: dict[str, Protection] = field(default_factory=dict[str, Protection])
    dispatches: list[Dispatch] = field(default_factory=list[Dispatch])
    runs: list[WorkflowRun] = field(default_factory=list[WorkflowRun])
    secrets: list[str] = field(default_factory=list[str])
    environments: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The names of their secrets, by environment."""
    workflow_state: str = "active"
    former: list[str] = field(default_factory=list[str])
    workflow_permissions: str = "read"
    actions_may_open_pulls: bool = False
    has_issues: bool = True
    archived: bool = False

    @property
    def full_name(self) -> str:
        """owner/name, as in addresses."""
        return f"{self.owner.login}/{self.name}"

    def role(self, user: User | None) -> Role:
        """What somebody may do: the owner everything, others what they were given, anybody reads
        what is public.
        """
        if user is not None and user is self.owner:
            return Role.ADMIN
        known = self.members.get(user.login.lower()) if user else None
        floor = Role.NONE if self.private else Role.READ
        return max(known.role, floor) if known else floor

    def role_name(self, user: User) -> str:
        """What `role_name` says about somebody."""
        known = self.members.get(user.login.lower())
        return known.role_name if known and user is not self.owner else self.role(user).word

    def label(self, name: str) -> Label | None:
        """The label of that name; GitHub compares without case."""
        return next((label for label in self.labels if label.name.lower() == name.lower()), None)

    def next_number(self) -> int:
        """Issues and pull requests are counted together."""
        return max(self.issues, default=0) + 1

    def comment(self, comment_id: int) -> Comment | None:
        """The comment with that id."""
        every = (comment for issue in self.issues.values() for comment in issue.comments)
        return next((comment for comment in every if comment.id == comment_id), None)
