"""Checks of the repository on GitHub: each missing click, with its address."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forge_bot.errors import ForgeError
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.runs.checks.check import CheckResult, CheckSubject, note, warn
from forge_bot.runs.workflow_file import LABELS, WORKFLOW, key_name
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
        yield warn("GitHub", f"{place.name} was not looked at: no token", step)
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
        "is archived"
        if facts.archived
        else "has its issues switched off"
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
        False: "Actions may not open pull requests",
        None: "this token may not see it (it takes administration: read)",
    }[facts.actions_may_open_pulls]
    clicks = f"{place.page}/settings/actions"
    yield _check(
        "pull requests",
        problem,
        "Actions may open them",
        f"tick “Allow GitHub Actions to create and approve pull requests”: {clicks}",
    )


def _workflow(
    place: "RepositoryAddress", facts: "RepositoryFacts", key: str
) -> Iterator[CheckResult]:
    """Yield whether the workflow is there, with the label and the secret that it needs."""
    branch = facts.default_branch
    yield _check(
        "workflow",
        f"{WORKFLOW} is not on {branch}, where GitHub looks for it"
        if facts.workflow is None
        else "",
        f"{WORKFLOW} is on {branch}",
        "forge-bot init, then commit and merge it",
    )
    labelled = _START.casefold() in {name.casefold() for name in facts.labels}
    yield _check(
        "label",
        "" if labelled else f"there is no label {_START}",
        _START,
        f"forge-bot init --labels, or by hand: {place.page}/labels",
    )
    page = f"{place.page}/settings/secrets/actions"
    if facts.secrets is None:
        yield warn(
            "secret",
            (
                f"this token may not see the names of secrets (it takes secrets: read); {key} has "
                "to be among them"
            ),
            page,
        )
    else:
        yield _check(
            "secret",
            "" if key in facts.secrets else f"there is no secret {key}",
            key,
            f"New repository secret: {page}",
        )
