"""Merges of other people's commits into a run, from the offered branch and from the base. The run's
record is left unchanged.
"""

from forge_bot.git.commit_history import commit_at
from forge_bot.git.commit_objects import make_commit
from forge_bot.git.tree_merge import MergedTrees, changed_files, merge_trees
from forge_bot.runs.code_commits import BASE, CONFLICT, PEOPLE, RUN
from forge_bot.runs.run import Run
from forge_bot.store import SPECS


def newest_base(run: Run) -> str:
    """Return the newest commit of the base branch that the run has: commits from there are no
    change of the run.
    """
    first = run.state.base_commit
    merged = (dict(commit.trailers).get(BASE) for commit in run.tree.commits(first))
    return next(filter(None, merged), first)


def merge_people_into_run(run: Run, branch: str, theirs: str) -> tuple[str, ...]:
    """Merge what people added to the code branch into the run.

    Return the paths that both sides changed differently; then nothing was merged. Raises GitFailed.
    """
    subject = f"Merge what people added to {branch}"
    return _merged(run, theirs, subject, ((PEOPLE, branch),)).conflicts


def merge_base_into_run(run: Run, base: str, newest: str, *, mark: bool) -> MergedTrees:
    """Merge the newest commit of the base branch into the run. With `mark`, text that both sides
    changed differently is merged with both versions between markers.

    Where there are conflicts, nothing was merged. Raises GitFailed.
    """
    return _merged(run, newest, f"Merge {base} into the run", ((BASE, newest),), mark=mark)


def _merged(
    run: Run,
    theirs: str,
    subject: str,
    trailers: tuple[tuple[str, str], ...],
    *,
    mark: bool = False,
) -> MergedTrees:
    root, head = run.repository.root, run.tree.commit_id()
    since = run.tree.merge_base(head, theirs)
    record = f"{SPECS}/{run.name}/"
    forbidden = [path for path in changed_files(root, since, theirs) if path.startswith(record)]
    merged = merge_trees(root, since, head, theirs, mark=mark)
    # A path that no trailer can hold cannot be found again.
    forbidden += [path for path in merged.marked if " ".join(path.split()) != path]
    if merged.conflicts or forbidden:
        return MergedTrees(merged.tree, (*merged.conflicts, *forbidden))
    all_trailers = ((RUN, run.name), *trailers, *((CONFLICT, path) for path in merged.marked))
    signature = commit_at(root, head).signature
    run.move_forward(
        make_commit(root, merged.tree, (head, theirs), subject, all_trailers, signature)
    )
    return merged
