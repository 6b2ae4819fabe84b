"""The installed environment of a run: made at the base commit, kept outside of git, shown again
beside every commit that is judged.

Setup runs with network, so it never runs on a tree that a model has changed. It runs in a work tree
of its own at `places.judged`. Later commands run at that same path with the commit that they judge
checked out: an editable install, which knows its project by the path, then always points at the
code that is judged, in every sandbox.
"""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge_bot.engine import advance, fold
from forge_bot.engine.next_action import held_patch_name
from forge_bot.engine.state import TaskStatus
from forge_bot.git import Repository, Tree
from forge_bot.git.files_at import raw
from forge_bot.runs.run import Run
from forge_bot.runs.run_paths import RunPaths, read_kept
from forge_bot.store import write_whole
from forge_bot.text_format import names
from forge_bot.values import CommandResult, Frozen

_BYTECODE = "__pycache__"


def remove_leftovers(tree: Tree, kept: Sequence[str]) -> None:
    """Remove all that git does not track from a tree where nobody works, except some paths and
    everything below them.
    """
    for name in tree.untracked():
        for path in _outside(tree.path, Path(name), frozenset(map(Path, kept))):
            _remove(tree.path / path)


def remove_bytecode(tree: Tree) -> None:
    """Remove the bytecode beside tracked files, which Python runs in the place of a source. A
    person may work in the tree, and loses nothing by that.
    """
    for folder in ("", *tree.tracked_folders()):
        place = tree.path / folder / _BYTECODE
        if place.is_dir() and place.parent.resolve() == tree.path.resolve() / folder:
            _remove(place)


def _outside(root: Path, path: Path, kept: frozenset[Path]) -> Iterator[Path]:
    """Yield a path, or what is in it where a part of it is kept."""
    if not kept.isdisjoint((path, *path.parents)):
        return
    if not any(path in each.parents for each in kept):
        yield path
        return
    for each in sorted((root / path).iterdir()):
        yield from _outside(root, path / each.name, kept)


_READY, _LEFT, _NAMES = "ready", "left-in-tree", "left-in-tree.json"
DEPENDENCY_FILES = (
    *names("""
        package.json npm-shrinkwrap.json package-lock.json pnpm-lock.yaml yarn.lock bun.lock
        bun.lockb
        """),
    *names("""
        pyproject.toml pylock.toml poetry.lock pdm.lock uv.lock Pipfile Pipfile.lock
        requirements*.txt
        """),
    *names("""
        Cargo.toml Cargo.lock go.mod go.sum go.work go.work.sum Gemfile.lock composer.json
        composer.lock
        """),
)
"""Manifests and lock files by name. Build files that are programs (setup.py, Gemfile, build.gradle)
are not among them."""


class _Ready(Frozen):
    """The mark of a complete environment, and the results of the commands that made it."""

    mark: str
    results: tuple[CommandResult, ...]


@dataclass(frozen=True)
class Foundation:
    """The source of an environment: a commit, and the patches to manifests and lock files
    that a person approved.
    """

    commit: str
    approved: Callable[[], tuple[bytes, ...]]


def foundation(run: Run) -> Foundation:
    """Return the foundation of a run: its base commit, and its approved patches as they are when
    they are needed.
    """
    return Foundation(run.state.base_commit, lambda: _approved(run))


def _approved(run: Run) -> tuple[bytes, ...]:
    """Return the patches that waited for a person, in the order in which they were approved."""
    if not any(name.startswith("held-") for name in run.state.artifacts):
        return ()
    reports = run.workspace.reports()
    state = fold(run.pipeline, reports[:1])
    found: dict[str, None] = {}
    for report in reports[1:]:
        state = advance(run.pipeline, state, report)
        for task in state.tasks:
            if task.status is TaskStatus.CLEARED:
                found[state.artifacts[held_patch_name(task.spec.id)].blob] = None
    return tuple(raw(run.repository.root, tuple(found)).values())


