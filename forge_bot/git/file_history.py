"""Files that changed together, and files and lines that hold a word, at a commit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from forge_bot.git.process import git
from forge_bot.git.revisions import tree_id

_COMMITS = 400
_LARGE_COMMIT = 12
"""A commit with more files than this says little about which belong together."""


@lru_cache(maxsize=4)
def changed_together(folder: Path, commit: str) -> Mapping[str, Mapping[str, int]]:
    """Return for each file how often recent commits changed which others with it.

    `commit` is a full id, so the answer never changes.
    """
    said = git(
        folder, "log", f"--max-count={_COMMITS}", "--no-merges", "--name-only", "--no-renames",
        "--format=%x01", "-z", commit, "--",
    )  # fmt: skip
    together: dict[str, Counter[str]] = {}
    for part in said.out.decode("utf-8", "surrogateescape").split("\x01"):
        names = [name.strip("\n") for name in part.split("\0") if name.strip("\n")]
        if len(names) <= _LARGE_COMMIT:
            for name in names:
                together.setdefault(name, Counter()).update(
                    other for other in names if other != name
                )
    return together


def holding(folder: Path, commit: str, words: Sequence[str]) -> Mapping[str, int]:
    """Return for each file how many of the words it contains; case does not matter."""
    found: Counter[str] = Counter()
    tree = tree_id(folder, commit)
    for word in words:
        said = git(folder, "grep", "-l", "-z", "-I", "-i", "-F", "-e", word, tree, "--", ok=(0, 1))
        found.update(name.partition(":")[2] for name in said.names)
    return found


def lines_with(folder: Path, commit: str, names: Sequence[str]) -> list[tuple[str, int, str]]:
    """Return the lines that hold one of some whole words, as (path, line number, text), in tree
    order.
    """
    if not names:
        return []
    wanted = [word for name in names for word in ("-e", name)]
    tree = tree_id(folder, commit)
    said = git(folder, "grep", "-n", "-z", "-I", "-w", "-F", *wanted, tree, "--", ok=(0, 1))
    found: list[tuple[str, int, str]] = []
    for line in said.out.decode("utf-8", "replace").split("\n"):
        place, _, rest = line.partition("\0")
        number, _, text = rest.partition("\0")
        if number.isdigit():
            found.append((place.partition(":")[2], int(number), text))
    return found
