"""The types that every forge has: accounts with their roles, issues, comments, pull requests,
reviews, checks and facts of a repository.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Literal


class AccountKind(StrEnum):
    """The kind of an account. Only a person can be given a role that counts."""

    PERSON = "person"
    BOT = "bot"
    GHOST = "ghost"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Account:
    """One account. The id is 0 where only a name is known."""

    login: str
    kind: AccountKind
    id: int = 0

    def named(self, login: str) -> bool:
        """Return whether this is the account of that name; forges do not tell upper and lower
        case apart in names.
        """
        return self.login.casefold() == login.casefold()


GHOST = Account("ghost", AccountKind.GHOST)
"""The account that is shown for all deleted ones."""

# The rule for names of people is narrower; text that cannot be a name is refused here.
_LOGIN = re.compile(r"[A-Za-z0-9_.-]{1,100}(?:\[bot\])?")


def account_named(login: str) -> Account | None:
    """Return the account behind a bare name. Names with `[bot]` belong to apps;
    no person can have one.
    """
    if not _LOGIN.fullmatch(login):
        return None
    if GHOST.named(login):
        return Account(login, AccountKind.GHOST)
    return Account(login, AccountKind.BOT if login.endswith("[bot]") else AccountKind.PERSON)


# -- roles
# --------------------------------------------------------------------------------------------------


class Role(IntEnum):
    """The roles in a repository, in the order of what they allow."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5

    @property
    def word(self) -> str:
        """The role as it is written."""
        return self.name.lower()


FLOORS = {role.word: role for role in (Role.TRIAGE, Role.WRITE, Role.MAINTAIN, Role.ADMIN)}
"""The roles that may be asked for. `read` is not among them: in a public repository everybody has
it."""


@dataclass(frozen=True, slots=True)
class UnknownRole:
    """The forge did not say, and why."""

    reason: str


Membership = Role | UnknownRole


# -- events
# --------------------------------------------------------------------------------------------------


class ActorPart(StrEnum):
    """The part somebody has in an event."""

    AUTHOR = "author"
    SENDER = "sender"
    ACTOR = "actor"
    RERUNNER = "triggering actor"


class Trigger(StrEnum):
    """The kind of event that brought the request."""

    LABEL = "label"
    COMMENT = "comment"
    DISPATCH = "dispatch"
    CHECKS = "checks"
    STATE = "state"
    """The issue was closed or opened again: whoever does so asks for no run."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing is asked for, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened: in a thread, or to the checks of a branch. Everything that people wrote
    is untrusted.
    """

    trigger: Trigger
    thread: int
    """The issue or pull request where it happened; 0 for checks."""
    people: Mapping[ActorPart, Account | None]
    labels: tuple[str, ...] = ()
    comment: int | None = None
    body: str = ""
    edited: bool = False
    via_app: str = ""
    on_pull: bool = False
    branch: str = ""


# -- threads and pull requests
# --------------------------------------------------------------------------------------------------

Reaction = Literal["eyes", "rocket", "confused", "+1"]
"""The receipt on a comment that is answered: seen, done, not done, taken."""


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, or a pull request seen as one. Title and body are untrusted."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    author: Account
    url: str
    state: str
    closed_at: datetime | None
    """None while it is open."""
    state_reason: str
    """One of completed, not_planned, duplicate and reopened, or empty."""
    is_pull_request: bool
    type: str = ""
    """The issue's type, as `Bug`; empty if it has none."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue or pull request. The body is untrusted."""

    id: int
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    url: str
    via_app: str
    """The app it was sent through; empty for a person."""

    @property
    def edited(self) -> bool:
        """Return whether the text was edited, or may have been."""
        return self.updated_at != self.created_at


class PullState(StrEnum):
    """The state of a pull request."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request whose branch belongs to the repository itself."""

    number: int
    title: str
    body: str
    author: Account
    state: PullState
    draft: bool
    head: str
    """The branch."""
    head_sha: str
    base: str
    url: str
    merged_at: datetime | None = None
    merge_commit: str = ""
    """What the base branch got by the merge."""


@dataclass(frozen=True, slots=True)
class NewPullRequest:
    """A pull request to be opened from a branch. `body_file` has the body for a command line;
    `repository` is the target if it is not the repository that gets the push.
    """

    title: str
    body: str
    head: str
    base: str
    draft: bool = True
    body_file: str = ""
    repository: str = ""


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check run, or a commit status, the older kind of check, that did not succeed. Summary and
    log are untrusted output.
    """

    name: str
    conclusion: str = ""
    url: str = ""
    summary: str = ""
    log: str = ""
    """The last lines of the job's log, where it has one."""


@dataclass(frozen=True, slots=True)
class RepositoryNeed:
    """A need of the bot in a repository: a problem with the step that ends it, or what is good."""

    what: str
    problem: str
    good: str
    step: str = ""


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """A comment in a thread, or the text of a review. The body is untrusted."""

    id: str
    author: Account
    body: str
    at: datetime
    """When it was written or last edited."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class ReviewThread:
    """A thread, without hidden comments."""

    resolved: bool
    first: int
    """The id of its first comment, which replies belong to."""
    path: str
    line: int | None
    outdated: bool
    hunk: str
    comments: tuple[ReviewComment, ...]


@dataclass(frozen=True, slots=True)
class Reviews:
    """The present reviews of a pull request. `unread` counts the threads beyond the bound."""

    threads: tuple[ReviewThread, ...] = ()
    requests: tuple[ReviewComment, ...] = ()
    unread: int = 0


# -- labels
# --------------------------------------------------------------------------------------------------

START = "forge"
"""The label that begins a run, unless the workflow names another one."""

UNANSWERED = "unanswered"
"""The second part of the label of an issue whose question waits for long."""
