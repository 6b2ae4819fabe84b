"""Checks of the repository on GitHub: each missing click, with its address."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forge_bot.errors import ForgeError
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.runs.checks.check import CheckResult, CheckSubject, note, warn
from forge_bot.runs.workflow_file import LABELS, WORKFLOW, key_name
from forge_bot.sentences import say
from forge_bot.values import Tier

if TYPE_CHECKING:
    from forge_bot.github_api.remote_address import RepositoryAddress
    from forge_bot.github_api.types import RepositoryFacts

_START = LABELS[0].name


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
            facts = client.facts(WORKFLOW)
    except ForgeError as error:
        yield warn("GitHub", error.message, advice_at_terminal(error))
        return
    yield from _token(place, facts)
    yield from _workflow(place, facts, key_name(subject.model_names[Tier.STRONG]))


def _check(what: str, problem: str, good: str, step: str) -> CheckResult:
    return warn(what, problem, step) if problem else note(what, good)


def _token(place: "RepositoryAddress", facts: "RepositoryFacts") -> Iterator[CheckResult]:
    """Yield whether the repository takes issues, and pull requests by the token of Actions."""
    off = (
        say("runs.github_checks.is_archived")
        if facts.archived
        else say("runs.github_checks.has_its_issues_switched_off")
        if not facts.has_issues
        else ""
    )
    yield _check(
        "GitHub",
        f"{facts.full_name} {off}" if off else "",
        f"{facts.full_name}, {facts.default_branch}",
        f"{place.page}/settings",
    )
    problem = {
        True: "",
        False: say("runs.github_checks.actions_may_not_open_pull_requests"),
        None: say("runs.github_checks.token_may_not_see_rules"),
    }[facts.actions_may_open_pulls]
    clicks = f"{place.page}/settings/actions"
    yield _check(
        "pull requests",
        problem,
        say("runs.github_checks.actions_may_open_pull_requests"),
        say("runs.github_checks.allow_actions_to_open_pull_requests", clicks=clicks),
    )


def _workflow(
    place: "RepositoryAddress", facts: "RepositoryFacts", key: str
) -> Iterator[CheckResult]:
    """Yield whether the workflow is there, with the label and the secret that it needs."""
    branch = facts.default_branch
    yield _check(
        "workflow",
        say("runs.github_checks.workflow_is_missing", workflow=WORKFLOW, default_branch=branch)
        if facts.workflow is None
        else "",
        say("runs.github_checks.workflow_is_there", workflow=WORKFLOW, default_branch=branch),
        say("runs.github_checks.init_and_merge"),
    )
    labelled = _START.casefold() in {name.casefold() for name in facts.labels}
    yield _check(
        "label",
        "" if labelled else say("runs.github_checks.label_is_missing", label=_START),
        _START,
        say("runs.github_checks.init_labels", page=place.page),
    )
    page = f"{place.page}/settings/secrets/actions"
    if facts.secrets is None:
        yield warn("secret", say("runs.github_checks.token_may_not_see_secrets", key=key), page)
    else:
        yield _check(
            "secret",
            "" if key in facts.secrets else say("runs.github_checks.secret_is_missing", key=key),
            key,
            say("runs.github_checks.add_the_secret", page=page),
        )
