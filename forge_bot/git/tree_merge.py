"""Two commits become one tree, without a work tree: what both did since a commit that both have."""

import re
from dataclasses import dataclass
from pathlib import Path

from forge_bot.errors import GitMissing
from forge_bot.git.commit_history import FileVersion
from forge_bot.git.commit_objects import OURS, make_commit
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import tree_id
from forge_bot.git.tree_entries import differences

_CONFLICTS, _USAGE = 1, 129
_MOVED = re.compile(r"~[0-9a-f]{40,64}$")


def changed_files(root: Path, base: str, tip: str) -> dict[str, FileVersion]:
    """Return the files in which two commits or trees differ, as the second one has them."""
    rows = differences(root, tree_id(root, base), tree_id(root, tip))
    return {path: FileVersion(path, entry.mode, entry.oid) for path, entry in rows}


@dataclass(frozen=True, slots=True)
class MergedTrees:
    """A tree with the changes of both sides, and the paths that cannot have both."""

    tree: str
    conflicts: tuple[str, ...]


def merge_trees(root: Path, base: str, ours: str, theirs: str) -> MergedTrees:
    """Merge what two commits did since `base`. Raises GitFailed, GitMissing before git 2.38."""
    sides = (ours, theirs)
    if git(root, "merge-base", *sides, ok=(0, 1)).line != base:
        # Git merges from the newest commit that both have, so each side becomes one after `base`.
        trees = [tree_id(root, side) for side in sides]
        sides = tuple(make_commit(root, tree, (base,), "A side", (), OURS) for tree in trees)
    words = ("merge-tree", "--write-tree", "--no-messages", "-z", *sides)
    answer = git(root, *words, ok=(0, _CONFLICTS, _USAGE), seconds=LONG)
    if answer.code == _USAGE:
        raise GitMissing("Merging other people's commits into a run needs git 2.38 or newer.")
    # Of each file in conflict one row a version: `<mode> <oid> <stage>\t<path>`. A file where the
    # other side has a folder stands under another name.
    tree, *rows = answer.names
    paths = dict.fromkeys(_MOVED.sub("", row.partition("\t")[2]) for row in rows)
    return MergedTrees(tree, tuple(paths))
