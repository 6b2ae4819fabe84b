"""Three trees become one, without a work tree: what two sides did since a commit that both have."""

from pathlib import Path

from forge_bot.git.commit_objects import FileVersion, tree_with
from forge_bot.git.diff import MergeConflict, merge
from forge_bot.git.files_at import objects, read_blob
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import tree_id
from forge_bot.git.tree_listing import GONE, differences

_PLAIN = frozenset({"100644", "100755"})

Versions = dict[str, FileVersion]


def changed_files(root: Path, base: str, tip: str) -> Versions:
    """Return the files in which two commits or trees differ, as the second one has them."""
    found = differences(root, tree_id(root, base), tree_id(root, tip))
    return {path: FileVersion(path, entry.mode, entry.oid) for path, entry in found}


def merge_trees(root: Path, base: str, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Return the id of our tree with their changes since `base`, and the paths on which the two
    sides do not agree. Those stay as they are in ours.
    """
    mine, added = changed_files(root, base, ours), changed_files(root, base, theirs)
    before = objects(root, base, tuple(mine.keys() & added.keys()))
    there = {path for path, own in mine.items() if own.mode != GONE}
    taken, conflicts = list[FileVersion](), list[str]()
    for path, version in added.items():
        own = mine.get(path)
        if _in_the_way(path, version, there):
            conflicts.append(path)
        elif own is None:
            taken.append(version)
        elif own != version:
            old = FileVersion(path, *before.get(path, f"{GONE} ").split(" ", 1))
            try:
                taken.append(_merged(root, old, own, version))
            except MergeConflict:
                conflicts.append(path)
    return tree_with(root, tree_id(root, ours), taken), tuple(conflicts)


def _in_the_way(path: str, version: FileVersion, there: set[str]) -> bool:
    """Return whether one side has a file where the other has a folder."""
    folders = [path[:place] for place, sign in enumerate(path) if sign == "/"]
    return version.mode != GONE and (
        not there.isdisjoint(folders) or any(each.startswith(f"{path}/") for each in there)
    )


def _merged(root: Path, old: FileVersion, ours: FileVersion, theirs: FileVersion) -> FileVersion:
    """Return a file with the changes of both sides. Raises MergeConflict."""
    if not {old.mode, ours.mode, theirs.mode} <= _PLAIN:
        raise MergeConflict
    texts = [read_blob(root, each.oid) for each in (old, ours, theirs)]
    data = merge(root, *texts) or b""
    oid = git(root, "hash-object", "-w", "--stdin", "--no-filters", stdin=data, seconds=LONG).line
    return FileVersion(ours.path, ours.mode if theirs.mode == old.mode else theirs.mode, oid)
