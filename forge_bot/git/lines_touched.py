"""The lines that a commit added, and which of them are changed or gone later."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from forge_bot.git.diff import changed
from forge_bot.git.process import git
from forge_bot.git.revisions import tree_id

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ADDED = ("-r", "--patch", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv")
_PLAIN_NAMES = ("--no-renames", "--src-prefix=", "--dst-prefix=")
_MOST_FILES = 1_000

_Lines = dict[str, set[int]]


def last_commit_before(folder: Path, ref: str, time: str) -> str:
    """Return the newest commit of a branch at a time; empty without one."""
    words = ("rev-list", "-1", "--first-parent", f"--before={time}", ref, "--")
    return git(folder, *words).line


def lines_touched(folder: Path, commit: str, later: str) -> tuple[int, int]:
    """Return how many lines a commit added to its first parent, and how many of these a later
    commit no longer has as they were. Raises GitFailed.
    """
    before = f"{commit}^1"
    paths = changed(folder, before, commit)[:_MOST_FILES]
    added = _lines(folder, before, commit, paths, gone=False)
    gone = _lines(folder, commit, later, paths, gone=True)
    touched = sum(len(lines & gone.get(name, set())) for name, lines in added.items())
    return sum(map(len, added.values())), touched


def _lines(folder: Path, base: str, other: str, paths: Sequence[str], *, gone: bool) -> _Lines:
    """Return the lines of each file that are gone in the other commit, or that it added."""
    if not paths:
        return {}
    trees = (tree_id(folder, base), tree_id(folder, other))
    shown = git(folder, "diff-tree", *_ADDED, *_PLAIN_NAMES, *trees, "--", *paths).out
    lines, name = _Lines(), ""
    rows = iter(shown.decode("utf-8", "replace").split("\n"))
    for row in rows:
        if row.startswith("--- " if gone else "+++ "):
            name = row[4:]
        elif match := _HUNK.match(row):
            old, new = (_span(match, group) for group in (1, 3))
            lines.setdefault(name, set()).update(old if gone else new)
            _skip(rows, len(old) + len(new))
    return lines


def _span(match: re.Match[str], group: int) -> range:
    start, count = int(match[group]), int(match[group + 1] or 1)
    return range(start, start + count)


def _skip(rows: Iterator[str], count: int) -> None:
    """Pass over the changed lines of a hunk, of which one may look like a name."""
    while count:
        count -= not next(rows).startswith("\\")
