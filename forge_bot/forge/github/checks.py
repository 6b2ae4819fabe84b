"""The needs of the bot in a repository on GitHub: each missing click, with its address."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from forge_bot.errors import NotOnGitHub, PermissionMissing
from forge_bot.forge.github.addresses import RepositoryAddress
from forge_bot.forge.github.client import GitHub, connect
from forge_bot.forge.github.names import token_of
from forge_bot.forge.github.workflow_files import (
    ACTION,
    WAKE_WORKFLOW,
    WORKFLOW,
    mapping_of,
    read_workflow,
    workflow_text,
)
from forge_bot.forge.types import START, RepositoryNeed

if TYPE_CHECKING:
    from github.Repository import Repository

T = TypeVar("T")

_USES = re.compile(r"^\s*(?:- )?uses: *[\"']?([\w.-]+/[\w.-]+)([\w./-]*)@([^\s\"']+)", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SECRET = re.compile(r"\bsecrets\.(\w+)")
_OF_JOB = "GITHUB_TOKEN"
_EXAMPLES = ("feature/1-example", "fix/1-example")
"""The branches of a run: with its record, and for merge."""
_IN_THE_WAY = (
    *("creation", "update", "pull_request", "required_status_checks", "required_signatures"),
    *("required_linear_history", "branch_name_pattern", "commit_message_pattern", "protection"),
)
"""Rules that stop a run's pushes."""
_LEVELS = ("none", "read", "write")


def check_repository(
    place: RepositoryAddress, environ: Mapping[str, str], key: str = ""
) -> Iterator[RepositoryNeed]:
    """Yield the bot's requirements; `key` is the secret of the configured model, if that is known.
    Without a token, yield only how to get one. Raises GitHubError.
    """
    token = token_of(environ)
    if not token:
        step = f"GITHUB_TOKEN=$(gh auth token) forge-bot doctor --github {place.name}"
        yield _lacking("GitHub", f"{place.name} was not looked at: no token", step)
        return
    with connect(place.name, token, place.api, patience=0) as client:
        about = client.about()
        branch = about.default_branch
        text = client.text_of_file(WORKFLOW, branch)
        yield from _token(place, client, about)
        yield from _workflow(place, client, branch, text)
        if text is not None:
            yield from _actions(place, token, text)
            yield from _permissions(text)
        yield from _secrets(place, client, text or "", key)
        yield from _rules(place, client, branch)


def _visible(ask: Callable[[], T]) -> T | None:
    """Return what GitHub answers; None for what is not there, or what the token may not see."""
    try:
        return ask()
    except (PermissionMissing, NotOnGitHub):
        return None


def _lacking(what: str, problem: str, step: str) -> RepositoryNeed:
    return RepositoryNeed(what, problem, "", step)


def _token(
    place: RepositoryAddress, client: GitHub, about: "Repository"
) -> Iterator[RepositoryNeed]:
    """Yield whether the repository takes issues, and pull requests by the token of Actions."""
    off = "" if about.has_issues else "has its issues switched off"
    off = "is archived" if about.archived else off
    yield RepositoryNeed(
        "GitHub",
        f"{about.full_name} {off}" if off else "",
        f"{about.full_name}, {about.default_branch}",
        f"{place.page}/settings",
    )
    problem = {
        True: "",
        False: "Actions may not open pull requests",
        None: "this token may not see it (it takes administration: read)",
    }[_visible(client.may_open_pulls)]
    clicks = f"{place.page}/settings/actions"
    yield RepositoryNeed(
        "pull requests",
        problem,
        "Actions may open them",
        f"tick “Allow GitHub Actions to create and approve pull requests”: {clicks}",
    )


def _workflow(
    place: RepositoryAddress, client: GitHub, branch: str, text: str | None
) -> Iterator[RepositoryNeed]:
    """Yield whether the workflow, with this text, is there and switched on, and its label."""
    if text is None:
        sentence = f"{WORKFLOW} is not on {branch}, where GitHub looks for it"
        yield _lacking("workflow", sentence, "forge-bot init, then commit and merge it")
    else:
        yield _switched_on(place, client, "workflow", WORKFLOW)
        if client.text_of_file(WAKE_WORKFLOW, branch):
            yield _switched_on(place, client, "schedule", WAKE_WORKFLOW)
        else:
            sentence = f"without {WAKE_WORKFLOW} runs that wait go on at a command only"
            yield RepositoryNeed("schedule", "", sentence)
    labelled = START.casefold() in {name.casefold() for name in client.labels()}
    yield RepositoryNeed(
        "label",
        "" if labelled else f"there is no label {START}",
        START,
        f"make it: {place.page}/labels",
    )


def _switched_on(
    place: RepositoryAddress, client: GitHub, what: str, workflow: str
) -> RepositoryNeed:
    """Return whether GitHub starts a workflow. It switches one with a schedule off by itself where
    a public repository had no commits for 60 days.
    """
    name = workflow.rpartition("/")[2]
    state = _visible(lambda: client.workflow_state(name)) or ""
    page = f"{place.page}/actions/workflows/{name}"
    problem = f"{workflow} is switched off ({state})" if state.startswith("disabled") else ""
    return RepositoryNeed(what, problem, f"{workflow} is there", f"Enable workflow: {page}")


