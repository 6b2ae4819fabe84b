"""Commits with their authors, messages and changed files; the lines that one added and later ones
changed; files and lines that hold a word; differences between two commits, and merges of two
versions of a file.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from forge_bot.git.commits import Trailers, read_trailers
from forge_bot.git.files_at import FileVersion, differences
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import commit_id, tree_id

_FORM = "%x02%H%n%P%n%an%n%ae%n%ad%n%cn%n%ce%n%cd%n%B"
_MARK = "\x02"

_COMMITS = 400
"""A commit with more files than this says little about which belong together."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The author and time of a commit, as git's environment variables name them."""

    author: tuple[str, str, str]
    committer: tuple[str, str, str]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make git use exactly these names and times."""
        parts = ("NAME", "EMAIL", "DATE")
        return {
            f"GIT_{role}_{part}": value
            for role, values in (("AUTHOR", self.author), ("COMMITTER", self.committer))
            for part, value in zip(parts, values, strict=True)
        }


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """A commit with the files in which it differs from its first parent."""

    id: str
    parents: tuple[str, ...]
    signature: Signature
    message: str
    files: tuple[FileVersion, ...] = field(repr=False)

    @property
    def trailers(self) -> Trailers:
        """The trailers of its message."""
        return read_trailers(self.message)

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.strip().partition("\n")[0]


def first_parents(root: Path, base: str | None, tip: str) -> tuple[CommitInfo, ...]:
    """Return the commits from `base`, which is left out, to `tip`, oldest first, along the first
    parents; without a base, all. Raises GitFailed.
    """
    options = ("-z", "--raw", "--no-abbrev", "--no-renames", "-m", "--first-parent", "--reverse")
    plain = ("--no-color", "--no-notes", "--encoding=UTF-8", "--date=raw", f"--format={_FORM}")
    limits = ("--end-of-options", tip, *(() if base is None else (f"^{base}",)))
    settings = ("-c", "log.showSignature=false", "-c", "diff.ignoreSubmodules=none")
    answer = git(root, *settings, "log", *options, *plain, *limits, "--", seconds=LONG)
    return tuple(_commits(answer.out.decode(errors="surrogateescape").split("\0")))


def _commits(fields: Sequence[str]) -> Iterator[CommitInfo]:
    """Read what `git log -z --raw` prints: each commit, then `:modes ids status` and a path for
    each file.
    """
    head, files = "", list[FileVersion]()
    tokens = iter(fields)
    for token in tokens:
        text = token.lstrip("\n")
        if text.startswith(":"):
            _, mode, _, oid, _ = text.split(" ")
            files.append(FileVersion(next(tokens), mode, oid))
        elif text.startswith(_MARK):
            if head:
                yield _commit(head, files)
            head, files = text, []
    if head:
        yield _commit(head, files)


def _commit(head: str, files: Iterable[FileVersion]) -> CommitInfo:
    oid, parents, *names, message = head.removeprefix(_MARK).split("\n", 8)
    return CommitInfo(
        id=oid,
        parents=tuple(parents.split()),
        signature=Signature(_who(names[:3]), _who(names[3:])),
        message=message,
        files=tuple(files),
    )


def _who(parts: Sequence[str]) -> tuple[str, str, str]:
    name, address, date = parts
    return name or "forge-bot", address, f"@{date}"


def commit_at(root: Path, commit: str) -> CommitInfo:
    """Return one commit that has a parent. Raises GitFailed."""
    return first_parents(root, f"{commit}^", commit)[-1]


@lru_cache(maxsize=8)
def last_subjects(root: Path, commit: str, most: int) -> tuple[str, ...]:
    """Return the first lines of the messages of the newest commits up to one, without merges.

    `commit` is a full id, so the answer never changes.
    """
    options = ("--no-merges", "--format=%s", f"--max-count={most}", "--encoding=UTF-8")
    listed = git(root, "log", *options, commit, "--", ".", seconds=LONG).line
    return tuple(line for line in listed.split("\n") if line)


def files_of_newest(root: Path, commit: str, most: int) -> list[list[str]]:
    """Return the files that each of the newest commits up to one changes, without merges."""
    options = ("--no-merges", "--no-renames", "--name-only", "-z", f"--max-count={most}")
    names = git(root, "log", *options, "--format=%x01", commit, "--", ".", seconds=LONG).names
    parts = "\0".join(names).split("\x01")[1:]
    return [[name for name in part.lstrip("\0\n").split("\0") if name] for part in parts]


def commits_between(root: Path, base: str, tip: str) -> frozenset[str]:
    """Return the ids of a commit and its ancestors without those of another one."""
    return frozenset(git(root, "rev-list", tip, f"^{base}", "--", seconds=LONG).line.split())


def holding(folder: Path, commit: str, words: Sequence[str]) -> Mapping[str, int]:
    """Return for each file how many of the words it contains; case does not matter."""
    counts: Counter[str] = Counter()
    tree = tree_id(folder, commit)
    for word in words:
        answer = git(
            folder, "grep", "-l", "-z", "-I", "-i", "-F", "-e", word, tree, "--", ok=(0, 1)
        )
        counts.update(name.partition(":")[2] for name in answer.names)
    return counts


def lines_with(folder: Path, commit: str, names: Sequence[str]) -> list[tuple[str, int, str]]:
    """Return the lines with one of some whole words: (path, number, text), in tree order."""
    if not names:
        return []
    wanted = [word for name in names for word in ("-e", name)]
    tree = tree_id(folder, commit)
    answer = git(folder, "grep", "-n", "-z", "-I", "-w", "-F", *wanted, tree, "--", ok=(0, 1))
    lines: list[tuple[str, int, str]] = []
    for line in answer.out.decode("utf-8", "replace").split("\n"):
        place, _, rest = line.partition("\0")
        number, _, text = rest.partition("\0")
        if number.isdigit():
            lines.append((place.partition(":")[2], int(number), text))
    return lines


def last_commit_before(folder: Path, ref: str, time: str) -> str:
    """Return the newest commit of a branch at a time; empty without one."""
    words = ("rev-list", "-1", "--first-parent", f"--before={time}", ref, "--")
    return git(folder, *words).line


def lines_touched(folder: Path, commit: str, later: str) -> tuple[int, int]:
    """Return how many lines a commit added to its first parent, and how many of these a later
    commit no longer has as they were. Raises GitFailed.
    """
    before = commit_id(folder, f"{commit}^1")
    own = commits_between(folder, before, commit_id(folder, commit))
    numbers = ("-r", "-z", "--numstat", "--no-renames", "--ignore-submodules")
    added = kept = 0
    for row in git(folder, "diff-tree", *numbers, before, commit, seconds=LONG).names:
        count, _, path = row.split("\t", 2)
        added += int(count) if count.isdigit() else 0
        # Git refuses a file that is not there any more.
        words = ("blame", "-l", "-s", f"{before}..{later}", "--", path)
        blamed = git(folder, *words, ok=(0, 128), seconds=LONG).out.decode("utf-8", "replace")
        kept += sum(line.partition(" ")[0] in own for line in blamed.split("\n"))
    return added, added - kept


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
    whole = git(folder, *_PLAIN, form, "--find-renames", *trees, "--", *paths).out
    return _cut(whole[:max_bytes], len(whole))


def changed(folder: Path, base: str, other: str = "HEAD") -> tuple[str, ...]:
    """Return the names of the files that differ; a renamed file has both names."""
    return tuple(file.path for file in differences(folder, base, other))


def patch_bytes(folder: Path, base: str, other: str, *, attributes: str) -> bytes:
    """Return the difference of two trees, given as ids, for `git apply`, under the attributes in a
    file.
    """
    form = ("--patch", "--binary", "--full-index", "--no-renames")
    settings = ("-c", f"core.attributesFile={attributes}", "-c", "core.quotePath=true")
    return git(folder, *settings, *_PLAIN, *form, base, other).out


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
