"""The place where a project's commands run: an environment, and a work tree beside it.

Setup runs with network, so it never runs on a tree that a model has changed: it runs in the work
tree, at the base commit. Later commands run at that same path with the commit that they judge
checked out: an editable install, which knows its project by the path, then always points at the
code that is judged, in every sandbox. A place belongs to no run: another one takes it over where
nothing that setup reads has changed, and installs anew elsewhere.
"""

import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain, count
from pathlib import Path, PurePosixPath
from weakref import WeakSet, WeakValueDictionary

from filelock import FileLock, Timeout

from forge_bot.engine import advance, fold
from forge_bot.engine.next_action import held_patch_name
from forge_bot.engine.state import TaskStatus
from forge_bot.git import Repository, Tree
from forge_bot.git.commit_objects import tree_without
from forge_bot.git.files_at import raw
from forge_bot.project.detected_commands import ENV
from forge_bot.runs.project_commands.file_copies import (
    copy_files,
    paths_without,
    remove_entry,
    restore_files,
)
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import RunPaths, read_kept, run_paths
from forge_bot.sandbox.visible_files import USUAL_PATH
from forge_bot.settings.config import Config
from forge_bot.store.files import write_whole
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import names
from forge_bot.values import CommandResult, Frozen

_KEPT = 3
"""Places of a repository before one is emptied for another environment."""

_READY, _LEFT = "ready", "left-in-tree"
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
_READ_BY_SETUP = (
    *DEPENDENCY_FILES,
    *names("""
        setup.py setup.cfg MANIFEST.in constraints*.txt .python-version .tool-versions .npmrc
        .yarnrc* .pnpmfile.cjs pnpm-workspace.yaml rust-toolchain* Gemfile *.gemspec pom.xml
        build.gradle* settings.gradle*
        """),
)
_INSTALLED = re.compile(r"(?:^|/)(?:node_modules|\.venv|[^/]+\.egg-info)/?")
"""What an installation leaves in a work tree without having read the code in it."""
_INSTALLERS = names("""
    pip pip3 uv venv virtualenv poetry pdm pipenv npm pnpm yarn bun cargo go bundle composer
    """)
"""Programs that read only manifests and lock files."""
_COMPILED = (".c", ".cc", ".cpp", ".pyx", ".rs", ".f90")
"""Code that the installation of a package may compile into the environment."""


class _Ready(Frozen):
    """The mark of a complete environment, the tree of which it was made if setup may have read its
    code, the results of the commands that made it, and what they left in the work tree.
    """

    mark: str
    tree: str
    results: tuple[CommandResult, ...]
    left: tuple[str, ...] = ()


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
    return Foundation(run.state.base_commit, lambda: _read_approved(run))


def _read_approved(run: Run) -> tuple[bytes, ...]:
    """Return the patches that waited for a person, in the order in which they were approved."""
    if not any(name.startswith("held-") for name in run.state.artifacts):
        return ()
    reports = run.workspace.reports()
    state = fold(run.pipeline, reports[:1])
    blobs: dict[str, None] = {}
    for report in reports[1:]:
        state = advance(run.pipeline, state, report)
        for task in state.tasks:
            if task.status is TaskStatus.CLEARED:
                blobs[state.artifacts[held_patch_name(task.spec.id)].blob] = None
    return tuple(raw(run.repository.root, tuple(blobs)).values())


@lru_cache(maxsize=64)
def code_of(root: Path, commit: str) -> str:
    """Return git's id of the files of a commit, but for the records of runs."""
    return tree_without(root, commit, SPECS)


class _Place:
    """A place that this process has taken, until nothing here needs it any more. Runs of one
    process share it, one command at a time.
    """

    def __init__(self, places: RunPaths, lock: FileLock) -> None:
        self.environment = places.environment
        self.path = places.judged
        self.compiled = places.compiled
        self.judging = threading.RLock()
        self.built: tuple[str, tuple[str, ...]] | None = None
        """The commit that is shown and built, and what its build made."""
        self.known: dict[Path, tuple[int, ...]] = {}
        self.users: WeakSet[Installation] = WeakSet()
        self._lock = lock


_taken: WeakValueDictionary[Path, _Place] = WeakValueDictionary()
_choosing = threading.Lock()


