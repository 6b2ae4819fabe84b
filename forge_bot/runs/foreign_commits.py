"""Commits on a run's branch that no process of this clone made. Whether they may stay depends on
whose turn it was.
"""

from forge_bot.engine import Action, Checkpoint, Done, HumanGate
from forge_bot.errors import ForeignCommits
from forge_bot.git import Repository, Tree
from forge_bot.sentences import say
from forge_bot.store import SPECS
from forge_bot.store.run_folder import REPORTS, STATE

_SHORT = 12
_SHOWN = 10


def check_foreign_commits(
    repository: Repository, tree: Tree, run: str, action: Action, before: str
) -> tuple[str, ...]:
    """Return notices about commits that came since the branch was left at `before`. Raises
    ForeignCommits where they may not stay.

    What a remote has too, and has taken the run further, the run did on another machine. Where a
    person is asked to do something, they may commit it, and at a checkpoint they may edit
    documents. While an agent is at work, nobody commits.
    """
    here = tree.head()
    onwards = repository.contains(here.commit, before)
    public = repository.at_a_remote(here.branch, here.commit)
    if public and _went_on(repository, run, before, here.commit):
        return ()
    if isinstance(action, Checkpoint) and onwards:
        changed = tree.changed(before, here.commit)
        if all(
            path.startswith(f"{SPECS}/{run}/") and not path.endswith((f"/{REPORTS}", f"/{STATE}"))
            for path in changed
        ):
            return ()
    if isinstance(action, Done | HumanGate) or (
        isinstance(action, Checkpoint) and onwards and public
    ):
        return (
            (say("runs.foreign_commits.on_its_branch_now", named=_named(tree, before)),)
            if onwards
            else ()
        )
    raise _refused(repository, tree, before, here.commit, onwards=onwards)


def _went_on(repository: Repository, run: str, before: str, now: str) -> bool:
    """Return whether the record has more reports now."""
    path = f"{SPECS}/{run}/{REPORTS}"
    # What was rewritten may be gone for good; a commit contains itself as long as it is there.
    old = repository.read(before, path) if repository.contains(before, before) else None
    new = repository.read(now, path)
    return old is not None and new is not None and new != old and new.startswith(old)


def _named(tree: Tree, before: str) -> str:
    return ", ".join(
        f"{commit.id[:7]} {commit.subject}" for commit in tree.commits(before)[:_SHOWN]
    )


def _refused(
    repository: Repository, tree: Tree, before: str, now: str, *, onwards: bool
) -> ForeignCommits:
    was = before[:_SHORT]
    if onwards:
        return ForeignCommits(
            say("runs.foreign_commits.foreign_commits", named=_named(tree, before)),
            hint=(say("runs.foreign_commits.reset_keeping_their_changes", was=was)),
        )
    if repository.contains(before, now):
        back = say("runs.foreign_commits.merge_and_call_again", was=was)
        return ForeignCommits(
            say("runs.foreign_commits.branch_taken_back", was=was, now=now[:_SHORT]), hint=back
        )
    return ForeignCommits(
        say("runs.foreign_commits.branch_rewritten", was=was),
        hint=(say("runs.foreign_commits.reset_and_report", was=was)),
    )
