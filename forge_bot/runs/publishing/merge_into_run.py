"""Merges of other people's commits into a run, from the offered branch and from the base. The run's
record is left unchanged.
"""

from typing import NamedTuple

from forge_bot.git.commit_history import commit_at
from forge_bot.git.commit_objects import make_commit
from forge_bot.git.tree_merge import MergedTrees, changed_files, merge_trees
from forge_bot.runs.code_commits import BASE, PEOPLE, RUN
from forge_bot.runs.run import Run
from forge_bot.store import SPECS


def newest_base(run: Run) -> str:
    """Return the newest commit of the base branch that the run has: commits from there are no
    change of the run.
    """
    first = run.state.base_commit
    merged = (dict(commit.trailers).get(BASE) for commit in run.tree.commits(first))
    return next(filter(None, merged), first)


class RunMerge(NamedTuple):
    """A commit after the run's newest one, which no branch has yet; the same one where there are
    conflicts.
    """

    commit: str
    trees: MergedTrees


def merge_of_people(run: Run, branch: str, head: str, theirs: str) -> RunMerge:
    """Make the commit that merges what people added to the code branch. Raises GitFailed."""
    return _merge(run, head, theirs, f"Merge what people added to {branch}", ((PEOPLE, branch),))


def merge_base_into_run(run: Run, base: str, newest: str) -> MergedTrees:
    """Merge the newest commit of the base branch into the run. Where there are conflicts, nothing
    was merged. Raises GitFailed.
    """
    head, trailers = run.tree.commit_id(), ((BASE, newest),)
    merge = _merge(run, head, newest, f"Merge {base} into the run", trailers)
    if merge.commit != head:
        run.move_forward(merge.commit)
    return merge.trees


def _merge(
    run: Run,
    head: str,
    theirs: str,
    subject: str,
    trailers: tuple[tuple[str, str], ...],
) -> RunMerge:
    root = run.repository.root
    since = run.tree.merge_base(head, theirs)
    record = f"{SPECS}/{run.name}/"
    forbidden = [path for path in changed_files(root, since, theirs) if path.startswith(record)]
    merged = merge_trees(root, since, head, theirs)
    if merged.conflicts or forbidden:
        return RunMerge(head, MergedTrees(merged.tree, (*merged.conflicts, *forbidden)))
    all_trailers = ((RUN, run.name), *trailers)
    signature = commit_at(root, head).signature
    made = make_commit(root, merged.tree, (head, theirs), subject, all_trailers, signature)
    return RunMerge(made, merged)
