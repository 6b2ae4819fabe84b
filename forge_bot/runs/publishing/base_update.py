"""Merge the new commits of the base branch into a run. A run that is done goes back to its
verification; one in progress reaches it later.
"""

from datetime import datetime
from pathlib import Path

from forge_bot.engine.external_events import verification
from forge_bot.engine.reports import RetryAsked
from forge_bot.errors import CannotUpdate, UpToDate
from forge_bot.git.commit_history import commit_at
from forge_bot.git.refs import REMOTES
from forge_bot.git.remotes import fetch_branch
from forge_bot.git.revisions import HEADS, is_ancestor, ref_target
from forge_bot.runs.publishing.merge_into_run import merge_base_into_run
from forge_bot.runs.publishing.publish_result import target_of
from forge_bot.runs.publishing.pull_request_branch import name_some, take_peoples_commits
from forge_bot.runs.run import Run
from forge_bot.values import RunStatus


def fetch_for_update(run: Run) -> None:
    """Fetch the base branch and the branch for merge, if there is a remote. Raises GitFailed."""
    repository, state = run.repository, run.state
    if repository.remote_url() is not None:
        known = set(repository.remote_branches())
        for branch in {state.base_branch, state.pull_request_branch} & known:
            fetch_branch(repository.root, branch)


def update(
    run: Run, *, key: str, at: datetime, by: str, via: str, base: str = ""
) -> RetryAsked | None:
    """Merge the known commits of people on the offered branch and the new commits of the base
    branch.

    `base` is another base branch than the run's own, if a person gave the pull request another one.
    Return the report that sends the run back to its verification, None if that is still before it.
    Approvals and open questions stay valid: no document changes. Raises CannotUpdate, or UpToDate
    where there is nothing to merge; the run is as it was then.
    """
    state = run.state
    done = state.current_phase_status is RunStatus.COMPLETED
    judging = verification(run.pipeline, state)
    if state.ended and not done:
        raise CannotUpdate(f"The run is over: {state.current_phase_status.value}.")
    if state.gate is not None and judging in state.completed_phases:
        raise CannotUpdate(
            "The change is verified, and a question is open.",
            hint="Answer what it asks first, and update then.",
        )
    take_peoples_commits(run)
    root, base = run.repository.root, base or target_of(run)
    newest, head = _newest(root, base), run.tree.commit_id()
    if not is_ancestor(root, newest, head):
        merged = merge_base_into_run(run, base, newest)
        if merged.conflicts:
            raise _contradicted(run, base, merged.conflicts)
    elif not done or len(commit_at(root, head).parents) == 1:
        raise UpToDate(
            f"The run has all of {base} already.",
            hint="There is nothing to do.",
        )
    if judging not in state.completed_phases:
        return None
    return RetryAsked(key=key, at=at, phase=judging, by=by, via=via)


def _newest(root: Path, base: str) -> str:
    places = (f"{REMOTES}origin/{base}", f"{HEADS}{base}")
    newest = next(filter(None, (ref_target(root, ref) for ref in places)), None)
    if newest is None:
        raise CannotUpdate(f"There is no branch {base} any more.")
    return newest


def _contradicted(run: Run, base: str, conflicts: tuple[str, ...]) -> CannotUpdate:
    branch = run.state.pull_request_branch or run.state.branch
    remote, push = ("origin/", " and push") if run.repository.remote_url() else ("", "")
    return CannotUpdate(
        f"{base} and the run changed the same lines of {name_some(conflicts)}.",
        hint=(
            f"Nothing was merged. Merge {base} into {branch} by hand (git switch {branch} && "
            f"git merge {remote}{base}), solve it and commit{push}. Then update again: the run "
            "takes your commits and verifies them."
        ),
    )
