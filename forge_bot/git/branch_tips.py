"""All branches of a repository and of its remotes, mostly without a process."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from forge_bot.git.own_files import entries
from forge_bot.git.process import git
from forge_bot.git.remotes import REMOTES, Tracking
from forge_bot.git.revisions import HEADS, is_full_id, own_folders
from forge_bot.git.worktree_list import listed

_FORM = "%(refname)%00%(objectname)%00%(symref)%00"
_WITH_TREES = f"{_FORM}%(worktreepath)%00"
_ORIGIN_HEAD = f"{REMOTES}origin/HEAD"
_LONGEST_REF = 4_096
_PACKED = re.compile(r"^([0-9a-f]{40,64}) (\S+)$", re.MULTILINE)
_BESIDE_PACKED = re.compile(r"^(?:#.*|\^[0-9a-f]{40,64})$", re.MULTILINE)
_PLAIN = re.compile(
    r"refs(?:/(?![.])(?:(?![.][.]|@\{)[\w.@+=%#,&-])+(?<![.]))+(?<!\.lock)", re.ASCII
)
"""Names that git takes for sure (git-check-ref-format(1)); of others it is asked."""


@dataclass(frozen=True, slots=True)
class LocalTip:
    """The newest commit of a local branch, and the work tree that has the branch checked out, where
    that was asked for.
    """

    commit: str
    tree: Path | None


class BranchNames:
    """The names of all branches at the same time."""

    def __init__(self, refs: Iterable[str]) -> None:
        self._refs = tuple(refs)
        self.local: Collection[str] = dict.fromkeys(
            name.removeprefix(HEADS) for name in self._refs if name.startswith(HEADS)
        )

    def with_local(self, branch: str) -> "BranchNames":
        """Return these names and that of a branch that is to be made here."""
        return BranchNames((*self._refs, f"{HEADS}{branch}"))

    def at_origin(self) -> tuple[str, ...]:
        """Return the names of origin's branches, without its HEAD."""
        start = f"{REMOTES}origin/"
        names = (ref.removeprefix(start) for ref in self._refs if ref.startswith(start))
        return tuple(name for name in names if name != "HEAD")


class BranchTips:
    """The tips of all branches at one moment. The configuration is read when it is first needed."""

    def __init__(
        self, root: Path, local: dict[str, LocalTip], followed: dict[str, str], origin: str
    ) -> None:
        self._root = root
        self._followed = followed
        self._origin = origin
        self.local = local

    @property
    def names(self) -> BranchNames:
        """The names alone."""
        return BranchNames([*(f"{HEADS}{name}" for name in self.local), *self._followed])

    @cached_property
    def remote(self) -> dict[Tracking, str]:
        """The branches of all remotes with their commits, without the remotes' HEADs."""
        remotes = {
            key.removeprefix("remote.").rpartition(".")[0]
            for key in (self._settings if self._followed else ())
            if key.startswith("remote.")
        }
        found = ((_tracking(ref, remotes), commit) for ref, commit in self._followed.items())
        return {tracking: commit for tracking, commit in found if tracking is not None}

    @cached_property
    def default(self) -> str | None:
        """Origin's default branch; else the first of init.defaultBranch, main and master that
        exists here.
        """
        if self._origin.startswith(f"{REMOTES}origin/"):
            return self._origin.removeprefix(f"{REMOTES}origin/")
        wished = self._settings.get("init.defaultbranch", "")
        return next(
            (name for name in (wished, "main", "master") if name and name in self.local), None
        )

    @cached_property
    def _settings(self) -> dict[str, str]:
        wanted = r"^(remote\..*|init\.defaultbranch)$"
        found = git(self._root, "config", "--null", "--get-regexp", wanted, ok=(0, 1)).names
        return {key: value for key, _, value in (each.partition("\n") for each in found)}


def branch_tips(root: Path, *, trees: bool = False, only: Sequence[str] = ()) -> BranchTips:
    """Return the tips of all branches.

    No object is read, so a broken one does not matter. With `trees` each work tree is read too,
    however many there are. With `only`, the local branches of that name or below that name are
    read, and no other of a thousand.
    """
    wanted = [*(f"{HEADS}{name}" for name in only or ("",)), REMOTES]
    refs = _in_files(root, wanted)
    if refs is None:
        return _told_by_git(root, wanted, trees=trees)
    paths = {each.branch: each.path for each in listed(root)} if trees else {}
    return _tips(root, [(*ref, paths.get(ref[0].removeprefix(HEADS))) for ref in refs])


def branch_names(root: Path) -> BranchNames:
    """Return the names of all branches. If they are kept in files, none of these is opened."""
    try:
        common = own_folders(root)[1]
        if (common / HEADS).is_dir():
            wanted = [HEADS, REMOTES]
            loose = {
                name for each in wanted for name in _loose_names(str(common), each.rstrip("/"))
            }
            names = sorted(loose | _packed(common, wanted).keys())
            if all(map(_PLAIN.fullmatch, names)):
                return BranchNames(names)
    except (OSError, _NotPlain):
        pass
    return branch_tips(root).names


