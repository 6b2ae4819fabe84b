"""Reads a person's permissions in a repository from GitHub's answer."""

from dataclasses import dataclass
from enum import IntEnum

from forge_bot.gate.json_payload import Node
from forge_bot.gate.people import read_account
from forge_bot.sentences import say


class Role(IntEnum):
    """GitHub's roles, in the order of what they allow."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5

    @property
    def word(self) -> str:
        """The role as GitHub writes it."""
        return self.name.lower()


FLOORS = {role.word: role for role in (Role.TRIAGE, Role.WRITE, Role.MAINTAIN, Role.ADMIN)}
"""The roles that may be asked for. `read` is not among them: in a public repository everybody has
it."""


@dataclass(frozen=True, slots=True)
class KnownRole:
    """A role that GitHub confirmed. `name` is that of a custom role, else empty."""

    role: Role
    name: str = ""


@dataclass(frozen=True, slots=True)
class UnknownRole:
    """GitHub did not say, and why."""

    reason: str


Membership = KnownRole | UnknownRole

_OK, _NOT_FOUND = 200, 404
_ROLES = {role.word: role for role in Role}
# What the older field can mean at most: it knows maintain as write, and triage as read.
_AT_MOST = {"admin": Role.ADMIN, "write": Role.MAINTAIN, "read": Role.TRIAGE, "none": Role.NONE}
_AT_LEAST = {"admin": Role.ADMIN, "write": Role.WRITE, "read": Role.READ, "none": Role.NONE}
_FLAGS = (
    ("admin", Role.ADMIN),
    ("maintain", Role.MAINTAIN),
    ("push", Role.WRITE),
    ("triage", Role.TRIAGE),
    ("pull", Role.READ),
)


def read_membership(login: str, status: int, answer: Node, trouble: str = "") -> Membership:
    """The role in an answer to `GET /repos/{owner}/{repo}/collaborators/{username}/permission`
    (https://docs.github.com/en/rest/collaborators/collaborators, "Get repository permissions").

    `role_name` decides. A custom role counts as the role it is built on, as the `permissions` of
    the same answer show it. Where fields contradict each other the lower one counts; without the
    field `permission`, or about somebody else, nothing does. `trouble` is why there is no answer.
    """
    if trouble:
        return UnknownRole(trouble)
    if status == _NOT_FOUND:
        return UnknownRole(say("gate.roles.no_such_user"))
    if status != _OK:
        message = answer.text("message")[:100]
        if not message:
            return UnknownRole(say("gate.roles.status", status=status))
        return UnknownRole(say("gate.roles.status_and_words", status=status, message=message))
    legacy = answer.text("permission")
    account = read_account(answer["user"])
    if legacy not in _AT_MOST:
        return UnknownRole(say("gate.roles.no_permission"))
    if account is None or not account.named(login):
        return UnknownRole(say("gate.roles.another_user"))
    name = answer.text("role_name")
    if name in _ROLES:
        return KnownRole(min(_ROLES[name], _AT_MOST[legacy]))
    if not name:
        return KnownRole(_AT_LEAST[legacy])
    return KnownRole(
        min(_base(answer.at("user", "permissions"), _AT_LEAST[legacy]), _AT_MOST[legacy]), name
    )


def _base(permissions: Node, otherwise: Role) -> Role:
    """The role a custom one is built on: the highest of GitHub's flags that is set."""
    if not permissions.exists:
        return otherwise
    return next((role for flag, role in _FLAGS if permissions.true(flag)), Role.NONE)
