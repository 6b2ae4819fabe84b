"""The folders this server serves, and the run that a workspace names in one of them."""

import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forge_bot.errors import (
    AmbiguousRun,
    DetachedHead,
    ForgeError,
    NotServed,
    UnknownWorkspace,
    WrongBranch,
)
from forge_bot.git import Repository
from forge_bot.runs.finding_runs.find_runs import RunInfo, run_in, runs
from forge_bot.sentences import say
from forge_bot.settings import Config, load_config
from forge_bot.store import SPECS

_NAME = re.compile(r"[^/\\\0]{1,200}")


@dataclass(frozen=True, slots=True)
class ServedFolder:
    """A served repository, by the work tree the client works in."""

    id: str
    repository: Repository

    @property
    def path(self) -> Path:
        """Top of the work tree."""
        return self.repository.root

    @property
    def config(self) -> Config:
        """The present configuration of the work tree."""
        return load_config(self.repository.root)

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


@dataclass(frozen=True, slots=True)
class RunLocation:
    """A run and the served repository it lies in."""

    root: ServedFolder
    info: RunInfo

    @property
    def here(self) -> bool:
        """Return whether the run is in the served work tree itself, and not only on a branch or in
        another work tree.
        """
        return self.info.tree is not None and self.info.tree.resolve() == self.root.path

    @property
    def key(self) -> str:
        """Return a key that is unique among all served runs."""
        return f"{self.root.path}\0{self.info.name}"


