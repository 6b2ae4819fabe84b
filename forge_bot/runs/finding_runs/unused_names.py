"""Free names for a run and its branch: no folder, no branch, and no other run uses them."""

from collections.abc import Collection, Generator, Iterator
from contextlib import ExitStack, contextmanager

from forge_bot.errors import BranchExists, RunBusy
from forge_bot.git import Repository
from forge_bot.git.refs import ENDED, ENDED_AT_ORIGIN
from forge_bot.git.revisions import branch_ref
from forge_bot.runs.finding_runs.find_runs import run_in
from forge_bot.runs.run_paths import run_paths
from forge_bot.store import SPECS, held

_MOST = 1000


@contextmanager
def free_run(repository: Repository, wanted: str, by: str) -> Generator[str]:
    """Hold the lock of a run's name for the time of the block: the wanted name, or the next free
    one. `by` describes this process.
    """
    recorded = {ref.name.rpartition("/")[2] for ref in repository.refs(ENDED, ENDED_AT_ORIGIN)}

    def is_free(name: str) -> bool:
        used = (
            run_paths(repository, name).home.exists() or (repository.root / SPECS / name).exists()
        )
        return name not in recorded and not used

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
    known = {*repository.branches(), *repository.remote_branches(), *_promised(repository)}
    known |= {other} - {""}
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


def _promised(repository: Repository) -> Iterator[str]:
    """Yield the branches that runs in the work trees here will be on, whether they are made or
    not.
    """
    for tree in repository.worktrees():
        for folder in (tree.path / SPECS).glob("*"):
            info = run_in(tree.path, folder.name)
            if info is not None and not info.ended:
                yield info.branch
