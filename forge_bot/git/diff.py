"""Differences between two commits, as text or as names, and merges of two versions of a file."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from forge_bot.errors import GitFailed
from forge_bot.git.files_at import differences
from forge_bot.git.process import git
from forge_bot.git.revisions import commit_id, is_shallow, tree_id
from forge_bot.sentences import say

# `diff-tree` and not `diff`: it does not read the diff.* settings that change the form of a diff
# (noprefix, external, colour, …).
MAX_DIFF = 200_000

_PLAIN = (
    "diff-tree",
    "-r",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
)


def diff(
    folder: Path,
    base: str,
    other: str = "HEAD",
    paths: Sequence[str] = (),
    *,
    stat: bool = False,
    max_bytes: int = MAX_DIFF,
) -> str:
    """Return the difference between `base` and `other`, as a unified diff or as a table of changed
    lines per file, of at most `max_bytes`; a last line says how much was cut.
    """
    form = "--stat=160,120" if stat else "--patch"
    trees = (tree_id(folder, base), tree_id(folder, other))
    # Into a file: a diff can be larger than the memory that is there.
    with tempfile.TemporaryFile(prefix="forge-bot-") as sink:
        git(folder, *_PLAIN, form, "--find-renames", *trees, "--", *paths, into=sink)
        size = sink.tell() if sink.seek(0, 2) else 0
        sink.seek(0)
        return _cut(sink.read(max_bytes), size)


def changed(folder: Path, base: str, other: str = "HEAD") -> tuple[str, ...]:
    """Return the names of the files that differ; a renamed file has both names."""
    trees = (tree_id(folder, base), tree_id(folder, other))
    return tuple(path for path, _ in differences(folder, *trees))


def patch_bytes(
    folder: Path,
    base: str,
    other: str,
    paths: Sequence[str],
    *,
    env: Mapping[str, str],
    attributes: str,
) -> bytes:
    """Difference of two trees, given as ids, for `git apply`, under the attributes in a file."""
    form = ("--patch", "--binary", "--full-index", "--no-renames")
    settings = ("-c", f"core.attributesFile={attributes}", "-c", "core.quotePath=true")
    return git(folder, *settings, *_PLAIN, *form, base, other, "--", *paths, env=env).out


def merge_base(folder: Path, a: str, b: str) -> str:
    """Id of the best common ancestor. Raises GitFailed when the two have none."""
    answer = git(folder, "merge-base", commit_id(folder, a), commit_id(folder, b), ok=(0, 1))
    if answer.code != 0:
        raise GitFailed(
            f"{a} and {b} have no common ancestor.",
            hint=say(
                "git.diff.fetch_old_commits" if is_shallow(folder) else "git.diff.another_history"
            ),
        )
    return answer.line


def _cut(head: bytes, size: int) -> str:
    if len(head) == size:
        return head.decode(errors="replace")
    whole = head[: head.rfind(b"\n") + 1] or head
    text = whole.decode(errors="replace")
    gap = "" if text.endswith("\n") or not text else "\n"
    return f"{text}{gap}[cut here: {len(whole)} of {size} bytes are shown]\n"


# git-merge-file(1): the exit code is the number of conflicts, at most 127; above that it is an
# error (a binary file).
_MERGED = range(256)


class MergeConflict(Exception):
    """Both sides changed the same lines, or one deleted what the other changed."""


def merge(
    folder: Path, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> bytes | None:
    """Return the file with the changes of both sides; None, here and in the arguments, is no file.
    Raises MergeConflict.
    """
    if theirs in {base, ours}:
        return ours
    if ours == base:
        return theirs
    if base is None or ours is None or theirs is None:
        raise MergeConflict
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as name:
        places = [Path(name) / side for side in ("ours", "base", "theirs")]
        for place, data in zip(places, (ours, base, theirs), strict=True):
            place.write_bytes(data)
        words = ("merge-file", "--stdout", "--quiet", *map(str, places))
        answer = git(folder, *words, ok=_MERGED)
    if answer.code != 0:
        raise MergeConflict
    return answer.out
