"""Checks of the repository on GitHub: each missing click, with its address."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forge_bot.errors import BadSigningKey, ForgeError
from forge_bot.git.process import SIGNING_KEY
from forge_bot.git.signed_commits import find_key
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.runs.checks.check import CheckResult, CheckSubject, note, warn
from forge_bot.runs.ci_workflows import check_workflows, unheard
from forge_bot.runs.workflow_file import LABELS, WORKFLOW, key_name
from forge_bot.sentences import say
from forge_bot.store import RECORD_BRANCHES
from forge_bot.values import Tier

if TYPE_CHECKING:
    from forge_bot.github_api.remote_address import RepositoryAddress
    from forge_bot.github_api.types import RepositoryFacts

_START = LABELS[0].name
_OFFERED, _OWN = "fix/1-example", "feature/1-example"
"""Names such as branches of a run have: rule sets name branches by patterns."""

_LEFT_OUT = {_OWN: "feature/**", RECORD_BRANCHES[0]: f"{RECORD_BRANCHES[0]}*"}


def github(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield the bot's requirements on GitHub. Without a token, yield only how to get one."""
    url = subject.repository.remote_url()
    if url is None:
        return
    from forge_bot.github_api.pygithub import GitHub
    from forge_bot.github_api.remote_address import parse_remote

    place = parse_remote(url, subject.environ)
    if place is None:
        return
    token = subject.environ.get("GITHUB_TOKEN") or subject.environ.get("GH_TOKEN")
    if not token:
        step = "GITHUB_TOKEN=$(gh auth token) forge-bot doctor"
        yield warn(
            "GitHub", say("runs.github_checks.not_checked_without_token", name=place.name), step
        )
        return
    try:
        # No pauses: a person waits at the terminal.
        with GitHub(place.name, token, place.api, patience=0) as client:
            facts = client.facts(WORKFLOW, (_OFFERED, *_LEFT_OUT))
    except ForgeError as error:
        yield warn("GitHub", error.message, advice_at_terminal(error))
        return
    yield from _repository(place, facts)
    yield from _signatures(place, facts, signs=_signs(subject, facts.workflow or ""))
    yield _workflow(facts)
    yield from _actions(place, facts)
    yield _held_checks(facts)
    yield from _listening(facts, check_workflows(subject.repository, WORKFLOW))
    yield _label(place, facts)
    yield _key(place, facts, key_name(subject.model_names[Tier.STRONG]))


def _check(what: str, problem: str, good: str, step: str) -> CheckResult:
    return warn(what, problem, step) if problem else note(what, good)


def _repository(place: "RepositoryAddress", facts: "RepositoryFacts") -> list[CheckResult]:
    settings = f"{place.page}/settings"
    off = (
        say("runs.github_checks.is_archived")
        if facts.archived
        else say("runs.github_checks.has_its_issues_switched_off")
        if not facts.has_issues
        else ""
    )
    rules = (
        ""
        if facts.protected
        else say("runs.github_checks.default_branch_unguarded", default_branch=facts.default_branch)
    )
    guard = f"{settings}/rules"
    return [
        _check(
            "GitHub",
            f"{facts.full_name} {off}" if off else "",
            f"{facts.full_name}, {facts.default_branch}",
            settings,
        ),
        _check(
            "branch rules",
            rules,
            say("runs.github_checks.default_branch_guarded", default_branch=facts.default_branch),
            guard,
        ),
    ]


def _signs(subject: CheckSubject, workflow: str) -> bool:
    """Return whether commits for merge are signed, here or by the workflow on GitHub."""
    try:
        here = find_key(subject.repository.root, subject.environ, wanted=subject.config.sign)
    except BadSigningKey:
        # The check of the key says so.
        here = None
    return here is not None or "signing-key:" in workflow or SIGNING_KEY in workflow