class Installation:
    """The place of one run's commands, and what has to be installed there."""

    def __init__(
        self,
        repository: Repository,
        foundation: Foundation,
        setup: Sequence[tuple[str, ...]],
        config: Config,
    ) -> None:
        self.repository = repository
        self.foundation = foundation
        self._setup = setup
        self._config = config
        self._chosen: _Place | None = None

    @property
    def place(self) -> _Place:
        """The place, taken when it is first needed."""
        with _choosing:
            if self._chosen is None:
                self._chosen = self._choose()
                self._chosen.users.add(self)
            return self._chosen

    def _choose(self) -> _Place:
        """Return a place with the environment that is needed, else a new one, else the oldest."""
        kind = "environment" if self._setup else "plain"
        every = [run_paths(self.repository, f"{kind}-{n}") for n in range(_KEPT)]
        made = [places for places in every if places.home.is_dir()]
        fitting = [
            places
            for places in made
            if not self._setup or self._fits(_ready_in(places.environment))
        ]
        for places in fitting:
            if place := _taken.get(places.lock):
                return place
        new = [places for places in every if places not in made]
        by_age = sorted(made, key=lambda places: places.home.stat().st_mtime)
        others = (run_paths(self.repository, f"{kind}-{n}") for n in count(_KEPT))
        free = (_take(places) for places in chain(fitting, new, by_age, others))
        return next(place for place in free if place is not None)

    @property
    def environment(self) -> Path:
        """The folder of tools and libraries."""
        return self.place.environment

    @property
    def path(self) -> Path:
        return self.place.path

    def is_base(self, commit: str) -> bool:
        root, base = self.repository.root, self.foundation.commit
        return code_of(root, commit) == code_of(root, base)

    @property
    def key(self) -> str:
        """A digest of the environment that is needed, for a cache of such; empty without setup."""
        if not self._setup:
            return ""
        code = self._tree if self._is_of_code(()) else ""
        return hashlib.sha256(f"{self._needed}{code}".encode()).hexdigest()[:32]

    @property
    def mark(self) -> str:
        """The identity of the environment that is needed: what setup reads."""
        if not self._setup:
            return self._programs
        ready = _ready_in(self.environment)
        return f"{self._needed}{ready.tree if ready is not None else self._tree}"

    @property
    def _needed(self) -> str:
        """The commands, the approved bytes, the programs, the settings, and the files by which
        dependencies are installed.
        """
        commit = self.foundation.commit
        files = [
            path
            for path in self.repository.list_files(commit)
            if any(fnmatchcase(PurePosixPath(path).name, name) for name in _READ_BY_SETUP)
            or "requirements" in path
            or any(path in word for argv in self._setup for word in argv)
        ]
        patches = [hashlib.sha256(patch).hexdigest() for patch in self.foundation.approved()]
        settings = self._config.model_dump(include={"environment", "network", "setup_credentials"})
        objects = sorted(self.repository.objects(commit, files).items())
        return json.dumps([self._setup, patches, self._programs, settings, objects], default=str)

    @property
    def _programs(self) -> str:
        """The programs of this machine that setup calls, or that Python's environments come from;
        they change when they are updated.
        """
        path = self._config.environment.get("PATH") or os.environ.get("PATH") or USUAL_PATH
        called = dict.fromkeys(["python3", *(argv[0] for argv in self._setup)])
        where = (shutil.which(name, path=path) for name in called if not name.startswith(ENV))
        real = [Path(program).resolve() for program in where if program is not None]
        return json.dumps([[str(program), program.stat().st_mtime_ns] for program in real])

    @property
    def _tree(self) -> str:
        return code_of(self.repository.root, self.foundation.commit)

    def _fits(self, ready: _Ready | None) -> bool:
        return ready is not None and ready.mark == self._needed and ready.tree in {"", self._tree}

    def results(self) -> tuple[CommandResult, ...] | None:
        """Return the results of the setup commands if the environment was installed completely, of
        what it would be made of now; a process that was killed may not have recorded them.
        """
        ready = _ready_in(self.environment)
        if ready is not None and self._fits(ready):
            return ready.results
        if ready is not None and len(self.place.users) > 1:
            # Another run of this process needs what is there.
            self._chosen = None
        return None

    def begin(self) -> Tree:
        """Return a fresh work tree at the base commit with the approved dependency files, and empty
        the environment.

        Raises GitFailed when an approved patch does not fit the base commit.
        """
        self.place.built = None
        self.place.known.clear()
        shutil.rmtree(self.environment, ignore_errors=True)
        self.environment.mkdir(parents=True)
        tree = self.repository.detached_tree(self.path, self.foundation.commit)
        for patch in self.foundation.approved():
            # A pattern without a slash names a file in any folder (git-apply(1) matches with `*`
            # across slashes).
            only = [pattern for name in DEPENDENCY_FILES for pattern in (name, f"*/{name}")]
            tree.apply(patch.decode(errors="surrogateescape"), only=only)
        return tree

    def keep(self, results: tuple[CommandResult, ...]) -> None:
        """Copy the files that setup left in the work tree to the environment, where later commands
        cannot change them, and mark it as ready.

        Anything that setup itself put at these places is removed: through a link there, files would
        be written outside of the sandbox.
        """
        for name in (_LEFT, _READY):
            remove_entry(self.environment / name)
        names = [name.rstrip("/") for name in Tree(self.path).untracked()]
        copy_files(self.path, names, self.environment / _LEFT)
        tree = self._tree if self._is_of_code(names) else ""
        ready = _Ready(mark=self._needed, tree=tree, results=results, left=tuple(names))
        write_whole(self.environment / _READY, ready.model_dump_json())

    def _is_of_code(self, left: Sequence[str]) -> bool:
        """Return whether setup, which left these paths in the work tree, may have read code."""
        return (
            not all(map(_INSTALLED.search, left))
            or any(map(_may_read_code, self._setup))
            or any(
                path.endswith(_COMPILED)
                for path in self.repository.list_files(self.foundation.commit)
            )
        )

    def _clear(self, kept: Sequence[str]) -> None:
        """Remove from the work tree all that git does not track, but for what setup left and some
        other paths.
        """
        tree, staying = Tree(self.path), frozenset(map(Path, (*self.names_left(), *kept)))
        tree.remove_nested()
        for name in tree.untracked():
            for path in paths_without(tree.path, Path(name), staying):
                remove_entry(tree.path / path)

    def show(self, commit: str, kept: Sequence[str] = ()) -> Tree:
        """Return the work tree with the files of a commit, and the files that setup left, without
        any that later commands left there but for some paths.
        """
        if self.repository.has_tree(self.path):
            # Git would obey the settings of repositories that commands made in its folders.
            Tree(self.path).remove_nested()
        tree = self.repository.show_commit(self.path, commit)
        self._clear(kept)
        # A file of the commit wins over one that setup left at the same place.
        return self.repository.show_commit(self.path, commit) if self._restore() else tree

    def leave(self) -> None:
        """Remove the work tree of a project without setup: it is soon made again."""
        if self._setup:
            return
        self.place.built = None
        self.repository.remove_tree(self.path)
        with suppress(OSError):
            self.environment.rmdir()
            self.environment.parent.rmdir()

    def names_left(self) -> tuple[str, ...]:
        """Return the paths of the work tree at which setup left files or folders."""
        ready = _ready_in(self.environment)
        return ready.left if ready is not None else ()

    def _restore(self) -> bool:
        """Restore what setup left in the tree; return whether anything was done."""
        pristine, tops = self.environment / _LEFT, self.names_left()
        return restore_files(pristine, self.path, tops, self.place.known)


def _take(places: RunPaths) -> _Place | None:
    if places.lock in _taken:
        return None
    places.lock.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(places.lock, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return None
    places.environment.mkdir(parents=True, exist_ok=True)
    place = _taken[places.lock] = _Place(places, lock)
    return place


def _ready_in(environment: Path) -> _Ready | None:
    return read_kept(environment / _READY, _Ready)


def _may_read_code(argv: Sequence[str]) -> bool:
    """Return whether a command may do more than install what manifests name, or installs a copy of
    the project's code.
    """
    program, *words = argv
    if words[:1] == ["-m"]:
        program, *words = words[1:] or [""]
    editable = any(word in {"-e", "--editable"} for word in words)
    copies = "install" in words and not editable and any(word.startswith(".") for word in words)
    return PurePosixPath(program).name not in _INSTALLERS or "run" in words or copies
