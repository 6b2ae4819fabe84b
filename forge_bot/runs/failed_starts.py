"""Remove the branch, work tree and folder of a run whose process was killed before its request was
on disk.
"""

import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path

from forge_bot.errors import BranchExists, ForgeError, RunBusy
from forge_bot.git import Repository
from forge_bot.git.commit_objects import delete_branch
from forge_bot.git.own_files import unlock_ref
from forge_bot.git.revisions import branch_ref, is_branch_name
from forge_bot.runs.process_signals import this_process
from forge_bot.runs.run_paths import STARTING, RunPaths, read_kept, run_paths
from forge_bot.settings import state_home
from forge_bot.store import SPECS, held, write_whole
from forge_bot.store.atomic_files import LEFTOVER
from forge_bot.store.run_folder import REPORTS
from forge_bot.values import Frozen


class FailedStart(Frozen):
    """The note of a start, written before it creates anything, deleted after the first commit."""

    run: str
    branch: str
    base: str
    tree: Path
    own_tree: bool
    merge_branch: str = ""


@contextmanager
def noted(places: RunPaths, start: FailedStart) -> Generator[None]:
    """Keep a note of a start for the time of the block. It stays if the process is killed, or if
    the block fails; not if another process has the branch, which then is no leftover of this one.

    Where it cannot be written, the run's own first file cannot be written either, and that error
    names the way out.
    """
    with suppress(ForgeError, OSError):
        write_whole(places.starting, start.model_dump_json())
    try:
        yield
    except BranchExists:
        places.starting.unlink(missing_ok=True)
        raise
    places.starting.unlink(missing_ok=True)


def remove_failed_starts(repository: Repository) -> None:
    """Remove the leftovers of starts without a first report in this repository, so that their names
    are free again.

    Only places in the note of a start are removed, and only if nobody has worked there. The branch
    must be unchanged and in no other work tree; the run's own tree must have no file that the run
    did not write.
    """
    ending = run_paths(repository, "").home.name
    for home in state_home().glob(f"*{ending}"):
        if not (home / STARTING).exists() and not _is_empty(home):
            continue
        places = run_paths(repository, home.name.removesuffix(ending))
        # Another process may be starting that very run.
        with suppress(RunBusy), held(places.lock, f"the run {home.name}", this_process()):
            _remove(repository, places)


def _is_empty(home: Path) -> bool:
    try:
        return all(fnmatchcase(file.name, LEFTOVER) for file in home.iterdir())
    except FileNotFoundError:
        # Another process has removed it since it was listed.
        return False


def _remove(repository: Repository, places: RunPaths) -> None:
    start = read_kept(places.starting, FailedStart)
    if start is None:
        if _is_empty(places.home):
            shutil.rmtree(places.home, ignore_errors=True)
        return
    folder = start.tree / SPECS / start.run
    record = folder / REPORTS
    if record.is_file() and b"\n" in record.read_bytes():
        places.starting.unlink(missing_ok=True)
    elif _removed(repository, start, folder):
        shutil.rmtree(places.home, ignore_errors=True)


def _removed(repository: Repository, start: FailedStart, folder: Path) -> bool:
    """Remove the tree and the branch, or the folder in the user's tree. Return whether that was
    possible.
    """
    if start.merge_branch:
        delete_branch(repository.root, start.merge_branch, start.base)
    # A branch of a name that git does not take was never made.
    if start.own_tree and is_branch_name(repository.root, start.branch):
        unlock_ref(repository.root, branch_ref(repository.root, start.branch))
        return repository.remove_unused(
            start.tree, start.branch, start.base, f"{SPECS}/{start.run}/"
        )
    written = [*folder.iterdir()] if folder.is_dir() else []
    if any(
        file.name not in {"request.md", REPORTS} and not fnmatchcase(file.name, LEFTOVER)
        for file in written
    ):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True
