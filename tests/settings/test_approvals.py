"""Who may approve, as a table; CODEOWNERS as GitHub reads it; mistakes in the setting."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from forge_bot.errors import BadConfig
from forge_bot.forge.types import Membership, Role, UnknownRole
from forge_bot.settings.approvals import (
    ApprovalCase,
    judge,
    needs_of,
    parse_code_owners,
    read_people,
    standing,
)
from forge_bot.settings.config import parse_config

ROLES: dict[str, Membership] = {
    **dict.fromkeys(("ada", "bob", "cleo", "dana"), Role.WRITE),
    **dict.fromkeys(("boss", "root"), Role.ADMIN),
    "rae": Role.READ,
    "mo": UnknownRole("GitHub answered 502"),
}
TEAMS = {
    "acme/core": frozenset({"ada", "bob", "tess", "gus"}),
    "acme/pay": frozenset({"cleo"}),
    "acme/none": frozenset[str](),
}
GROUPS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "approvals.yaml").read_text(encoding="utf-8")
)
CASES = [(group, case) for group in GROUPS for case in group["cases"]]


def test_the_table_has_a_hundred_cases_and_more() -> None:
    assert len({(group["about"], case) for group, case in CASES}) == len(CASES) >= 100


@pytest.mark.parametrize(("group", "case"), CASES)
def test_an_approval_does_what_the_table_says(group: dict[str, Any], case: str) -> None:
    approvers, gates, paths, requester, expected = (part.strip() for part in case.split("|"))
    rules = parse_config(yaml.safe_dump({"approvals": group["rules"]})).approvals
    asked = ApprovalCase(
        gates=tuple(gates.split()), paths=tuple(paths.split()), requester=requester
    )
    needs = needs_of(rules, asked, parse_code_owners(group.get("codeowners", "")))
    people = read_people(
        needs,
        approvers.split(),
        lambda login: ROLES.get(login.casefold(), Role.NONE),
        lambda team: TEAMS.get(team.casefold()),
    )
    standings = [standing(need, approvers.split(), people) for need in needs]
    unmet = dict.fromkeys(str(one.need.rule) for one in standings if not one.is_met)
    assert " ".join([judge(standings, approvers.split()[-1]), *unmet]) == expected


OWNERS = """\
# A comment
*       @global/one @two
*.js    @js #An inline comment.
/build/logs/ @logs
docs/*  docs@example.com
apps/   @apps
/nested/**/deep @deep
**/tmp  @tmp
a\\ b/  @blank
/exact  @exact
/free
!/not   @never
*.[ch]  @never
\\#x    @never
/typo   @ok nonsense
[Section] @never
q?.txt  @mark
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("main.c", "global/one two"),
        ("x/y/z.js", "js"),
        ("build/logs/a/b", "logs"),
        ("x/build/logs/a", "global/one two"),
        ("docs/a.md", "docs@example.com"),
        ("docs/deep/a.md", "global/one two"),
        ("x/docs/a.md", "global/one two"),
        ("x/apps/a/b", "apps"),
        ("apps", "global/one two"),
        ("nested/a/b/deep/c", "deep"),
        ("nested/deep", "deep"),
        ("tmp/a", "tmp"),
        ("x/tmp", "tmp"),
        ("x/a b/c", "blank"),
        ("exact", "exact"),
        ("exact/below", "exact"),
        ("x/exact", "global/one two"),
        ("free/a", ""),
        ("not", "global/one two"),
        ("#x", "global/one two"),
        ("typo", "global/one two"),
        ("q1.txt", "mark"),
        ("q12.txt", "global/one two"),
        ("x.JS", "global/one two"),
    ],
)
def test_code_owners_are_those_of_the_last_line_that_fits(path: str, owners: str) -> None:
    assert parse_code_owners(OWNERS).of(path) == tuple(owners.split())


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("{by: []}", "approvals.by: Tuple should have at least 1 item"),
        ("{by: [ada], who: bob}", "approvals.who: there is no such key"),
        ("{by: [ada], gate: [a]}", "there is no such key; did you mean approvals.gates?"),
        ("{not: requester}", "approvals.by: Field required"),
        ("{by: [ada, ADA], count: 2}", "count is 2, and only 1 can approve: name more"),
        ("{by: [ada], count: 0}", "approvals.count: Input should be greater than or equal to 1"),
        ("{by: ['a b']}", "a login, a team such as acme/core, or CODEOWNERS"),
        ("{by: [a/b/c]}", "a login, a team such as acme/core, or CODEOWNERS"),
        ("{by: [@ada]}", "write what begins with @ in quotes"),
        ("{by: [ada], not: author}", "approvals.not: Input should be 'requester'"),
        ("{by: [ada], paths: [../x]}", "a pattern names paths inside the repository"),
        ("ada", "approvals: Input should be a valid list"),
    ],
)
def test_a_mistake_in_the_setting_is_told_with_its_line(written: str, problem: str) -> None:
    with pytest.raises(BadConfig) as caught:
        parse_config(f"budget: 4\napprovals: {written}\n")
    assert problem in (said := "\n".join(caught.value.details))
    assert ".forge/config.yml:2: " in said


def test_a_rule_more_never_opens_a_question() -> None:
    rules = [
        rule
        for group in GROUPS
        for rule in parse_config(yaml.safe_dump({"approvals": group["rules"]})).approvals
    ]
    asked = ApprovalCase(gates=("checkpoint-a",), paths=("src/pay/a.py",), requester="ada")
    for one, other, by in product(rules, rules, ("ada", "cleo", "boss")):
        met = [
            all(
                standing(
                    need,
                    [by],
                    read_people([need], [by], lambda login: ROLES.get(login, Role.NONE), TEAMS.get),
                ).is_met
                for need in needs_of(chosen, asked, parse_code_owners(""))
            )
            for chosen in ((one,), (one, other))
        ]
        assert met[0] or not met[1]
