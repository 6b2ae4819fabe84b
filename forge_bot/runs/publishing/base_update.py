"""Merge the new commits of the base branch into a run. A run that is done goes back to its
verification; one in progress reaches it later.
"""

from datetime import datetime
from pathlib import Path

from forge_bot.engine.external_events import CONFLICTS, verification
from forge_bot.engine.reports import BaseConflicted, RetryAsked
from forge_bot.errors import CannotUpdate, UpToDate
from forge_bot.git import blob_id
from forge_bot.git.commit_history import commit_at
from forge_bot.git.diff import has_markers
from forge_bot.git.refs import REMOTES
from forge_bot.git.remotes import fetch_branch
from forge_bot.git.revisions import HEADS, is_ancestor, ref_target
from forge_bot.prompts import escape
from forge_bot.runs.code_commits import CONFLICT
from forge_bot.runs.publishing.merge_into_run import merge_base_into_run
from forge_bot.runs.publishing.publish_result import target_of
from forge_bot.runs.publishing.pull_request_branch import take_peoples_commits
from forge_bot.runs.run import Run
from forge_bot.text_format import cut
from forge_bot.values import RunStatus

_SHOWN = 5

_LONGEST = 12_000
"""Characters of one file's conflicts in the document about them."""


def fetch_for_update(run: Run) -> None:
    """Fetch the base branch and the branch for merge, if there is a remote. Raises GitFailed."""
    repository, state = run.repository, run.state
    if repository.remote_url() is not None:
        known = set(repository.remote_branches())
        for branch in {state.base_branch, state.pull_request_branch} & known:
            fetch_branch(repository.root, branch)


def update(
    run: Run, *, key: str, at: datetime, by: str, via: str, base: str = ""
) -> RetryAsked | BaseConflicted | None:
    """Merge the known commits of people on the offered branch and the new commits of the base
    branch.

    `base` is another base branch than the run's own, if a person gave the pull request another one.
    Return the report that sends the run back to its verification, or to a task that solves the
    conflicts. Return None if the run has its verification still before it. Approvals and open
    questions stay valid: no document changes. Raises CannotUpdate, or UpToDate where there is
    nothing to merge; the run is as it was then.
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
        merged = merge_base_into_run(run, base, newest, mark=_may_solve(run))
        if merged.conflicts:
            raise _contradicted(run, base, merged.conflicts)
    elif not _in_conflict(run) and (not done or len(commit_at(root, head).parents) == 1):
        raise UpToDate(
            f"The run has all of {base} already.",
            hint="There is nothing to do.",
        )
    if paths := _in_conflict(run):
        name = f"{CONFLICTS}-{state.rounds.get(CONFLICTS, 0) + 1}.md"
        blob = blob_id(run.workspace.write(name, _document(run, base, paths)))
        return BaseConflicted(
            key=key, at=at, artifact=name, blob=blob, base=base, paths=paths, by=by, via=via
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


def _may_solve(run: Run) -> bool:
    """Return whether a task of the run can solve conflicts: its tasks have begun, and no question
    is open.
    """
    pipeline, state = run.pipeline, run.state
    return (
        pipeline.steps is None
        and state.gate is None
        and bool(state.tasks)
        and pipeline.position(state.current_phase) >= pipeline.position(pipeline.implementation.id)
    )


def _in_conflict(run: Run) -> tuple[str, ...]:
    """Return the files of the newest commit that hold both sides of a conflict."""
    trailers = commit_at(run.repository.root, run.tree.commit_id()).trailers
    paths = [path for key, path in trailers if key == CONFLICT]
    there = run.repository.read_many(run.ref, paths)
    return tuple(path for path in paths if has_markers(there.get(path, b"")))


def _document(run: Run, base: str, paths: tuple[str, ...]) -> str:
    """Return the document for the task: the places that both sides changed, by file."""
    there = run.repository.read_many(run.ref, paths)
    parts = [
        f"# Conflicts with {escape.plain(base)}",
        (
            f"{escape.plain(base)} and this run changed the same lines. Each file holds both"
            " versions between the lines that begin with `<<<<<<<` and `>>>>>>>`; behind"
            " `|||||||` stands what was there before. What both sides wanted has to hold."
        ),
    ]
    for path in paths:
        shown = cut(_hunks(there[path].decode("utf-8", "replace")), _LONGEST)
        parts.append(f"## {escape.code(path)}\n\n{escape.fenced(shown, 'text')}")
    return "\n\n".join(parts) + "\n"


def _hunks(text: str) -> str:
    """Return the lines from each first marker to its last one."""
    marked_lines, inside = list[str](), False
    for line in text.splitlines():
        inside = inside or line.startswith("<<<<<<< ")
        if inside:
            marked_lines.append(line)
        inside = inside and not line.startswith(">>>>>>> ")
    return "\n".join(marked_lines)


def _contradicted(run: Run, base: str, conflicts: tuple[str, ...]) -> CannotUpdate:
    state = run.state
    branch = state.pull_request_branch or state.branch
    more = f" and {len(conflicts) - _SHOWN} more" if len(conflicts) > _SHOWN else ""
    away = run.repository.remote_url() is not None
    return CannotUpdate(
        "{base} and the run changed the same lines of {conflicts}{more}.".format(
            base=base, conflicts=", ".join(conflicts[:_SHOWN]), more=more
        ),
        hint=(
            (
                "Nothing was merged. Merge {base} into {branch} by hand (git switch {branch} "
                "&& git merge {remote}{base}), solve it and commit{and_push}. Then update "
                "again: the run takes your commits and verifies them."
            ).format(
                base=base,
                branch=branch,
                remote="origin/" if away else "",
                and_push=" and push; “Resolve conflicts” on the pull request does the same"
                if away
                else "",
            )
        ),
    )
