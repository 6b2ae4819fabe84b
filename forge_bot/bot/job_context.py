"""The beginning of a job: who woke it, the repository, the limits of a run, read once; its token
and the other secrets of its workflow, kept with the process that needs them; and a clone of the
repository.
"""

import os
from collections.abc import Mapping
from contextlib import suppress

from pydantic import Field, ValidationError

from forge_bot.errors import BadInput, GitFailed, NoCommits, NotInAction
from forge_bot.forge import (
    ADDRESSES,
    JOB_NEEDS,
    JOB_PREFIXES,
    MACHINE_VARIABLES,
    StepContext,
    read_step_context,
)
from forge_bot.gate.arguments import AMOUNTS, NO_LIMIT, Amount, read_amount
from forge_bot.gate.environment_variables import Inputs, read_inputs
from forge_bot.git import Repository, clone_repository
from forge_bot.git.commits import OWN_IDENTITY
from forge_bot.git.process import SIGNING_KEY
from forge_bot.git.remotes import use_token
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.resources import state_home
from forge_bot.sentences import say
from forge_bot.store.files import waited_for
from forge_bot.store.run_folder import SPECS
from forge_bot.values import Frozen


class Wake(Frozen):
    """The admitted event, as ids only. Everything they name is read again."""

    trigger: str = ""
    operation: str = ""
    issue: int
    thread: int = 0
    comment: int | None = None
    by: str | None = None
    tracking_comment: int | None = None
    again: bool = False
    """Whether a timer repeats the event; nobody acted now."""


class JobContext(Frozen):
    """One step of a workflow, seen by the supervisor."""

    wake: Wake
    step: StepContext = Field(repr=False)
    budget: Amount
    trust_local: bool
    by_timer: bool = False
    """Whether a timer wakes a worker again after a passing problem."""
    inputs: Inputs
    environ: Mapping[str, str] = Field(repr=False)
    """The environment as it was, with everything in it."""

    @property
    def url(self) -> str:
        """The repository's page."""
        return f"{self.step.server}/{self.step.repository}"

    @property
    def commands(self) -> CommandNames:
        """The spelling of commands in this thread."""
        given = self.inputs
        return CommandNames(prefix=given.prefix, short=given.bare, by_timer=self.by_timer)

    def links(self, commit: str = "", run: str = "") -> Links:
        """Addresses for words about a run; without its name, about none."""
        folder = f"{SPECS}/{run}" if run else SPECS
        return Links(repository=self.url, commit=commit, workspace=folder, job=self.step.run_url)


def read_job_context(environ: Mapping[str, str] = os.environ) -> JobContext:
    """Return the context and inputs in the environment.

    Raises NotInAction without the variables of a workflow, BadInput for an impossible input.
    """
    step = read_step_context(environ, ("FORGE_BOT_WAKE", *JOB_NEEDS))
    try:
        wake = Wake.model_validate_json(environ["FORGE_BOT_WAKE"])
    except ValidationError as error:
        details = (str(error),)
        raise NotInAction(
            "FORGE_BOT_WAKE is not what the gate hands on.", details=details
        ) from None
    return JobContext(
        wake=wake,
        step=step,
        budget=_amount(environ.get("FORGE_BOT_BUDGET", "")),
        trust_local=_is_true(environ, "FORGE_BOT_TRUST_LOCAL"),
        by_timer=_is_true(environ, "FORGE_BOT_BY_TIMER"),
        inputs=read_inputs(environ),
        environ=dict(environ),
    )


def _is_true(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").strip().casefold() == "true"


def _amount(text: str) -> Amount:
    if not text.strip():
        return NO_LIMIT
    amount = read_amount(text)
    if amount is None:
        raise BadInput(f"FORGE_BOT_BUDGET is {text!r}: it is an amount: {say(AMOUNTS)}.")
    return amount


def begin(environ: Mapping[str, str] = os.environ) -> JobContext:
    """Read who woke the job, and protect its token. Raises NotInAction and BadInput."""
    around = read_job_context(environ)
    protect_token(around)
    return around


def _tip(cloned: Repository, default: str) -> str:
    """Return the newest commit of the default branch. Raises NoCommits where it has none."""
    try:
        return cloned.commit_id(f"refs/remotes/origin/{default}")
    except GitFailed:
        raise NoCommits(
            f"There is no commit on the default branch, `{default}`.",
            hint=f"Push one to `{default}`, or choose another default branch in the settings.",
        ) from None


def job_repository(around: JobContext) -> Repository:
    """A clone of our own, and in it a tree at the default branch's newest commit: configuration,
    pipelines and prompts are read from there.

    What is checked out in the workspace is nothing to us: it may be shallow, another branch, or not
    there.
    """
    clone = state_home() / "repositories" / around.step.repository
    # On a machine that stays, other issues have jobs in the same clone at the same time.
    with waited_for(clone.with_name(f"{clone.name}.lock")):
        cloned = clone_repository(f"{around.url}.git", clone)
        default = cloned.default_branch() or "main"
        tip = _tip(cloned, default)
        # Each issue has a work tree of its own, whose configuration counts for its run.
        trees = state_home() / "default-branch" / around.step.repository
        tree = cloned.detached_tree(trees / str(around.wake.issue), tip)
        return Repository.find(tree.path)


_OURS = (*JOB_PREFIXES, "GIT_CONFIG")
_KEPT_BACK = frozenset({"FORGE_BOT_WAKE", SIGNING_KEY})
_NEEDED = (
    *(*ADDRESSES, SIGNING_KEY, "FORGE_BOT_WAKE"),
    *("GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
)
"""What this process itself looks up later; `git` gives the key to no child."""


def without_token(environ: Mapping[str, str], token: str) -> dict[str, str]:
    """Return the environment for the worker: without the workflow's own variables, the signing key,
    and every variable that contains the token.
    """
    return {
        name: value
        for name, value in environ.items()
        if (name in MACHINE_VARIABLES or not name.startswith(_OURS))
        and not (token and token in value)
        and name not in _KEPT_BACK
    }


def protect_token(around: JobContext) -> None:
    """Keep the job's token, and the other secrets of its workflow, from the children of this
    process and from other processes of this user.
    """
    whole = dict(os.environ)
    kept = without_token(whole, around.step.token) | {
        name: whole[name] for name in _NEEDED if name in whole
    }
    for name in whole.keys() - kept.keys():
        del os.environ[name]
    # What a worker writes into the user's configuration counts for no git of ours.
    os.environ.update({"GIT_CONFIG_GLOBAL": os.devnull, **OWN_IDENTITY})
    use_token(around.step.server, f"{around.url}.git", around.step.token)
    close_to_others()


def close_to_others() -> None:
    """prctl(PR_SET_DUMPABLE, 0), prctl(2): /proc/PID/environ and memory of this process are closed
    to others of the same user.
    """
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
