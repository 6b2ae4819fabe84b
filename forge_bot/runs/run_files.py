"""The files of a run beside its branches: its files outside git, free names for them, what is left
of them on this machine, and the record of an ended run, on a ref of its own, which is no branch.
"""

import hashlib
import shutil
from collections.abc import Collection, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from forge_bot.errors import BranchExists, ForgeError, GitFailed, PushRefusal, PushRefused, RunBusy
from forge_bot.git import Repository, Tree, remotes
from forge_bot.git.commit_history import commit_at
from forge_bot.git.commit_objects import delete_branch, make_commit, point
from forge_bot.git.revisions import (
    ENDED,
    ENDED_AT_ORIGIN,
    HEADS,
    REMOTES,
    branch_ref,
    is_ancestor,
    ref_target,
)
from forge_bot.resources import state_home
from forge_bot.runs.find_runs import RunInfo, fetch_ended, runs
from forge_bot.runs.this_process import this_process
from forge_bot.store.files import held, write_whole
from forge_bot.store.run_folder import SPECS
from forge_bot.values import Frozen

_MARK = "forge-bot/state-folder"
_MOST = 1000


class RunPaths(Frozen):
    """Folders and files of one run outside its branch."""

    home: Path
    tree: Path
    tasks: Path
    environment: Path
    compiled: Path
    judged: Path
    journal: Path
    lock: Path


def run_paths(repository: Repository, run: str) -> RunPaths:
    """The places of a run: under the user's state folder, apart from those of other repositories;
    the lock beside git's data.
    """
    common = repository.common_dir
    home = state_home() / f"{run}-{_mark(common)}"
    return RunPaths(
        home=home,
        tree=home / "tree",
        tasks=home / "tasks",
        environment=home / "environment",
        compiled=home / "go-build",
        judged=home / "judged",
        journal=home / "journal.jsonl",
        lock=common / "forge-bot" / f"{run}.lock",
    )


def remember_state_folder(repository: Repository) -> None:
    """Write down the names of the folders of this repository's runs, so that they are found where
    it is moved.
    """
    common = repository.common_dir
    write_whole(common / _MARK, f"{_mark(common)} {common}\n")


def _mark(common: Path) -> str:
    """Return what tells the folders of this repository's runs from those of others: a digest of the
    path where it first had a run. A copy, beside which the original stands, has its own.
    """
    try:
        mark, _, path = (common / _MARK).read_text(encoding="utf-8").rstrip("\n").partition(" ")
    except (OSError, UnicodeDecodeError):
        mark = path = ""
    if mark and (Path(path) == common or not Path(path).exists()):
        return mark
    return hashlib.sha256(str(common).encode("utf-8", "surrogateescape")).hexdigest()[:8]


_Model = TypeVar("_Model", bound=BaseModel)


def read_kept(file: Path, model: type[_Model]) -> _Model | None:
    """Return the value in a file of JSON; None where there is none, or it is broken."""
    try:
        return model.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


@contextmanager
def free_run(repository: Repository, wanted: str, by: str) -> Generator[str]:
    """Hold the lock of a run's name for the time of the block: the wanted name, or the next free
    one. `by` describes this process.
    """
    recorded = {ref.name.rpartition("/")[2] for ref in repository.refs(ENDED, ENDED_AT_ORIGIN)}

    def is_free(name: str) -> bool:
        places = run_paths(repository, name).home, repository.root / SPECS / name
        return name not in recorded and not any(place.exists() for place in places)

    for name in numbered(wanted):
        if not is_free(name):
            continue
        with ExitStack() as lock:
            try:
                lock.enter_context(held(run_paths(repository, name).lock, f"the run {name}", by))
            except RunBusy:
                # Another process begins a run of this name right now.
                continue
            # Or it has begun it since we looked.
            if is_free(name):
                yield name
                return


def numbered(wanted: str) -> Iterator[str]:
    """Yield a name, then the same name with numbers from 2 on."""
    yield wanted
    yield from (f"{wanted}-{number}" for number in range(2, _MOST))


