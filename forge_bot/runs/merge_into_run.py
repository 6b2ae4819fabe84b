"""Merges of other people's commits into a run: what they added to the branch that is offered, and
what came to its base. The run's record is left as it is.
"""

from forge_bot.git.commit_objects import commit_at, make_commit
from forge_bot.git.tree_merge import changed_files, merge_trees
from forge_bot.runs.code_commits import RUN
from forge_bot.runs.run import Run
from forge_bot.store import SPECS


def merge_into_run(run: Run, theirs: str, since: str, subject: str) -> tuple[str, ...]:
    """Merge a commit into the run, with all that was done there since a commit that both have.

    Return the paths that both sides changed differently; then nothing was merged. Raises GitFailed.
    """
    root, head = run.repository.root, run.tree.commit_id()
    record = f"{SPECS}/{run.name}/"
    forbidden = [path for path in changed_files(root, since, theirs) if path.startswith(record)]
    tree, conflicts = merge_trees(root, since, head, theirs)
    if conflicts or forbidden:
        return (*conflicts, *forbidden)
    signature = commit_at(root, head).signature
    merged = make_commit(root, tree, (head, theirs), subject, ((RUN, run.name),), signature)
    run.move_forward(merged)
    return ()