def _signatures(
    place: "RepositoryAddress", facts: "RepositoryFacts", *, signs: bool
) -> Iterator[CheckResult]:
    """Yield the effect of rule sets that demand signed commits on the branches of a run."""
    default = (facts.default_branch,) if "required_signatures" in facts.rules else ()
    demanding = (*default, *(name for name in facts.signed if name == _OFFERED))
    if demanding:
        places = " and ".join(demanding)
        yield _check(
            "signed commits",
            ""
            if signs
            else say("runs.github_checks.signatures_demanded_without_key", places=places),
            say("runs.github_checks.signatures_demanded_with_key", places=places),
            say("runs.github_checks.give_a_signing_key"),
        )
    for name in facts.signed:
        if pattern := _LEFT_OUT.get(name):
            yield warn(
                "signed commits",
                say("runs.github_checks.signatures_demanded_for_records", name=name),
                say(
                    "runs.github_checks.leave_it_out_of_the_rule", pattern=pattern, page=place.page
                ),
            )


def _actions(place: "RepositoryAddress", facts: "RepositoryFacts") -> list[CheckResult]:
    clicks = f"{place.page}/settings/actions"
    unseen = say("runs.github_checks.token_may_not_see_rules")
    pulls = {True: "", False: "Actions may not open pull requests", None: unseen}[
        facts.actions_may_open_pulls
    ]
    wide = {
        "read": "",
        "write": say("runs.github_checks.workflows_may_write"),
    }.get(facts.workflow_permissions or "", unseen)
    return [
        _check(
            "pull requests",
            pulls,
            say("runs.github_checks.actions_may_open_pull_requests"),
            say("runs.github_checks.allow_actions_to_open_pull_requests", clicks=clicks),
        ),
        _check(
            "token of Actions",
            wide,
            say("runs.github_checks.workflows_read_only"),
            say("runs.github_checks.make_workflows_read_only", clicks=clicks),
        ),
    ]


def _workflow(facts: "RepositoryFacts") -> CheckResult:
    there = facts.workflow is not None
    missing = say(
        "runs.github_checks.workflow_is_missing",
        workflow=WORKFLOW,
        default_branch=facts.default_branch,
    )
    return _check(
        "workflow",
        "" if there else missing,
        say(
            "runs.github_checks.workflow_is_there",
            workflow=WORKFLOW,
            default_branch=facts.default_branch,
        ),
        say("runs.github_checks.init_and_merge"),
    )


def _held_checks(facts: "RepositoryFacts") -> CheckResult:
    own = facts.workflow is not None and "github-token:" in facts.workflow
    held = say("runs.github_checks.checks_are_held")
    return _check(
        "checks on pull requests",
        "" if own else held,
        say("runs.github_checks.checks_run_at_once"),
        say("runs.github_checks.use_an_app"),
    )


def _listening(facts: "RepositoryFacts", checks: Sequence[str]) -> list[CheckResult]:
    if facts.workflow is None or not checks:
        return []
    deaf = unheard(facts.workflow, checks)
    step = say(
        "runs.github_checks.name_the_checks",
        workflow=WORKFLOW,
        names=json.dumps(list(checks), ensure_ascii=False),
    )
    return [
        _check(
            "failed checks",
            say("runs.github_checks.checks_do_not_wake", deaf=", ".join(deaf)) if deaf else "",
            ", ".join(checks),
            step,
        )
    ]


def _label(place: "RepositoryAddress", facts: "RepositoryFacts") -> CheckResult:
    there = {name.casefold() for name in facts.labels}
    missing = [label.name for label in LABELS if label.name.casefold() not in there]
    step = say("runs.github_checks.init_labels", page=place.page)
    if _START in missing:
        return warn("label", say("runs.github_checks.label_is_missing", label=_START), step)
    return note("label", ", ".join(label.name for label in LABELS if label.name not in missing))


def _key(place: "RepositoryAddress", facts: "RepositoryFacts", key: str) -> CheckResult:
    page = f"{place.page}/settings/secrets/actions"
    if facts.secrets is None:
        found = say("runs.github_checks.token_may_not_see_secrets", key=key)
        return warn("secret", found, page)
    return _check(
        "secret",
        "" if key in facts.secrets else say("runs.github_checks.secret_is_missing", key=key),
        key,
        say("runs.github_checks.add_the_secret", page=page),
    )
