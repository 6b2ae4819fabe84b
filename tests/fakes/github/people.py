"""Who can act on the GitHub of the tests: accounts, their roles in a repository, and the tokens
they come with.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from forge_bot.runs.this_process import now


class Role(IntEnum):
    """GitHub's base roles, in order: each may do what the ones before it may."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5

    @property
    def word(self) -> str:
        """The name that `role_name` has for it."""
        return self.name.lower()

    @property
    def permission(self) -> str:
        """The older word of the API: maintain is told as write, triage as read (REST,
        collaborators).
        """
        return {Role.MAINTAIN: "write", Role.TRIAGE: "read"}.get(self, self.word)


@dataclass
class User:
    """An account. A bot's login ends in [bot]."""

    id: int
    login: str
    type: Literal["User", "Bot", "Organization"] = "User"


@dataclass
class Member:
    """What an account may do in one repository; `custom` is the name of an organisation's own role
    on that base.
    """

    role: Role
    custom: str | None = None

    @property
    def role_name(self) -> str:
        """What GitHub answers as `role_name`."""
        return self.custom or self.role.word


@dataclass
class Token:
    """A token and what is left of its requests in this hour.

    A person's token acts with the person's role. A token of Actions or of another App acts with
    `permissions`, in `repository` alone.
    """

    text: str
    user: User
    permissions: dict[str, str] | None = None
    repository: int = 0
    limit: int = 5000
    used: int = 0
    scopes: tuple[str, ...] = ("repo", "workflow")

    @property
    def app(self) -> bool:
        """Whether it is an App's token: github-actions or another one."""
        return self.permissions is not None

    def holds(self, area: str, level: str) -> bool:
        """Whether an App's token was given that permission: `write` includes `read`."""
        return (self.permissions or {}).get(area, "none") in {
            "read": ("read", "write"),
            "write": ("write",),
        }[level]


@dataclass
class Clock:
    """GitHub's own time: it stands still until something is written, so that every run of a test
    reads the same; or it `goes_on` with ours, for tests in which processes look at both.
    """

    seconds: int = 1_767_225_600
    step: int = field(default=1)
    goes_on: bool = False

    def tick(self) -> int:
        """The time of something that is written now; never that of the thing before."""
        ours = int(now().timestamp()) if self.goes_on else 0
        self.seconds = max(self.seconds + self.step, ours)
        return self.seconds
