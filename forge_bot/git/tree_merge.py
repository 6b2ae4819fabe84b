"""Three trees become one, without a work tree: what two sides did since a commit that both have."""

from dataclasses import dataclass
from pathlib import Path

from forge_bot.git.commit_history import FileVersion
from forge_bot.git.commit_objects import tree_with
from forge_bot.git.diff import MergeConflict, has_markers, merge, merge_with_markers
from forge_bot.git.files_at import objects, read_blob
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import tree_id
from forge_bot.git.tree_entries import GONE, differences

_PLAIN = frozenset({"100644", "100755"})

Versions = dict[str, FileVersion]


def changed_files(root: Path, base: str, tip: str) -> Versions:
    """Return the files in which two commits or trees differ, as the second one has them."""
    found = differences(root, tree_id(root, base), tree_id(root, tip))
    return {path: FileVersion(path, entry.mode, entry.oid) for path, entry in found}


@dataclass(frozen=True, slots=True)
class MergedTrees:
    """Our tree with the changes of the other side. `conflicts` are the paths that keep our version,
    `marked` those with both versions between markers.
    """

    tree: str
    conflicts: tuple[str, ...]
    marked: tuple[str, ...] = ()


def merge_trees(
    root: Path, base: str, ours: str, theirs: str, labels: tuple[str, str] | None = None
) -> MergedTrees:
    """Bring what two sides did since `base` together. With `labels`, for ours and theirs, both
    versions of text that they changed differently are kept between markers.
    """
    mine, added = changed_files(root, base, ours), changed_files(root, base, theirs)
    before = objects(root, base, tuple(mine.keys() & added.keys()))
    there = {path for path, own in mine.items() if own.mode != GONE}
    taken, conflicts, marked = list[FileVersion](), list[str](), list[str]()
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
                both = _marked(root, old, own, version, labels) if labels is not None else None
                if both is None:
                    conflicts.append(path)
                else:
                    taken.append(both)
                    marked.append(path)
    tree = tree_with(root, tree_id(root, ours), taken)
    return MergedTrees(tree, tuple(conflicts), tuple(marked))


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
    return _stored(root, old, ours, theirs, merge(root, *texts) or b"")


def _marked(
    root: Path, old: FileVersion, ours: FileVersion, theirs: FileVersion, labels: tuple[str, str]
) -> FileVersion | None:
    """Return a file with both versions between markers; None where it is no text of both sides."""
    if not {ours.mode, theirs.mode} <= _PLAIN or not {old.mode} <= {*_PLAIN, GONE}:
        return None
    before = b"" if old.mode == GONE else read_blob(root, old.oid)
    texts = (before, read_blob(root, ours.oid), read_blob(root, theirs.oid))
    if any(has_markers(text) for text in texts):
        return None
    try:
        return _stored(root, old, ours, theirs, merge_with_markers(root, *texts, labels))
    except MergeConflict:
        return None


def _stored(
    root: Path, old: FileVersion, ours: FileVersion, theirs: FileVersion, data: bytes
) -> FileVersion:
    oid = git(root, "hash-object", "-w", "--stdin", "--no-filters", stdin=data, seconds=LONG).line
    return FileVersion(ours.path, ours.mode if theirs.mode == old.mode else theirs.mode, oid)