class ServedFolders:
    """All served folders. Each is read when first needed, so that the server starts at once."""

    def __init__(self, folders: Sequence[Path], *, named: bool = True) -> None:
        self._folders = tuple(folders)
        self._named = named
        self._roots: tuple[ServedFolder, ...] | None = None
        self._looking = threading.Lock()

    @property
    def all(self) -> tuple[ServedFolder, ...]:
        """The served repositories, the default one first. Raises NotARepository for a folder that
        is none.
        """
        with self._looking:
            if self._roots is None:
                found = dict.fromkeys(Repository.find(folder) for folder in self._folders)
                names = [repository.root.name for repository in found]
                ids = [
                    name if names.count(name) == 1 else f"{name}-{number}"
                    for number, name in enumerate(names, 1)
                ]
                self._roots = tuple(
                    ServedFolder(name, repository)
                    for name, repository in zip(ids, found, strict=True)
                )
            return self._roots

    @property
    def undecided(self) -> bool:
        """Return whether the client's open folders matter: several are served, or nobody named one
        and no repository was found.
        """
        return len(self._folders) > 1 or self._lost

    @property
    def _lost(self) -> bool:
        """Return whether no folder was named and the server was not started in a repository:
        editors start servers anywhere.
        """
        if self._named:
            return False
        try:
            return not self.all
        except ForgeError:
            return True

    def welcome(self, opened: Sequence[Path]) -> None:
        """Serve the client's open repositories, if no folder was named and none was found."""
        guests = [folder for folder in opened if _is_repository(folder)]
        if guests and self._lost:
            with self._looking:
                self._folders, self._roots = tuple(guests), None

    def open_one(self, opened: Sequence[Path]) -> str:
        """The first served folder that the client has open, as a project; empty for the default."""
        places = [Path(os.path.realpath(folder)) for folder in opened]
        return next(
            (
                str(root.path)
                for place in places
                for root in self.all
                if place.is_relative_to(root.path)
            ),
            "",
        )

    def root(self, wanted: str = "") -> ServedFolder:
        """The root of that id or path; the first one for an empty name. Raises NotServed."""
        if not wanted:
            return self.all[0]
        for root in self.all:
            if wanted == root.id or root.path == _real(wanted):
                return root
        raise NotServed(say("client.served_folders.not_served", wanted=wanted))

    def wanted(self, project: str) -> tuple[ServedFolder, ...]:
        """The root of that id or path alone; all for an empty name. Raises NotServed."""
        return (self.root(project),) if project else self.all

    def workspace(self, root: ServedFolder, name: str) -> str:
        """Return the name of a run's folder for a client: in the default root the path within,
        elsewhere the absolute one.
        """
        relative = f"{SPECS}/{name}"
        return relative if root is self.all[0] else f"{root.path}/{relative}"

    def runs(self, roots: Sequence[ServedFolder]) -> tuple[RunLocation, ...]:
        """The runs of some roots, newest first. Where several are work trees of one repository,
        each run once: where it is checked out.
        """
        found: dict[tuple[Path, str], RunLocation] = {}
        for root in roots:
            for info in root.runs():
                location, key = RunLocation(root, info), (root.repository.common_dir, info.name)
                if key not in found or location.here:
                    found[key] = location
        return tuple(
            sorted(found.values(), key=lambda location: location.info.updated_at, reverse=True)
        )

    def around(self, workspace: str) -> ServedFolder:
        """Return a workspace's root: that of an absolute path, else the first. Raises NotServed."""
        return self.named(workspace)[0][0]

    def location(self, workspace: str) -> RunLocation:
        """The run in a workspace, `.specs/NAME` or an absolute path. Raises NotServed,
        UnknownWorkspace, AmbiguousRun, WrongBranch.
        """
        roots, name = self.named(workspace)
        found = [
            RunLocation(root, info)
            for root in roots
            if (info := run_in(root.path, name)) is not None
        ]
        if len(found) > 1:
            raise in_several(workspace)
        if found:
            return found[0]
        for root in roots:
            elsewhere = next((info for info in runs(root.repository) if info.name == name), None)
            if elsewhere is not None and RunLocation(root, elsewhere).here:
                # Its folder was deleted, its branch is checked out: opening it brings back what is
                # committed.
                return RunLocation(root, elsewhere)
            if elsewhere is not None:
                raise _on_its_branch(root, elsewhere)
        known = tuple(self.workspace(root, info.name) for root in roots for info in root.runs()[:5])
        raise UnknownWorkspace(
            say(
                "client.served_folders.no_run_there",
                workspace=workspace or say("client.served_folders.empty_path"),
            ),
            details=known,
        )

    def named(self, workspace: str) -> tuple[tuple[ServedFolder, ...], str]:
        """The roots a workspace may lie in, and its name. Raises NotServed."""
        plain = workspace.strip().replace("\\", "/").rstrip("/")
        if plain.startswith("/"):
            folder, _, name = plain.rpartition("/")
            above, _, specs = folder.rpartition("/")
            roots = tuple(root for root in self.all if specs == SPECS and root.path == _real(above))
            if not roots:
                raise NotServed(
                    say("client.served_folders.workspace_not_served", workspace=workspace)
                )
        else:
            roots, name = self.all, plain.removeprefix("./").removeprefix(f"{SPECS}/")
        if _NAME.fullmatch(name) is None or name in {".", ".."}:
            raise NotServed(
                say("client.served_folders.not_a_run_folder", workspace=workspace, specs=SPECS)
            )
        return roots, name


def _real(path: str) -> Path | None:
    """The path that git tells of a work tree; who names it may know another that leads there."""
    return Path(os.path.realpath(path)) if "\0" not in path else None


def _is_repository(folder: Path) -> bool:
    try:
        return bool(Repository.find(folder))
    except ForgeError:
        return False


def in_several(workspace: str) -> AmbiguousRun:
    """The error for a run that is checked out in more than one served folder."""
    return AmbiguousRun(
        say("client.served_folders.several_folders_have_it", workspace=workspace),
        hint=say("client.served_folders.give_the_absolute_path"),
    )


def _on_its_branch(root: ServedFolder, info: RunInfo) -> WrongBranch:
    if info.tree is not None:
        return WrongBranch(
            say("client.served_folders.checked_out_elsewhere", name=info.name, tree=info.tree),
            hint=say("client.served_folders.work_there", tree=info.tree, branch=info.branch),
        )
    return WrongBranch(
        say("client.served_folders.run_on_another_branch", name=info.name, branch=info.branch),
        hint=say("client.served_folders.switch_there", path=root.path, branch=info.branch),
    )
