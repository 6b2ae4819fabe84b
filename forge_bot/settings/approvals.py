"""Rules on who may approve: `approvals` in .forge/config.yml, above the role that everybody
needs who gives commands; and CODEOWNERS, read as GitHub reads it: of the lines whose pattern fits a
path the last one counts.

Pure: what GitHub knows of people comes in as values, so the thread and `forge-bot policy test`
decide alike. Names are compared without case. Nothing here opens: where a rule names nobody who can
be found out, a person with the role admin is asked.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, model_validator

from forge_bot.forge import CODE_OWNERS
from forge_bot.forge.types import Membership, Role
from forge_bot.settings.protected_paths import checked_pattern, matches_path, pattern_expression
from forge_bot.values import Frozen

_LARGEST = 3 * 2**20
"""Bytes of the longest file that GitHub reads."""

_OWNER = re.compile(r"@[\w.-]+(?:/[\w.-]+)?|[^\s@]+@[^\s@]+")
_LINE = re.compile(r"(?P<pattern>(?:\\.|[^\s\\#])+)(?P<owners>[^#]*)")


class OwnerLine(Frozen):
    """One line: a pattern of paths as an expression, and the owners without their `@`."""

    expression: str
    owners: tuple[str, ...]


class CodeOwners(Frozen):
    """The lines of a CODEOWNERS file; none where there is no file."""

    lines: tuple[OwnerLine, ...] = ()

    def of(self, path: str) -> tuple[str, ...]:
        """Return who owns a path: logins, teams as `org/team`, addresses of mail; none for a path
        without an owner.
        """
        fitting = (
            line for line in reversed(self.lines) if re.fullmatch(line.expression, path, re.DOTALL)
        )
        return next((line.owners for line in fitting), ())


def read_code_owners(root: Path) -> CodeOwners:
    """Return the code owners of the repository in a folder."""
    file = next((root / place for place in CODE_OWNERS if (root / place).is_file()), None)
    if file is None or file.stat().st_size > _LARGEST:
        return CodeOwners()
    return parse_code_owners(file.read_text(encoding="utf-8", errors="replace"))


def parse_code_owners(text: str) -> CodeOwners:
    """Return the lines of a text, without those that GitHub leaves out: with `!`, `[`, an escaped
    `#`, or a word that is no owner.
    """
    lines: list[OwnerLine] = []
    for match in filter(None, (_LINE.match(line.strip()) for line in text.splitlines())):
        pattern, owners = match["pattern"], match["owners"].split()
        unescaped = pattern.replace("\\ ", " ")
        if not set(unescaped) & set("![\\") and all(map(_OWNER.fullmatch, owners)):
            names = tuple(owner.removeprefix("@") for owner in owners)
            lines.append(OwnerLine(expression=_expression(unescaped), owners=names))
    return CodeOwners(lines=tuple(lines))


def _expression(pattern: str) -> str:
    """Return a pattern as an expression. One without a slash inside fits at any depth; a folder
    covers all that lies below it, and `folder/*` only the files in it.
    """
    anchored = "/" in pattern.rstrip("/")
    inner = pattern.strip("/")
    below = "/.*" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(?:/.*)?"
    return pattern_expression(inner if anchored else f"**/{inner}") + below


CODEOWNERS = "CODEOWNERS"
"""Stands for the owners of the paths in question."""
ANY_PATH = "*"
"""Stands for the paths of a question while nobody knows them."""

_NAME = re.compile(r"(?:[\w-]{1,100}/)?[\w.-]{1,100}")


def _name(text: str) -> str:
    name = text.strip().removeprefix("@")
    if not _NAME.fullmatch(name):
        raise ValueError("a login, a team such as acme/core, or CODEOWNERS")
    return CODEOWNERS if name.casefold() == CODEOWNERS.casefold() else name


class ApprovalRule(Frozen):
    """A rule on who approves, at some of the gates and for some of the paths, or at all."""

    by: tuple[Annotated[str, AfterValidator(_name)], ...] = Field(
        min_length=1, description="logins, teams (`acme/core`), `CODEOWNERS`"
    )
    excluded: Literal["requester"] | None = Field(
        default=None, alias="not", description="`requester`: not who began the run"
    )
    count: int = Field(default=1, ge=1, le=20, description="how many have to approve")
    gates: tuple[str, ...] = Field(
        default=(), min_length=1, description="such as `checkpoint-a`; all by default"
    )
    paths: tuple[Annotated[str, AfterValidator(checked_pattern)], ...] = Field(
        default=(), min_length=1, description="patterns of paths; all by default"
    )

    @model_validator(mode="after")
    def _can_be_met(self) -> Self:
        named = {name.casefold() for name in self.by}
        if all(map(_is_login, self.by)) and len(named) < self.count:
            raise ValueError(f"count is {self.count}, and only {len(named)} can approve: name more")
        return self

    def holds(self, asked: "ApprovalCase") -> bool:
        """Return whether the rule counts for a question. One whose paths nobody knows yet may be
        about any.
        """
        at_gate = not self.gates or bool({*self.gates} & {*asked.gates})
        return at_gate and bool(not self.paths or not asked.paths or self.paths_of(asked))

    def paths_of(self, asked: "ApprovalCase") -> tuple[str, ...]:
        """Return the paths of a question that the rule is about."""
        return tuple(
            path for path in asked.paths if not self.paths or matches_path(path, self.paths)
        )


class ApprovalCase(Frozen):
    """A question that a yes answers: its gate, or the gates that it stands for, the paths that it
    is about, and who began the run.
    """

    gates: tuple[str, ...]
    paths: tuple[str, ...] = ()
    requester: str = ""


class ApprovalNeed(Frozen):
    """So many of some people have to approve; `rule` is the number of the rule that says so. With
    CODEOWNERS a rule has a need for each group of owners.
    """

    rule: int
    names: tuple[str, ...]
    count: int
    barred: str = ""
    unowned: str = Field(
        default="", description="a path that CODEOWNERS gives to nobody; `*` while none is known"
    )


class People(NamedTuple):
    """Facts on people: roles by login, members by team, None for a team that cannot be
    read; both by names in small letters.
    """

    roles: Mapping[str, Membership]
    teams: Mapping[str, frozenset[str] | None]

    def behind(self, name: str) -> frozenset[str]:
        """Return the people that a name stands for, in small letters; none for an address of mail
        and for a team that cannot be read.
        """
        if _is_login(name):
            return frozenset({name.casefold()})
        return self.teams.get(name.casefold()) or frozenset()

    def may(self, login: str, least: Role) -> bool:
        """Return whether a person has a role, or a higher one. GitHub is asked about the named and
        about those who approve, not about all members of a team.
        """
        unasked = any(login in (members or ()) for members in self.teams.values())
        role = self.roles.get(login.casefold(), least if unasked else Role.NONE)
        return isinstance(role, Role) and role >= least


class Standing(Frozen):
    """One need and its state: the approvals that count so far, whether an admin may approve too,
    and the names that are no longer here or cannot be read.
    """

    need: ApprovalNeed
    given: tuple[str, ...]
    asks_admin: bool
    missing: tuple[str, ...] = ()

    @property
    def is_met(self) -> bool:
        return len(self.given) >= self.need.count


class ApprovalEffect(StrEnum):
    """The effect of one more approval."""

    ALLOWED = "allowed"
    NOT_YET = "not yet"
    REFUSED = "refused"


def needs_of(
    rules: Sequence[ApprovalRule], asked: ApprovalCase, owners: CodeOwners
) -> tuple[ApprovalNeed, ...]:
    """Return what the rules that hold for a question want, each of them; none where no rule holds:
    then the role is enough.
    """
    return tuple(
        ApprovalNeed(
            rule=number,
            names=names,
            count=rule.count,
            barred=asked.requester if rule.excluded else "",
            unowned=unowned,
        )
        for number, rule in enumerate(rules, 1)
        if rule.holds(asked)
        for names, unowned in dict(_groups(rule, asked, owners)).items()
    )


def _groups(
    rule: ApprovalRule, asked: ApprovalCase, owners: CodeOwners
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the names that may approve: with CODEOWNERS once for the owners of each path, and the
    path where it has none.
    """
    named = tuple(name for name in rule.by if name != CODEOWNERS)
    paths = rule.paths_of(asked) if CODEOWNERS in rule.by else ()
    if not paths:
        yield named, "" if CODEOWNERS not in rule.by else ANY_PATH
    for path in paths:
        own = owners.of(path)
        yield tuple(dict.fromkeys((*named, *own))), "" if own else path


