"""The repository that a server serves, the run that a workspace names in it, and that run held for
one call in the tree of its client: on its branch, without touching the client's files.
"""

import os
import re
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from forge_bot.engine import SpawnAgent
from forge_bot.engine.reports import RunStarted
from forge_bot.errors import DetachedHead, ForgeError, NotServed, UnknownRun, WrongBranch
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
        # They let each run of this process have one call at a time.
        self._turns: dict[str, threading.Lock] = {}

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
            with suppress(ForgeError):
                self._found = Repository.find(folder)
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

    @contextmanager
    def held_run(
        self, workspace: str, check: Callable[[Run], tuple[str, ...]] | None
    ) -> Generator[Run]:
        """Hold the run for one call, in the tree of its client.

        Raises NotServed, UnknownRun, WrongBranch, RunBusy if another process holds it, and the
        errors of `check` and of opening a run. An error while it is held is raised as AtNode, with
        that error as its cause.
        """
        info = run_in(self.path, self._name(workspace)) or self.run(workspace)
        with self._turns.setdefault(info.name, threading.Lock()):
            self._check_branch(info)
            # Where its folder was deleted, opening it brings back what is committed.
            here = (self.repository, info.replace(tree=self.path), self.config)
            with open_run(*here, external_worktree=True, check=check) as run:
                try:
                    yield run
                except ForgeError as error:
                    raise _locate_error(run) from error

    def _check_branch(self, info: RunInfo) -> None:
        """Check that the run's branch is checked out. If it does not exist yet, create it where the
        run began.
        """
        repository, branch = self.repository, info.at_client
        head = repository.head()
        if head.branch in {branch, info.branch}:
            return
        words = f"The run is on {branch}, but {head.branch} is checked out in {self.path}."
        if info.tree != self.path or repository.branch_exists(branch):
            away = info.tree is not None and info.tree != self.path
            raise WrongBranch(
                words,
                hint=f"Work in {info.tree}, where it is checked out."
                if away
                else f"git switch {branch}, then call again.",
            )
        first = Workspace(self.path, info.name).reports()[0]
        base = first.base_commit if isinstance(first, RunStarted) else head.commit
        if head.commit != base:
            way = f"git switch -c {branch} {base[:12]}, then call again."
            raise WrongBranch(words, hint=f"It begins at another commit: {way}")
        repository.start_branch(branch)

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


def _locate_error(run: Run) -> AtNode:
    action = run.action
    if not isinstance(action, SpawnAgent):
        return AtNode(action.phase)
    several = action.parallel_task_ids is not None and len(action.parallel_task_ids) > 1
    return AtNode(action.phase if several else action.output_file, action.input_files)