def free_branch(repository: Repository, wanted: str, other: str = "") -> str:
    """Return the wanted name, or the next free one beside another one that will be a branch. If a
    branch has the name of its folder, the folder is left out.
    """
    # The branch is to be pushed, so what the remote has counts too, as far as it is known here.
    promised = (info.branch for info in runs(repository, unborn=True) if not info.ended)
    known = {*repository.branches(), *repository.remote_branches(), *promised, other} - {""}
    flat = wanted.replace("/", "-") if any(wanted.startswith(f"{name}/") for name in known) else ""
    return next(name for name in numbered(flat or wanted) if _obstacle(name, known) is None)


def check_free(repository: Repository, branch: str) -> None:
    """Raise BranchExists for a name that a new branch cannot have, BadOption for one that git does
    not take.
    """
    branch_ref(repository.root, branch)
    other = _obstacle(branch, repository.branches())
    if other == branch:
        raise BranchExists(f"The branch {branch} exists already.")
    if other is not None:
        raise BranchExists(
            f"The branch {branch} cannot be made beside {other}: git keeps one of such two "
            "names only."
        )


def _obstacle(name: str, branches: Collection[str]) -> str | None:
    """Return the branch that makes this name impossible: git keeps only one of `a` and `a/b`
    (git-check-ref-format(1), refs are paths).
    """
    return next(
        (
            other
            for other in branches
            if other == name or name.startswith(f"{other}/") or other.startswith(f"{name}/")
        ),
        None,
    )


class Leftover(Frozen):
    """The rest of one run: its size in bytes, the run's own branch if it ended and the change is on
    another one, and the reason why nothing can be removed; empty if it can.
    """

    run: str
    branch: str = ""
    size: int
    kept_because: str = ""


def leftovers(repository: Repository) -> tuple[Leftover, ...]:
    """Return the folders that the runs of this repository have left, by name."""
    known = {info.name: info for info in runs(repository)}
    return tuple(
        Leftover(
            run=name,
            branch=info.branch if (info := known.get(name)) and info.merge_branch else "",
            size=_size(folder),
            kept_because=_against(repository, info, run_paths(repository, name)),
        )
        for name, folder in _folders(repository)
    )


def remove_leftover(repository: Repository, left: Leftover) -> bool:
    """Remove all files of a run, its journal included, and its branch once its record is kept;
    False if a process works on it.
    """
    places = run_paths(repository, left.run)
    try:
        with held(places.lock, f"the run {left.run}", this_process()):
            remove_trees(repository, places.home)
            if left.branch:
                remove_branch(repository, left.run, left.branch)
    except RunBusy:
        return False
    return True


def remove_work_tree(repository: Repository, run: str) -> str:
    """Remove the work tree of a run that is over; its journal stays, and so do the tools, for other
    runs. Return why the tree was kept, empty if it is gone.
    """
    places = run_paths(repository, run)
    try:
        with held(places.lock, f"the run {run}", this_process()):
            if because := _in_use(places.tree):
                return because
            remove_trees(repository, places.tree, places.tasks)
    except RunBusy:
        return "another process works on the run"
    return ""


def _folders(repository: Repository) -> Iterator[tuple[str, Path]]:
    """Yield the name and the folder of each run of this repository that has one."""
    mark = run_paths(repository, "x").home.name.removeprefix("x")
    home = state_home()
    for folder in sorted(home.iterdir()) if home.is_dir() else ():
        if folder.name.endswith(mark) and folder.is_dir() and not folder.is_symlink():
            yield folder.name.removesuffix(mark), folder


def _against(repository: Repository, info: RunInfo | None, places: RunPaths) -> str:
    if info is not None and not info.ended:
        return "the run is not over"
    tree = places.tree if places.tree.is_dir() else None
    if tree is not None and tree not in {worktree.path for worktree in repository.worktrees()}:
        return f"{tree} is no work tree of this repository any more; look what is in it"
    return _in_use(places.tree)


