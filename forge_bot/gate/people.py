"""Accounts, as GitHub's payloads and answers name them."""

import re
from dataclasses import dataclass
from enum import StrEnum

from forge_bot.gate.json_payload import Node


class AccountKind(StrEnum):
    """The kind of an account. Only a person can be given a role that counts."""

    PERSON = "person"
    BOT = "bot"
    ORGANISATION = "organisation"
    GHOST = "ghost"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Account:
    """One account. The id is 0 where only a name is known."""

    login: str
    kind: AccountKind
    id: int = 0

    def named(self, login: str) -> bool:
        """Return whether this is the account of that name; GitHub does not tell upper and lower
        case apart in names.
        """
        return self.login.casefold() == login.casefold()


GHOST = Account("ghost", AccountKind.GHOST)
"""The account that GitHub shows for all deleted ones."""

# The rule for names of people is narrower; text that cannot be a name is refused here.
_LOGIN = re.compile(r"[A-Za-z0-9_.-]{1,100}(?:\[bot\])?")
_KINDS = {
    "User": AccountKind.PERSON,
    "Bot": AccountKind.BOT,
    "Organization": AccountKind.ORGANISATION,
}


def read_account(node: Node) -> Account | None:
    """The account in a payload or answer; None for one that is missing or has no possible name, as
    deleted accounts leave it.
    """
    login = node.text("login")
    if not _LOGIN.fullmatch(login):
        return None
    return Account(
        login,
        _kind(login, _KINDS.get(node.text("type"), AccountKind.OTHER)),
        node.number("id") or 0,
    )


def account_named(login: str) -> Account | None:
    """The account behind a bare name, as in GITHUB_ACTOR. Names with `[bot]` belong to apps; no
    person can have one.
    """
    return Account(login, _kind(login, AccountKind.PERSON)) if _LOGIN.fullmatch(login) else None


def _kind(login: str, kind: AccountKind) -> AccountKind:
    if GHOST.named(login):
        return AccountKind.GHOST
    return AccountKind.BOT if login.endswith("[bot]") else kind