class Installation:
    """The environment of one run, and the work tree in which it is installed and used. One thread
    at a time.
    """

    def __init__(self, repository: Repository, places: RunPaths, foundation: Foundation) -> None:
        self.repository = repository
        self.places = places
        self.environment = places.environment
        self.path = places.judged
        self.foundation = foundation
        self.is_tidy = False
        """Whether this process has seen the work tree without anything that a command left: set by
        who tidies it, and taken back by who runs a command or writes there."""
        self.has_run = True
        """Whether a command may have run here since setup or since leftovers were removed."""
        self._known: dict[Path, tuple[int, ...]] = {}

    def mark(self, commands: Sequence[Sequence[str]]) -> str:
        """Return the identity of an environment: its place, commit, approved bytes and commands."""
        patches = [hashlib.sha256(patch).hexdigest() for patch in self.foundation.approved()]
        return json.dumps(
            [str(self.path), self.foundation.commit, patches, list(map(list, commands))]
        )

    def results(self, mark: str) -> tuple[CommandResult, ...] | None:
        """Return the results of the setup commands if the environment was installed completely,
        from these bytes and by these commands; a process that was killed may not have recorded
        them.
        """
        ready = read_kept(self.environment / _READY, _Ready)
        return ready.results if ready is not None and ready.mark == mark else None

    def remove_nested(self) -> None:
        """Remove the repositories that commands made in folders of the commit, before git looks at
        the work tree: it would obey their settings.
        """
        if (self.path / ".git").is_file():
            Tree(self.path).remove_nested()

    def begin(self) -> Tree:
        """Return a fresh work tree at the base commit with the approved dependency files, and empty
        the environment.

        Raises GitFailed when an approved patch does not fit the base commit.
        """
        self._known.clear()
        self.is_tidy = False
        commit = self.foundation.commit
        shutil.rmtree(self.environment, ignore_errors=True)
        self.environment.mkdir(parents=True)
        tree = self.repository.detached_tree(self.path, commit)
        for patch in self.foundation.approved():
            # A pattern without a slash names a file in any folder (git-apply(1) matches with `*`
            # across slashes).
            only = [pattern for name in DEPENDENCY_FILES for pattern in (name, f"*/{name}")]
            tree.apply(patch.decode(errors="surrogateescape"), only=only)
        return tree

    def keep(self, mark: str, results: tuple[CommandResult, ...]) -> None:
        """Copy the files that setup left in the work tree to the environment, where later commands
        cannot change them, and mark it as ready.

        Anything that setup itself put at these places is removed: through a link there, files would
        be written outside of the sandbox.
        """
        for name in (_LEFT, _NAMES, _READY):
            _remove(self.environment / name)
        names = [name.rstrip("/") for name in Tree(self.path).untracked()]
        for name in names:
            target = self.environment / _LEFT / name
            target.parent.mkdir(parents=True, exist_ok=True)
            place = self.path / name
            if place.is_dir() and not place.is_symlink():
                shutil.copytree(place, target, symlinks=True, ignore=_special)
            else:
                _put(place, target)
        write_whole(self.environment / _NAMES, json.dumps(names))
        ready = _Ready(mark=mark, results=results)
        write_whole(self.environment / _READY, ready.model_dump_json())
        # All that setup left belongs to the environment from here on.
        self.is_tidy, self.has_run = True, False

    def show(self, commit: str) -> Tree:
        """Return the work tree with the files of a commit, and the files that setup left."""
        tree = self.repository.show_commit(self.path, commit)
        # A file of the commit wins over one that setup left at the same place.
        return self.repository.show_commit(self.path, commit) if self._restore() else tree

    def left(self, path: str) -> bool:
        """Return whether setup left a file at this path of the work tree."""
        return os.path.lexists(self.environment / _LEFT / path)

    def names_left(self) -> list[str]:
        """Return the paths of the work tree at which setup left files or folders."""
        names = self.environment / _NAMES
        return json.loads(names.read_bytes()) if names.is_file() else []

    def _restore(self) -> bool:
        """Restore missing and changed files, and remove added ones; return whether anything was
        done. Nothing is read, written or removed through a link of a commit or of a command.
        """
        pristine, tops = self.environment / _LEFT, self.names_left()
        _clear_ways(self.path, tops)
        wanted = [path for top in tops for path in _below(pristine, Path(top))]
        found = {path for top in tops for path in _below(self.path, Path(top))}
        changed = [
            path
            for path in wanted
            if path not in found or self._known.get(path) != _entry(self.path / path)
        ]
        extra = sorted(found.difference(wanted), reverse=True)
        for path in extra:
            _remove(self.path / path)
        for path in changed:
            _put(pristine / path, self.path / path)
        self._known.update({path: _entry(self.path / path) for path in changed})
        return bool(changed or extra)


def _special(folder: str, names: list[str]) -> list[str]:
    """Return the pipes, sockets and devices among a folder's names: they have no content."""
    modes = ((name, Path(folder, name).lstat().st_mode) for name in names)
    kinds = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
    return [name for name, mode in modes if stat.S_IFMT(mode) not in kinds]


def _below(root: Path, top: Path) -> Iterator[Path]:
    """Yield a path and all paths below it, relative to `root`; folders come before their contents.
    Links are not followed, the path itself among them.
    """
    if not os.path.lexists(root / top):
        return
    yield top
    if (root / top).is_symlink():
        return
    for folder, folders, files in os.walk(root / top):
        place = Path(folder).relative_to(root)
        yield from (place / name for name in (*folders, *files))


def _clear_ways(root: Path, names: Sequence[str]) -> None:
    """Remove files and links where these paths need a folder."""
    ways = {parent for name in names for parent in Path(name).parents if parent.parts}
    for way in sorted(ways):
        if (root / way).is_symlink() or not (root / way).is_dir():
            _remove(root / way)


def _entry(path: Path) -> tuple[int, ...]:
    """Return a value that changes whenever a file changes. Only the kernel sets the time of the
    last change of an inode.
    """
    seen = path.lstat()
    if stat.S_ISDIR(seen.st_mode):
        return (seen.st_mode,)
    return (seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def _put(source: Path, target: Path) -> None:
    """Copy one file, link or folder without its content. An existing one is replaced."""
    is_folder = source.is_dir() and not source.is_symlink()
    if os.path.lexists(target) and not (is_folder and target.is_dir() and not target.is_symlink()):
        _remove(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if is_folder:
        target.mkdir(exist_ok=True)
        shutil.copystat(source, target)
    elif source.is_symlink() or source.is_file():
        shutil.copy2(source, target, follow_symlinks=False)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
