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

_TRIES = 2


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


def keep_record(repository: Repository, run: str, head: str, landed: str, *, push: bool) -> str:
    """Store the record of a run that ended at `head`, and push it if wanted. Return why that
    failed, or "": the record is on the run's branch anyway.

    `landed` is the newest commit that the run offers for merge, or empty.
    """
    trouble = ""
    try:
        for _ in range(_TRIES):
            _store(repository, run, head, landed)
            if not push:
                return ""
            try:
                remotes.push_ended(repository.root, run)
            except PushRefused as error:
                trouble = error.message
                if error.why is not PushRefusal.BEHIND:
                    return trouble
                # The run was gone on with on another machine too.
                remotes.fetch_ended(repository.root)
            else:
                return ""
    except GitFailed as error:
        return error.message
    return trouble


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


def _store(repository: Repository, run: str, head: str, landed: str) -> None:
    """Point the ref of a run at a commit that has all of these commits."""
    root, ref = repository.root, f"{ENDED}{run}"
    known = [ref_target(root, name) for name in (ref, f"{ENDED_AT_ORIGIN}{run}")]
    needed = dict.fromkeys(filter(None, (head, landed, *known)))
    for tip in filter(None, known):
        if all(is_ancestor(root, commit, tip) for commit in needed):
            point(root, ref, tip)
            return
    signature = commit_at(root, head).signature
    words = (f"The record of {run}", (("Forge-Record", run),), signature)
    tree = repository.tree_id(head)
    point(root, ref, make_commit(root, tree, tuple(needed), *words))
