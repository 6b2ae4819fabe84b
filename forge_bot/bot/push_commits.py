"""Push commits of ours by their ids, and nothing that came after them."""

from collections.abc import Generator
from contextlib import contextmanager, suppress

from forge_bot.errors import BranchMoved, GitFailed, PushRefusal, PushRefused
from forge_bot.git import Repository, Tree
from forge_bot.runs.branch_for_merge import Offer, push_run
from forge_bot.runs.ended_runs import is_kept
from forge_bot.runs.run import Run


def push(tree: Tree, commit: str) -> None:
    """Push one commit and its ancestors to the branch, never by force.

    The local branch may have moved on since the commit was made; later commits are not pushed.
    Raises BranchMoved where somebody else was faster, GitFailed for all else.
    """
    with _behind():
        tree.push(commit=commit)


class BranchPusher:
    """Pushes the commits of one job, and remembers whether there were any."""

    def __init__(self) -> None:
        self.changed = False

    def push(self, tree: Tree, commit: str) -> None:
        """Push one commit and its ancestors to the branch: what `push` says."""
        self.changed = True
        push(tree, commit)

    def keep(self, run: Run, before: str) -> None:
        """Push all recorded reports; `before` is the commit at which the run was opened."""
        run.keep()
        head = run.tree.head().commit
        # A branch that people deleted comes back only with something new.
        kept = is_kept(run.repository, run.name, head, at_origin=True)
        if head != before or (run.tree.unpushed() and not kept):
            self.push(run.tree, head)


def push_offer(run: Run, offered: Offer) -> None:
    """Push the run's branch and the one that it offers for merge, both or none, by their commits.

    Raises BranchMoved where somebody else was faster, GitFailed for all else.
    """
    with _behind():
        push_run(run, offered)


@contextmanager
def _behind() -> Generator[None]:
    try:
        yield
    except PushRefused as error:
        if error.why is PushRefusal.BEHIND:
            raise BranchMoved(error.message) from error
        raise


def known_tip(repository: Repository, branch: str) -> str:
    """The newest commit of a branch that the remote has, as far as is known here; before its first
    push the one that is about to go out.
    """
    for ref in (f"refs/remotes/origin/{branch}", f"refs/heads/{branch}"):
        with suppress(GitFailed):
            return repository.commit_id(ref)
    return ""


def refuse_unseen(repository: Repository, branch: str) -> None:
    """Raise BranchMoved if there are local commits that the remote does not have: a worker may
    have made them.

    A branch that the remote does not know at all has only been begun, and no worker has seen it.
    """
    tree = repository.tree_of(branch)
    if tree is not None and branch in repository.remote_branches() and tree.unpushed():
        raise BranchMoved(
            f"Commits of {branch} were found here that nobody looked at; they are put aside."
        )