def _in_use(tree: Path) -> str:
    """Return why a work tree should stay; empty if it can go."""
    if not tree.is_dir():
        return ""
    # Nobody is in a folder that is gone.
    with suppress(OSError):
        if Path.cwd().is_relative_to(tree):
            return "you are in it"
    try:
        changed = Tree(tree).status()
    except ForgeError:
        return "git cannot read it"
    if changed:
        return f"it has changes that are not committed, such as {changed[0].path}"
    return ""


def remove_task_tree(repository: Repository, path: Path) -> None:
    """Remove a work tree that was made for a task, and with the last one the folder above it."""
    repository.remove_tree(path)
    with suppress(OSError):
        path.parent.rmdir()


def remove_trees(repository: Repository, *folders: Path) -> None:
    """Remove folders with the work trees below them, also from git's list."""
    for worktree in repository.worktrees():
        if any(map(worktree.path.is_relative_to, folders)):
            repository.remove_tree(worktree.path)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _size(folder: Path) -> int:
    """Return the size in bytes of the files below a folder, but for those that disappear."""
    total = 0
    for place in folder.rglob("*"):
        try:
            total += place.lstat().st_size
        except OSError:
            continue
    return total


def last_commit(repository: Repository, ref: str) -> str:
    """Return the last commit of the run whose record a ref has. Raises GitFailed."""
    return repository.commit_id(f"{ref}^1")


def is_kept(repository: Repository, run: str, head: str, *, at_origin: bool = False) -> bool:
    """Return whether the record of a run is kept with all of its commits, here or at the remote."""
    tip = ref_target(repository.root, f"{ENDED_AT_ORIGIN if at_origin else ENDED}{run}")
    return tip is not None and is_ancestor(repository.root, head, tip)


def keep_record(repository: Repository, run: str, head: str, landed: str, *, push: bool) -> str:
    """Store the record of a run that ended at `head`, and push it if wanted. Return why that
    failed, or "": the record is on the run's branch anyway.

    `landed` is the newest commit that the run offers for merge, or empty. The commit there has
    these as parents, so nothing that a link or an approval names is lost when branches are deleted.
    """
    try:
        _store(repository, run, head, landed)
        if push:
            try:
                remotes.push_ended(repository.root, run)
            except PushRefused as error:
                if error.why is not PushRefusal.BEHIND:
                    raise
                # The run was gone on with on another machine too.
                remotes.fetch_ended(repository.root)
                _store(repository, run, head, landed)
                remotes.push_ended(repository.root, run)
    except GitFailed as error:
        return error.message
    return ""


def remove_branch(repository: Repository, run: str, branch: str) -> None:
    """Remove a branch of an ended run here, if its record is kept with all commits of the branch,
    and at the remote, if that says that it has them too.
    """
    root = repository.root
    tip = ref_target(root, f"{HEADS}{branch}")
    if tip is not None and is_kept(repository, run, tip):
        delete_branch(root, branch, tip)
    tip = ref_target(root, f"{REMOTES}{remotes.ORIGIN}/{branch}")
    if tip is not None:
        fetch_ended(repository)
        if is_kept(repository, run, tip, at_origin=True):
            with suppress(GitFailed):
                remotes.delete_at_origin(root, branch, tip)


def _store(repository: Repository, run: str, head: str, landed: str) -> None:
    """Point the ref of a run at a commit that has all of these commits."""
    root, ref = repository.root, f"{ENDED}{run}"
    known = [ref_target(root, name) for name in (ref, f"{ENDED_AT_ORIGIN}{run}")]
    needed = dict.fromkeys(filter(None, (head, landed, *known)))
    for tip in filter(None, known):
        if all(is_ancestor(root, commit, tip) for commit in needed):
            point(root, ref, tip)
            return
    signature = commit_at(root, head).signature
    words = (f"The record of {run}", (("Forge-Record", run),), signature)
    tree = repository.tree_id(head)
    point(root, ref, make_commit(root, tree, tuple(needed), *words))
