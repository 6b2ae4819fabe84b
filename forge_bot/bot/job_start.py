"""The beginning of a job: who woke it, and a clone of the repository."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from forge_bot.bot.job_context import JobContext, read_job_context
from forge_bot.bot.protect_token import protect_token
from forge_bot.errors import GitFailed, NoCommits
from forge_bot.gate.environment_variables import Inputs
from forge_bot.git import Repository, clone_repository
from forge_bot.resources import state_home
from forge_bot.store.files import waited_for


class JobStart(NamedTuple):
    """The initial state of a job. `environ` is the environment with everything in it."""

    around: JobContext
    inputs: Inputs
    environ: Mapping[str, str]


def begin(environ: Mapping[str, str] = os.environ) -> JobStart:
    """Read who woke the job, and protect its token. Raises NotInAction and BadInput."""
    around, inputs = read_job_context(environ)
    return JobStart(around, inputs, protect_token(around))


def default_tree(repository: str, issue: int) -> Path:
    """Return the folder of the work tree whose configuration counts for an issue's run."""
    return state_home() / "default-branch" / repository / str(issue)


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
    clone = state_home() / "repositories" / around.repository
    # On a machine that stays, other issues have jobs in the same clone at the same time.
    with waited_for(clone.with_name(f"{clone.name}.lock")):
        cloned = clone_repository(f"{around.url}.git", clone)
        default = cloned.default_branch() or "main"
        tip = _tip(cloned, default)
        tree = default_tree(around.repository, around.wake.issue)
        return Repository.find(cloned.detached_tree(tree, tip).path)
