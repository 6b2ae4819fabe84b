"""The repository that a server serves, the run that a workspace names in it, and that run held for
one call in the tree of its client: on its branch, without touching the client's files.
"""

import os
import re
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from forge_bot.engine import SpawnAgent
from forge_bot.engine.reports import RunStarted
from forge_bot.errors import (
    DetachedHead,
    ForgeError,
    NotServed,
    UnknownRun,
    UnknownWorkspace,
    WrongBranch,
)
from forge_bot.git import Repository
from forge_bot.mcp_server.tool_results import AtNode
from forge_bot.runs.find_runs import RunInfo, run_in, runs
from forge_bot.runs.open_run import open_run
from forge_bot.runs.run import Run
from forge_bot.settings.config import Config, load_config
from forge_bot.store.run_folder import SPECS, Workspace

_NAME = re.compile(r"[^/\\\0]{1,200}")


class ServedRepository:
    """A repository, by the work tree the client works in. It is looked for when it is first needed,
    so that the server starts at once.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._found: Repository | None = None

    @property
    def repository(self) -> Repository:
        """The repository around the folder. Raises NotARepository."""
        if self._found is None:
            self._found = Repository.find(self._folder or Path())
        return self._found

    @property
    def undecided(self) -> bool:
        """Return whether no folder was named and the server was not started in a repository:
        editors start servers anywhere.
        """
        if self._folder is not None:
            return False
        try:
            return not self.repository
        except ForgeError:
            return True

    def open(self, folders: Sequence[Path]) -> None:
        """Serve the first repository among a client's open folders, if none is served yet."""
        if not self.undecided:
            return
        for folder in folders:
            try:
                self._found = Repository.find(folder)
            except ForgeError:
                continue
            return

    @property
    def path(self) -> Path:
        """Top of the work tree."""
        return self.repository.root

    @property
    def id(self) -> str:
        """The repository's name in addresses."""
        return self.path.name

    @property
    def config(self) -> Config:
        """The present configuration of the work tree."""
        return load_config(self.path)

    @property
    def branch(self) -> str:
        """The checked-out branch; empty where none is, as in many jobs of CI. Raises NoCommits."""
        try:
            return self.repository.head().branch
        except DetachedHead:
            return ""

    def runs(self) -> tuple[RunInfo, ...]:
        """The runs of the repository, newest first, with one whose branch is not made yet."""
        return runs(self.repository, unborn=True)

    def check_project(self, wanted: str) -> None:
        """Raise NotServed for the id or path of another project."""
        if wanted not in {"", self.id} and Path(os.path.realpath(wanted)) != self.path:
            raise NotServed(f"{wanted} is not served here.")

    def run(self, workspace: str) -> RunInfo:
        """The run of that name or workspace, wherever it is. Raises UnknownRun, NotServed."""
        name = self._name(workspace)
        for info in self.runs():
            if info.name == name:
                return info
        raise UnknownRun(
            f"There is no run {name!r} in the served repository.",
            hint="run_list names those there are.",
        )

    def run_here(self, workspace: str) -> RunInfo:
        """The run in a workspace of this work tree. Raises NotServed, UnknownWorkspace,
        WrongBranch.
        """
        name = self._name(workspace)
        if (info := run_in(self.path, name)) is not None:
            return info
        elsewhere = next((info for info in self.runs() if info.name == name), None)
        if elsewhere is None:
            raise UnknownWorkspace(
                f"There is no run in {workspace or 'an empty path'}.",
                details=tuple(f"{SPECS}/{info.name}" for info in self.runs()[:5]),
            )
        if elsewhere.here and elsewhere.tree is None and self.branch == elsewhere.merge_branch:
            return elsewhere.replace(tree=self.path)
        if elsewhere.tree is None or elsewhere.tree.resolve() != self.path:
            where = f", checked out in {elsewhere.tree}" if elsewhere.tree is not None else ""
            raise WrongBranch(
                f"The run {name} is on the branch {elsewhere.branch}{where}.",
                hint=f"Work there, or in {self.path}: git switch {elsewhere.branch}",
            )
        # Its folder was deleted, its branch is checked out: opening it brings back what is
        # committed.
        return elsewhere

    def _name(self, workspace: str) -> str:
        """The name of the run in `.specs/NAME` or an absolute path. Raises NotServed."""
        plain = workspace.strip().replace("\\", "/").rstrip("/")
        if plain.startswith("/") and "\0" not in plain:
            folder, _, name = plain.rpartition("/")
            if Path(os.path.realpath(folder)) != self.path / SPECS:
                raise NotServed(f"{workspace} is not in the repository that is served here.")
        else:
            name = plain.removeprefix("./").removeprefix(f"{SPECS}/")
        if _NAME.fullmatch(name) is None or name in {".", ".."}:
            raise NotServed(f"{workspace!r} is no folder directly under {SPECS}.")
        return name


CheckOfRun = Callable[[Run], tuple[str, ...]]

Turns = dict[str, threading.Lock]
"""Locks by the names of runs, which let each run of this process have one call at a time."""


@contextmanager
def hold_client_run(
    served: ServedRepository, info: RunInfo, turns: Turns, check: CheckOfRun | None
) -> Generator[Run]:
    """Hold the run for one call.

    Raises WrongBranch, RunBusy if another process holds it, and the errors of `check` and of
    opening a run. An error while it is held is raised as AtNode, with that error as its cause.
    """
    with turns.setdefault(info.name, threading.Lock()), ExitStack() as stack:
        _check_branch(served, info)
        opened = (served.repository, info, served.config)
        run = stack.enter_context(open_run(*opened, external_worktree=True, check=check))
        try:
            yield run
        except ForgeError as error:
            raise _locate_error(run) from error


def _locate_error(run: Run) -> AtNode:
    action = run.action
    if not isinstance(action, SpawnAgent):
        return AtNode(action.phase)
    several = action.parallel_task_ids is not None and len(action.parallel_task_ids) > 1
    return AtNode(action.phase if several else action.output_file, action.input_files)


def _check_branch(served: ServedRepository, info: RunInfo) -> None:
    """Check that the run's branch is checked out. If it does not exist yet, create it where the run
    began.
    """
    repository, branch = served.repository, info.at_client
    head = repository.head()
    if head.branch in {branch, info.branch}:
        return
    words = f"The run is on {branch}, but {head.branch} is checked out in {served.path}."
    if repository.branch_exists(branch):
        raise WrongBranch(words, hint=f"git switch {branch}, then call again.")
    workspace = Workspace(served.path, info.name)
    first = workspace.reports()[0]
    base = first.base_commit if isinstance(first, RunStarted) else head.commit
    if head.commit != base:
        raise WrongBranch(
            words,
            hint=(
                f"It begins at another commit: git switch -c {branch} {base[:12]}, then call again."
            ),
        )
    repository.start_branch(branch)
