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
from forge_bot.store import RECORD_BRANCHES
from forge_bot.values import Tier

if TYPE_CHECKING:
    from forge_bot.github_api import RepositoryAddress, RepositoryFacts

_START = LABELS[0].name
_OFFERED, _OWN = "fix/1-example", "feature/1-example"
"""Names such as branches of a run have: rule sets name branches by patterns."""

_LEFT_OUT = {_OWN: "feature/**", RECORD_BRANCHES[0]: f"{RECORD_BRANCHES[0]}*"}


def github(subject: CheckSubject) -> Iterator[CheckResult]:
    """Yield what the bot needs on GitHub. Without a token, only how to get one."""
    url = subject.repository.remote_url()
    if url is None:
        return
    from forge_bot.github_api import PyGitHub, parse_remote

    place = parse_remote(url, subject.environ)
    if place is None:
        return
    token = subject.environ.get("GITHUB_TOKEN") or subject.environ.get("GH_TOKEN")
    if not token:
        step = "GITHUB_TOKEN=$(gh auth token) forge-bot doctor"
        yield warn("GitHub", f"{place.name} was not looked at: no token", step)
        return
    try:
        # No pauses: a person waits at the terminal.
        with PyGitHub(place.name, token, place.api, patience=0) as client:
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
        "is archived"
        if facts.archived
        else "has its issues switched off"
        if not facts.has_issues
        else ""
    )
    rules = (
        ""
        if facts.protected
        else f"nothing guards {facts.default_branch}: whoever may write may push to it without a"
        " review"
    )
    guard = f"{settings}/rules"
    return [
        _check(
            "GitHub",
            f"{facts.full_name} {off}" if off else "",
            f"{facts.full_name}, {facts.default_branch}",
            settings,
        ),
        _check("branch rules", rules, f"{facts.default_branch} is guarded", guard),
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
    """Yield what becomes of the branches of a run where rule sets demand signed commits."""
    default = (facts.default_branch,) if "required_signatures" in facts.rules else ()
    demanding = (*default, *(name for name in facts.signed if name == _OFFERED))
    if demanding:
        places = " and ".join(demanding)
        yield _check(
            "signed commits",
            ""
            if signs
            else f"demanded for {places}, and the commits of a run are not signed; GitHub itself"
            " signs what it squashes",
            f"demanded for {places}, and commits for merge are signed",
            "give the workflow a signing-key: docs/configuration.md, “Signed commits”",
        )
    for name in facts.signed:
        if pattern := _LEFT_OUT.get(name):
            yield warn(
                "signed commits",
                f"demanded for {name}, where a run keeps its record, which nothing signs",
                f"leave {pattern} out of that rule: {place.page}/settings/rules",
            )


def _actions(place: "RepositoryAddress", facts: "RepositoryFacts") -> list[CheckResult]:
    clicks = f"{place.page}/settings/actions"
    unseen = "this token may not see it (it takes administration: read)"
    pulls = {True: "", False: "Actions may not open pull requests", None: unseen}[
        facts.actions_may_open_pulls
    ]
    wide = {"read": "", "write": "workflows may write everything unless they say otherwise"}.get(
        facts.workflow_permissions or "", unseen
    )
    return [
        _check(
            "pull requests",
            pulls,
            "Actions may open them",
            f"tick “Allow GitHub Actions to create and approve pull requests”: {clicks}",
        ),
        _check(
            "token of Actions",
            wide,
            "reads only, unless a workflow asks for more",
            f"choose “Read repository contents”: {clicks}",
        ),
    ]


def _workflow(facts: "RepositoryFacts") -> CheckResult:
    there = facts.workflow is not None
    missing = f"{WORKFLOW} is not on {facts.default_branch}, where GitHub looks for it"
    return _check(
        "workflow",
        "" if there else missing,
        f"{WORKFLOW} is on {facts.default_branch}",
        "forge-bot init, then commit and merge it",
    )


def _held_checks(facts: "RepositoryFacts") -> CheckResult:
    own = facts.workflow is not None and "github-token:" in facts.workflow
    held = (
        "GitHub holds the checks of pull requests that Actions opened until somebody clicks"
        " “Approve workflows to run”"
    )
    return _check(
        "checks on pull requests",
        "" if own else held,
        "run at once: the workflow has a token of its own",
        "input github-token with an App's token",
    )


def _listening(facts: "RepositoryFacts", checks: Sequence[str]) -> list[CheckResult]:
    if facts.workflow is None or not checks:
        return []
    deaf = unheard(facts.workflow, checks)
    step = (
        f"name them in {WORKFLOW}: on: workflow_run: {{ workflows:"
        f" {json.dumps(list(checks), ensure_ascii=False)}, types: [completed] }}"
    )
    return [
        _check(
            "failed checks",
            f"a failure of {', '.join(deaf)} does not wake the bot" if deaf else "",
            ", ".join(checks),
            step,
        )
    ]


def _label(place: "RepositoryAddress", facts: "RepositoryFacts") -> CheckResult:
    there = {name.casefold() for name in facts.labels}
    missing = [label.name for label in LABELS if label.name.casefold() not in there]
    step = f"forge-bot init --labels, or by hand: {place.page}/labels"
    if _START in missing:
        return warn("label", f"there is no label {_START}", step)
    return note("label", ", ".join(label.name for label in LABELS if label.name not in missing))


def _key(place: "RepositoryAddress", facts: "RepositoryFacts", key: str) -> CheckResult:
    page = f"{place.page}/settings/secrets/actions"
    if facts.secrets is None:
        found = (
            f"this token may not see the names of secrets (it takes secrets: read); {key} has to be"
            " among them"
        )
        return warn("secret", found, page)
    return _check(
        "secret",
        "" if key in facts.secrets else f"there is no secret {key}",
        key,
        f"New repository secret: {page}",
    )
