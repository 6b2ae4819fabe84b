"""The beginning of a job: who woke it, and the repository, which git clones while the rest of the
supervisor is read.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from forge_bot.bot.job_context import JobContext, read_job_context
from forge_bot.bot.protect_token import protect_token
from forge_bot.errors import GitFailed, NoCommits
from forge_bot.gate.environment_variables import Inputs
from forge_bot.git import Repository, clone_repository
from forge_bot.sentences import say
from forge_bot.settings.state_home import state_home
from forge_bot.store.lock import waited_for


class JobStart(NamedTuple):
    """The initial state of a job."""

    around: JobContext
    inputs: Inputs
    cloned: "CloneUnderWay"
    environ: Mapping[str, str]


def begin(environ: Mapping[str, str] = os.environ) -> JobStart:
    """Read who woke the job, protect its token, and let git clone. Raises NotInAction and
    BadInput.
    """
    around, inputs = read_job_context(environ)
    whole = protect_token(around)
    return JobStart(around, inputs, CloneUnderWay(around), whole)


class CloneUnderWay:
    """A repository that a thread of its own makes ready."""

    def __init__(self, around: JobContext) -> None:
        self._found: Repository | None = None
        self._error: BaseException | None = None
        self._thread = Thread(target=self._make, args=(around,), daemon=True)
        self._thread.start()

    def repository(self) -> Repository:
        """Return the repository when the clone is complete. Raises the error of the clone."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        if self._found is None:
            raise RuntimeError("The clone ended without a word.")
        return self._found

    def _make(self, around: JobContext) -> None:
        try:
            self._found = job_repository(around)
        except BaseException as error:  # noqa: BLE001 - whoever waits for it is told
            self._error = error


def default_tree(repository: str, issue: int) -> Path:
    """Return the folder of the work tree whose configuration counts for an issue's run."""
    return state_home() / "default-branch" / repository / str(issue)


def _tip(cloned: Repository, default: str) -> str:
    """Return the newest commit of the default branch. Raises NoCommits where it has none."""
    try:
        return cloned.commit_id(f"refs/remotes/origin/{default}")
    except GitFailed:
        raise NoCommits(
            say("bot.job_start.no_commits", branch=default),
            hint=say("bot.job_start.push_one", branch=default),
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
