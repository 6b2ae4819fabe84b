"""The input of the supervisor from the action: who triggered it, the repository, the token, and the
limits of a run. Read once.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from forge_bot.errors import BadInput, NotInAction
from forge_bot.gate.arguments import AMOUNTS, NO_LIMIT, Amount, read_amount
from forge_bot.gate.environment_variables import Inputs, read_inputs
from forge_bot.sentences import say
from forge_bot.values import Frozen


class Wake(Frozen):
    """The admitted event, as ids only. Everything they name is read again."""

    trigger: str = ""
    operation: str = ""
    issue: int
    thread: int = 0
    comment: int | None = None
    check: int | None = None
    pulls: tuple[int, ...] = ()
    by: str | None = None
    tracking_comment: int | None = None
    again: bool = False
    """Whether a timer repeats the event; nobody acted now."""


class JobContext(Frozen):
    """One step of a workflow, seen by the supervisor."""

    wake: Wake
    repository: str
    api: str
    server: str
    payload: Path | None
    token: str = Field(repr=False)
    run_url: str
    summary: Path | None
    outputs: Path | None
    budget: Amount
    trust_local: bool
    push_workflows: bool = False
    by_timer: bool = False
    """Whether a timer wakes a worker again after a passing problem."""

    @property
    def url(self) -> str:
        """The repository's page."""
        return f"{self.server}/{self.repository}"


def read_job_context(environ: Mapping[str, str] = os.environ) -> tuple[JobContext, Inputs]:
    """Return the context and inputs in the environment.

    Raises NotInAction without the variables of a workflow, BadInput for an impossible input.
    """
    needed = ("FORGE_BOT_WAKE", "GITHUB_REPOSITORY", "GITHUB_TOKEN")
    if missing := [name for name in needed if not environ.get(name)]:
        raise NotInAction(f"A job of the bot needs {', '.join(missing)} in its environment.")
    try:
        wake = Wake.model_validate_json(environ["FORGE_BOT_WAKE"])
    except ValidationError as error:
        details = (str(error),)
        raise NotInAction(
            "FORGE_BOT_WAKE is not what the gate hands on.", details=details
        ) from None
    server = (environ.get("GITHUB_SERVER_URL") or "https://github.com").rstrip("/")
    repository = environ["GITHUB_REPOSITORY"]
    around = JobContext(
        wake=wake,
        repository=repository,
        api=(environ.get("GITHUB_API_URL") or "https://api.github.com").rstrip("/"),
        server=server,
        payload=_path(environ, "GITHUB_EVENT_PATH"),
        token=environ["GITHUB_TOKEN"],
        run_url=f"{server}/{repository}/actions/runs/{environ.get('GITHUB_RUN_ID', '')}",
        summary=_path(environ, "GITHUB_STEP_SUMMARY"),
        outputs=_path(environ, "GITHUB_OUTPUT"),
        budget=_amount(environ.get("FORGE_BOT_BUDGET", "")),
        trust_local=_is_true(environ, "FORGE_BOT_TRUST_LOCAL"),
        push_workflows=may_push_workflows(environ),
        by_timer=_is_true(environ, "FORGE_BOT_BY_TIMER"),
    )
    return around, read_inputs(environ)


def may_push_workflows(environ: Mapping[str, str]) -> bool:
    """Return whether the token may change workflow files, which that of Actions never may: an App's
    or a person's may be given.
    """
    return _is_true(environ, "FORGE_BOT_PUSH_WORKFLOWS")


def _is_true(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").strip().casefold() == "true"


def _path(environ: Mapping[str, str], name: str) -> Path | None:
    return Path(environ[name]) if environ.get(name) else None


def _amount(text: str) -> Amount:
    if not text.strip():
        return NO_LIMIT
    amount = read_amount(text)
    if amount is None:
        raise BadInput(f"FORGE_BOT_BUDGET is {text!r}: it is an amount: {say(AMOUNTS)}.")
    return amount
