"""The tree of a client's run, whose state when an action was handed out is compared with a
report.
"""

import os
from itertools import takewhile

from pydantic import Field

from forge_bot.engine import Action, Checkpoint, Done, HumanGate, SpawnAgent
from forge_bot.errors import ForeignCommits, OutOfBounds
from forge_bot.git import blob_id
from forge_bot.runs.project_commands.commit_profile import Profile, profile_at
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import RunPaths, read_kept
from forge_bot.store.files import write_whole
from forge_bot.values import Frozen

_FILE = "dispatch.json"
_GONE = ""
_SHOWN = 10
_SHORT = 12
_KEEPS = "keeps the changes; then report again: the run commits by itself."


class Dispatch(Frozen):
    """The state of the tree when an action was handed out for the first time; without an action, a
    clean tree in which a run began on this machine.
    """

    action_id: str = ""
    dirty: dict[str, str] = Field(default={}, description="blobs of changed files, by path")
    outputs: dict[str, str] = Field(default={}, description="blobs of its documents, by name")
    head: str = ""
    refused: int = 0


def list_outputs(action: Action) -> tuple[str, ...]:
    """Return the artifacts that an action asks agents for."""
    if not isinstance(action, SpawnAgent):
        return ()
    tasks = action.parallel_task_ids or ("",)
    return tuple(action.output_file.replace("{task}", task) for task in tasks)


def get_dispatch(run: Run, action: Action) -> Dispatch:
    """Return the tree at the time when this action was handed out; record it now if nobody did
    before.

    If the same action is requested again, earlier changes still count as its changes. On a machine
    where the action was never handed out, everything uncommitted counts.
    """
    known = last_dispatch(run.places)
    if known is not None and known.action_id == action.action_id:
        return known
    fresh = Dispatch(
        action_id=action.action_id,
        dirty=_list_dirty(run) if known is not None else {},
        outputs=(
            {name: _hash_document(run, name) for name in list_outputs(action)}
            if known is not None
            else _hash_committed(run, action)
        ),
        head=run.tree.commit_id(),
    )
    keep_dispatch(run.places, fresh)
    return fresh


def last_dispatch(places: RunPaths) -> Dispatch | None:
    """Return what was noted on this machine when an action was handed out last, if one was."""
    return read_kept(places.home / _FILE, Dispatch)


def keep_dispatch(places: RunPaths, dispatch: Dispatch) -> None:
    """Store it beside the run's journal: it is about this machine's tree, no part of the record."""
    write_whole(places.home / _FILE, dispatch.model_dump_json())


def is_visible(run: Run, dispatch: Dispatch, name: str) -> bool:
    """Return whether an artifact exists and has changed since the action was handed out."""
    blob = _hash_document(run, name)
    return blob != _GONE and blob != dispatch.outputs.get(name, _GONE)


def list_changes(run: Run, dispatch: Dispatch) -> tuple[str, ...]:
    """Return the paths outside the run's folder that changed since the action was handed out."""
    now = _list_dirty(run)
    return tuple(path for path, blob in now.items() if dispatch.dirty.get(path) != blob)


def check_bounds(run: Run, changed: tuple[str, ...]) -> None:
    """Refuse a change of code in a phase that only writes a document."""
    tracked = {change.path for change in run.tree.status() if not change.untracked}
    wrong = [path for path in changed if path in tracked]
    if wrong:
        raise OutOfBounds(
            "This phase writes its document only, but files outside the run's folder were changed.",
            hint=(
                f"git restore --staged --worktree {' '.join(wrong[:_SHOWN])}, or commit what is"
                " yours elsewhere, and report again."
            ),
            details=tuple(wrong[:_SHOWN]),
        )


def _list_dirty(run: Run) -> dict[str, str]:
    changes = [change.path for change in run.tree.status()]
    mine = f"{run.workspace.relative}/"
    return {
        path: _hash_file(run, path)
        for path in changes
        if not path.startswith(mine) and not path.endswith("/")
    }


def _hash_document(run: Run, name: str) -> str:
    raw = run.workspace.read_bytes(name)
    return blob_id(raw) if raw is not None else _GONE


def _hash_file(run: Run, path: str) -> str:
    file = run.tree.path / path
    if file.is_symlink():
        return blob_id(os.fsencode(file.readlink()))
    return blob_id(file.read_bytes()) if file.is_file() else _GONE


def _hash_committed(run: Run, action: Action) -> dict[str, str]:
    read = {
        name: run.repository.read(run.ref, f"{run.workspace.relative}/{name}")
        for name in list_outputs(action)
    }
    return {name: blob_id(raw) if raw is not None else _GONE for name, raw in read.items()}


def read_profile(run: Run) -> Profile:
    """Return the profile of a run's repository at its base commit."""
    state = run.state
    return profile_at(run.repository, state.base_commit, run.config, state.flags.scope)


def check_foreign_commits(run: Run) -> tuple[str, ...]:
    """Return notices about commits that others made on the branch. Raises ForeignCommits where they
    may not stay.

    Where a person is asked to do something, they may commit it, and at a checkpoint they may edit
    documents. While an agent is at work, nobody commits, and nobody rewrites the branch.
    """
    if run.tree.beside:
        _check_beside(run)
    here, last = run.tree.commit_id(), last_dispatch(run.places)
    known = last.head if last is not None else ""
    if known and not run.repository.contains(here, known):
        raise ForeignCommits(
            f"The branch was taken back or rewritten: {known[:_SHORT]} is no longer on it.",
            hint=f"git reset --soft {known[:_SHORT]} {_KEEPS}",
        )
    commits = run.tree.commits(known or run.state.base_commit)
    foreign = tuple(
        takewhile(lambda commit: ("Forge-Run", run.name) not in commit.trailers, commits)
    )
    if not foreign:
        return ()
    names = ", ".join(f"{commit.id[:7]} {commit.subject}" for commit in foreign[:_SHOWN])
    before = run.repository.commit_id(f"{foreign[-1].id}^")
    asked = isinstance(run.action, Checkpoint)
    record = f"{run.workspace.relative}/"
    if asked and all(path.startswith(record) for path in run.tree.changed(before, here)):
        return ()
    published = asked and run.repository.pushed(run.state.branch, here)
    if published or isinstance(run.action, Done | HumanGate):
        return (f"commits that the run did not make are on its branch now: {names}",)
    raise ForeignCommits(
        f"The branch has commits that the run did not make: {names}.",
        hint=f"git reset --soft {before[:_SHORT]} {_KEEPS}",
    )


def _check_beside(run: Run) -> None:
    """Raise ForeignCommits where the branch for merge got commits while an agent is at work."""
    there, so_far = run.repository.head().commit, run.code_so_far()
    if isinstance(run.action, SpawnAgent) and not run.repository.contains(
        run.tree.commit_id(), there
    ):
        raise ForeignCommits(
            f"{so_far.branch} has commits that the run did not make.",
            hint=f"git reset --soft {so_far.tip[:_SHORT]} {_KEEPS}",
        )