def read_people(
    needs: Iterable[ApprovalNeed],
    approvers: Iterable[str],
    role_of: Callable[[str], Membership],
    members_of: Callable[[str], frozenset[str] | None],
) -> People:
    """Return what has to be known to judge these approvals; each person and team is asked about
    once.
    """
    names = {name for need in needs for name in need.names}
    logins = {*filter(_is_login, names), *approvers}
    return People(
        {login.casefold(): role_of(login) for login in sorted(logins)},
        {team.casefold(): members_of(team) for team in sorted(names) if "/" in team},
    )


def standing(
    need: ApprovalNeed, approvers: Sequence[str], people: People, floor: Role = Role.WRITE
) -> Standing:
    """Return how far a need is met. Nobody counts twice, nobody below the floor, and not the one
    who is barred.
    """
    able: set[str] = set()
    missing: list[str] = []
    for name in need.names:
        here = {login for login in people.behind(name) if people.may(login, floor)}
        able |= here - {need.barred.casefold()}
        missing += [] if here else [name]
    unread = any(not _is_login(name) for name in missing)
    asks_admin = bool(need.unowned) or unread or len(able) < need.count
    given = {
        login.casefold(): login
        for login in approvers
        if login.casefold() in able
        or (
            asks_admin
            and login.casefold() != need.barred.casefold()
            and people.may(login, Role.ADMIN)
        )
    }
    return Standing(
        need=need,
        given=tuple(given.values()),
        asks_admin=asks_admin,
        missing=tuple(missing),
    )


def judge(standings: Sequence[Standing], by: str) -> ApprovalEffect:
    """Return what the approval of a person does who is among the approvers of these standings."""
    if all(one.is_met for one in standings):
        return ApprovalEffect.ALLOWED
    counts = any(login.casefold() == by.casefold() for one in standings for login in one.given)
    return ApprovalEffect.NOT_YET if counts else ApprovalEffect.REFUSED


def is_address(name: str) -> bool:
    """Return whether a code owner is named by an address of mail."""
    return "@" in name


def _is_login(name: str) -> bool:
    return not is_address(name) and "/" not in name and name != CODEOWNERS
