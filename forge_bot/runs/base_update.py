"""A run that is done takes in what came to its base branch since, and goes back to its
verification.
"""

from datetime import datetime

from forge_bot.engine.pipeline import VerifyPhase
from forge_bot.engine.reports import RetryAsked
from forge_bot.engine.state import RunStatus
from forge_bot.errors import CannotUpdate
from forge_bot.git.commit_objects import commit_at
from forge_bot.git.remotes import REMOTES, fetch_branch
from forge_bot.git.revisions import HEADS, is_ancestor, ref_target
from forge_bot.runs.merge_into_run import merge_into_run
from forge_bot.runs.pull_request_branch import take_peoples_commits
from forge_bot.runs.run import Run
from forge_bot.values import PhaseId

_SHOWN = 5


def fetch_for_update(run: Run) -> None:
    """Learn where the base branch and the offered one are now, if there is a remote. Raises
    GitFailed.
    """
    repository, state = run.repository, run.state
    if repository.remote_url() is not None:
        known = set(repository.remote_branches())
        for branch in {state.base_branch, state.pull_request_branch} & known:
            fetch_branch(repository.root, "origin", branch)


def update(run: Run, *, key: str, at: datetime, by: str, via: str, base: str = "") -> RetryAsked:
    """Merge what people added to the offered branch and what came to the base branch, as far as is
    known here; the report that sends the run back to its verification. `base` is another base
    branch than the run's own, where a person gave the pull request another one.

    Approvals stand: no document changes. Raises CannotUpdate, and nothing is merged then.
    """
    state = run.state
    if state.current_phase_status is not RunStatus.COMPLETED:
        raise CannotUpdate(
            "The run is not done yet.",
            hint="Update it when its pull request is open, or answer what it asks first.",
        )
    take_peoples_commits(run)
    root, base = run.repository.root, base or state.base_branch
    places = (f"{REMOTES}origin/{base}", f"{HEADS}{base}")
    newest = next(filter(None, (ref_target(root, ref) for ref in places)), None)
    if newest is None:
        raise CannotUpdate(f"There is no branch {base} any more.")
    head = run.tree.commit_id()
    if not is_ancestor(root, newest, head):
        since = run.tree.merge_base(head, newest)
        if conflicts := merge_into_run(run, newest, since, f"Merge {base} into the run"):
            raise _contradicted(run, base, conflicts)
    elif len(commit_at(root, head).parents) == 1:
        raise CannotUpdate(f"The run has all of {base} already.", hint="There is nothing to do.")
    return RetryAsked(key=key, at=at, phase=_verification(run), by=by, via=via)


def _contradicted(run: Run, base: str, conflicts: tuple[str, ...]) -> CannotUpdate:
    state = run.state
    branch = state.pull_request_branch or state.branch
    more = f" and {len(conflicts) - _SHOWN} more" if len(conflicts) > _SHOWN else ""
    away = run.repository.remote_url() is not None
    return CannotUpdate(
        f"{base} and the run changed the same lines of {', '.join(conflicts[:_SHOWN])}{more}.",
        hint=(
            f"Nothing was merged. Merge {base} into {branch} by hand (git switch {branch} && git"
            f" merge {'origin/' if away else ''}{base}), solve it and commit"
            f"{' and push; “Resolve conflicts” on the pull request does the same' if away else ''}."
            " Then update again: the run takes your commits and verifies them."
        ),
    )


def _verification(run: Run) -> PhaseId:
    """The phase that judges the whole change; the run's last one where its effort leaves it out."""
    done = run.state.completed_phases
    found = [
        phase.id
        for phase in run.pipeline.phases
        if isinstance(phase, VerifyPhase) and phase.id in done
    ]
    return found[-1] if found else run.state.current_phase