def _actions(place: RepositoryAddress, token: str, text: str) -> Iterator[RepositoryNeed]:
    """Yield whether each action of the workflow is there and held fast by a commit."""
    for name, folder, ref in dict.fromkeys(_USES.findall(text)):
        with connect(name, token, place.api, patience=0) as action:
            there = action.has_commit(ref)
        if not there:
            sentence = f"{name} has no {ref}, or the token may not see it: every job would fail"
            yield _lacking(
                "action", sentence, "forge-bot init --update, or name a commit that is there"
            )
        else:
            moves = "" if _COMMIT.fullmatch(ref) else f"{name}{folder}@{ref} can be moved"
            step = "put the full id of the commit there; forge-bot init --update does it"
            yield RepositoryNeed("action", moves, f"{name}{folder}@{ref[:12]}", step)


def _permissions(text: str) -> Iterator[RepositoryNeed]:
    """Yield which permissions of the job that `init` writes no job of this workflow has."""
    wanted = _read_granted(read_workflow(workflow_text(ACTION, _OF_JOB)))
    granted = _read_granted(read_workflow(text))
    lacking = [
        f"{area}: {level}"
        for area, level in wanted.items()
        if _LEVELS.index(granted.get(area, granted.get("*", "none"))) < _LEVELS.index(level)
    ]
    step = f"write it under permissions: of the job in {WORKFLOW}"
    problem = f"no job has {', '.join(lacking)}" if lacking else ""
    yield RepositoryNeed("permissions", problem, "the job has what it needs", step)


def _read_granted(workflow: dict[str, Any]) -> dict[str, str]:
    """Return the highest level that any job has of each permission; `*` stands for all."""
    granted: dict[str, str] = {}
    for job in mapping_of(workflow.get("jobs")).values():
        own: object = mapping_of(job).get("permissions", workflow.get("permissions"))
        if isinstance(own, str):
            own = {"*": own.partition("-")[0]}
        for area, level in mapping_of(own).items():
            if level in _LEVELS:
                granted[area] = max(granted.get(area, "none"), level, key=_LEVELS.index)
    return granted


def _secrets(
    place: RepositoryAddress, client: GitHub, text: str, key: str
) -> Iterator[RepositoryNeed]:
    """Yield whether each secret that the workflow hands over is there, in its environment too."""
    names = dict.fromkeys(name for name in _SECRET.findall(text) if name != _OF_JOB)
    if key and text and key not in names:
        sentence = f"the workflow does not hand over {key}, which the configured model needs"
        yield _lacking(
            "secret", sentence, f"{key}: ${{{{ secrets.{key} }}}} under env: of the step"
        )
    of_repository = _visible(client.secrets)
    present, hidden = set(of_repository or ()), of_repository is None
    page = f"{place.page}/settings/secrets/actions"
    for environment in _environments(text):
        page = f"{place.page}/settings/environments"
        try:
            present.update(client.environment_secrets(environment))
        except NotOnGitHub:
            yield _lacking("environment", f"there is no environment {environment}", page)
        except PermissionMissing:
            hidden = True
    for name in names or ([key] if key else []):
        problem = "" if name in present else f"there is no secret {name}"
        if problem and hidden:
            problem = (
                "this token may not see the names of secrets (it takes secrets: read, for an "
                f"environment environments: read); {name} has to be among them"
            )
        yield RepositoryNeed(
            "secret", problem, name, f"New secret, or one of the organization: {page}"
        )


def _environments(text: str) -> tuple[str, ...]:
    jobs = mapping_of(read_workflow(text).get("jobs")).values()
    chosen = (mapping_of(job).get("environment") for job in jobs)
    names = (one if isinstance(one, str) else mapping_of(one).get("name") for one in chosen)
    return tuple(dict.fromkeys(str(name) for name in names if name))


def _rules(place: RepositoryAddress, client: GitHub, branch: str) -> Iterator[RepositoryNeed]:
    """Yield the rules that would stop a run's pushes, and whether the default branch has any."""
    page = f"{place.page}/settings/rules"
    kinds = {kind for branch in _EXAMPLES for kind in client.rules_of(branch)}
    stopping = ", ".join(kind for kind in _IN_THE_WAY if kind in kinds)
    yield RepositoryNeed(
        "branch rules",
        f"rules stop pushes to the branches of runs: {stopping}" if stopping else "",
        "nothing stops a push to the branches of a run",
        f"leave feature/** and the branches for merge, such as fix/**, out of them: {page}",
    )
    guarded = {"pull_request", "protection"} & set(client.rules_of(branch))
    yield RepositoryNeed(
        "default branch",
        "" if guarded else f"whoever may write can push to {branch}, the job's token too",
        f"{branch} takes changes by pull request",
        f"require a pull request for {branch}: {page}",
    )