_Row = tuple[str, str, str, Path | None]
"""The full name of a ref, its commit, the ref that it names instead, and a work tree."""


def _tips(root: Path, rows: Sequence[_Row]) -> BranchTips:
    local = {
        name.removeprefix(HEADS): LocalTip(commit, path if path and path.is_dir() else None)
        for name, commit, _, path in rows
        if name.startswith(HEADS)
    }
    followed = {
        name: commit for name, commit, link, _ in rows if name.startswith(REMOTES) and not link
    }
    origin = next((link for name, _, link, _ in rows if name == _ORIGIN_HEAD), "")
    return BranchTips(root, local, followed, origin)


def _told_by_git(root: Path, wanted: Sequence[str], *, trees: bool) -> BranchTips:
    form, size = (_WITH_TREES, 4) if trees else (_FORM, 3)
    parts = git(root, "for-each-ref", f"--format={form}", *wanted).line.split("\0")
    # Each record ends with NUL and a line end; a path may hold line ends, and no NUL.
    rows: list[_Row] = [
        (
            parts[at].removeprefix("\n"),
            parts[at + 1],
            parts[at + 2],
            Path(parts[at + 3]) if trees and parts[at + 3] else None,
        )
        for at in range(0, len(parts) - size, size)
    ]
    return _tips(root, rows)


# -- refs in files
# --------------------------------------------------------------------------------------------------


class _NotPlain(Exception):
    """A ref has an unusual name or storage, so git itself has to be asked."""


def _in_files(root: Path, wanted: Sequence[str]) -> list[tuple[str, str, str]] | None:
    """Return the refs below some names as git's own files give them, in git's order: the name, the
    commit, and the ref that it names instead (gitrepository-layout(5): refs, packed-refs).

    A process for it takes four times as long. None where something is not plain, as another store
    of refs.
    """
    try:
        common = own_folders(root)[1]
        if not (common / HEADS).is_dir():
            return None
        # What is packed meanwhile is in the packed ones before its own file goes.
        found = dict(each for start in wanted for each in _loose(str(common), start.rstrip("/")))
        packed = _packed(common, wanted)
        links = {name: said[5:] for name, said in found.items() if said.startswith("ref: ")}
        known = packed | {name: said for name, said in found.items() if name not in links}
        # Git names no ref that leads nowhere.
        known |= {name: known[link] for name, link in links.items() if link in known}
    except (OSError, _NotPlain):
        return None
    plain = all(is_full_id(commit) and int(commit, 16) for commit in known.values())
    heads = all(name.startswith(REMOTES) and name.endswith("/HEAD") for name in links)
    if not (plain and heads and all(map(_PLAIN.fullmatch, known))):
        return None
    return [(name, known[name], links.get(name, "")) for name in sorted(known)]


def _loose(common: str, start: str) -> Iterator[tuple[str, str]]:
    """Yield the refs that have a file of their own, at or below a name."""
    for name in _loose_names(common, start):
        yield from _ref(common, name)


def _loose_names(common: str, start: str) -> Iterator[str]:
    """Yield the names of those refs. Raises _NotPlain."""
    waiting = [start]
    while waiting:
        at = waiting.pop()
        try:
            found = entries(f"{common}/{at}")
        except NotADirectoryError:
            yield at
            continue
        except FileNotFoundError:
            continue
        for each in found:
            name = f"{at}/{each.name}"
            if each.is_link:
                raise _NotPlain(name)
            if each.is_folder:
                waiting.append(name)
            elif not name.endswith(".lock"):
                yield name


def _ref(common: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the content of a ref's file; nothing if it was deleted meanwhile."""
    try:
        opened = os.open(f"{common}/{name}", os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        yield name, os.fsdecode(os.read(opened, _LONGEST_REF)).rstrip("\n")
    finally:
        os.close(opened)


def _packed(common: Path, wanted: Sequence[str]) -> dict[str, str]:
    """Return the packed refs at or below some names. Raises _NotPlain."""
    try:
        lines = os.fsdecode((common / "packed-refs").read_bytes())
    except FileNotFoundError:
        return {}
    found: list[tuple[str, str]] = _PACKED.findall(lines)
    if len(found) + len(_BESIDE_PACKED.findall(lines)) != lines.count("\n"):
        raise _NotPlain(str(common / "packed-refs"))
    return {
        name: commit
        for commit, name in found
        if any(name == start or name.startswith(f"{start.rstrip('/')}/") for start in wanted)
    }


def _tracking(name: str, remotes: set[str]) -> Tracking | None:
    """Return the remote and the branch behind a ref. The name of a remote may have slashes too; the
    longest that fits is meant.
    """
    ref = name.removeprefix(REMOTES)
    fitting = [remote for remote in remotes if remote and ref.startswith(f"{remote}/")]
    remote = max(fitting, key=len, default="")
    return Tracking(remote, ref.removeprefix(f"{remote}/")) if remote else None
