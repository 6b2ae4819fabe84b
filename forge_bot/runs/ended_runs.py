"""The records of ended runs, each on a ref of its own, which is no branch.

The commit there has the run's last commit as its first parent and the last one for merge as the
second. So nothing that a link or an approval names is lost when branches are deleted.
"""

from contextlib import suppress

from forge_bot.errors import GitFailed, PushRefusal, PushRefused
from forge_bot.git import Repository, remotes
from forge_bot.git.commit_history import commit_at
from forge_bot.git.commit_objects import delete_branch, make_commit, point
from forge_bot.git.revisions import ENDED, ENDED_AT_ORIGIN, HEADS, REMOTES, is_ancestor, ref_target
from forge_bot.values import Frozen

_TRIES = 2


class KeptRecord(Frozen):
    """The ref that has the record of a run; empty where it stays on the run's branch only."""

    ref: str = ""
    trouble: str = ""
    """Why there is no such ref, or why the remote does not have it."""


def fetch_ended(repository: Repository) -> bool:
    """Learn which ended runs the remote has. Return whether it could be asked."""
    if repository.remote_url() is None:
        return True
    try:
        remotes.fetch_ended(repository.root)
    except GitFailed:
        return False
    return True


def last_commit(repository: Repository, ref: str) -> str:
    """Return the last commit of the run whose record a ref has. Raises GitFailed."""
    return repository.commit_id(f"{ref}^1")


def is_kept(repository: Repository, run: str, head: str, *, at_origin: bool = False) -> bool:
    """Return whether the record of a run is kept with all of its commits, here or at the remote."""
    tip = ref_target(repository.root, f"{ENDED_AT_ORIGIN if at_origin else ENDED}{run}")
    return tip is not None and is_ancestor(repository.root, head, tip)


def keep_record(
    repository: Repository, run: str, head: str, landed: str, *, push: bool
) -> KeptRecord:
    """Store the record of a run that ended at `head`, and push it if wanted.

    `landed` is the newest commit that the run offers for merge, or empty. A failure is reported and
    does not stop anything: the record is on the run's branch anyway.
    """
    kept = KeptRecord()
    try:
        for _ in range(_TRIES):
            kept = KeptRecord(ref=_stored(repository, run, head, landed))
            if not push:
                return kept
            try:
                remotes.push_ended(repository.root, run)
            except PushRefused as error:
                kept = kept.replace(trouble=error.message)
                if error.why is not PushRefusal.BEHIND:
                    return kept
                # The run was gone on with on another machine too.
                remotes.fetch_ended(repository.root)
            else:
                return kept
    except GitFailed as error:
        return kept.replace(trouble=error.message)
    return kept


def remove_branch(repository: Repository, run: str, branch: str) -> None:
    """Remove a branch of an ended run here, if its record is kept with all commits of the branch,
    and at the remote, if that says that it has them too.
    """
    root = repository.root
    tip = ref_target(root, f"{HEADS}{branch}")
    if tip is not None and is_kept(repository, run, tip):
        delete_branch(root, branch, tip)
    tip = ref_target(root, f"{REMOTES}{remotes.ORIGIN}/{branch}")
    if tip is not None:
        fetch_ended(repository)
        if is_kept(repository, run, tip, at_origin=True):
            with suppress(GitFailed):
                remotes.delete_at_origin(root, branch, tip)


def _stored(repository: Repository, run: str, head: str, landed: str) -> str:
    """Point the ref of a run at a commit that has all of these commits; return the ref."""
    root, ref = repository.root, f"{ENDED}{run}"
    known = [ref_target(root, name) for name in (ref, f"{ENDED_AT_ORIGIN}{run}")]
    needed = dict.fromkeys(filter(None, (head, landed, *known)))
    for tip in filter(None, known):
        if all(is_ancestor(root, commit, tip) for commit in needed):
            point(root, ref, tip)
            return ref
    signature = commit_at(root, head).signature
    words = (f"The record of {run}", (("Forge-Record", run),), signature)
    tree = repository.tree_id(head)
    point(root, ref, make_commit(root, tree, tuple(needed), *words))
    return ref
