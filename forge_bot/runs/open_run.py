"""Open a run: lock it for this process, find its work tree, and settle what happened since."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge_bot.engine import Action, Checkpoint, Done, HumanGate
from forge_bot.errors import ForeignCommits, ForgeError
from forge_bot.git import Repository, Tree
from forge_bot.git.commit_objects import advance_branch
from forge_bot.git.own_files import INDEX_LOCK
from forge_bot.runs.finding_runs.ended_runs import last_commit
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.hand_edits import hand_edits
from forge_bot.runs.last_known_head import KnownState, LastKnownHead, own_record
from forge_bot.runs.leftovers import remove_trees
from forge_bot.runs.process_signals import stop_on_signals, this_process
from forge_bot.runs.run import Run
from forge_bot.runs.run_paths import RunPaths, remember_state_folder, run_paths
from forge_bot.settings import Config
from forge_bot.store import SPECS, Workspace, held, told_when_full, write_whole
from forge_bot.store.run_folder import REPORTS, STATE, ReadOnlyWorkspace

_SHORT = 12
_SHOWN = 10


def check_foreign_commits(
    repository: Repository, tree: Tree, run: str, action: Action, before: str
) -> tuple[str, ...]:
    """Return notices about commits that came since the branch was left at `before`. Raises
    ForeignCommits where they may not stay.

    What a remote has too, and has taken the run further, the run did on another machine. Where a
    person is asked to do something, they may commit it, and at a checkpoint they may edit
    documents. While an agent is at work, nobody commits.
    """
    here = tree.head()
    onwards = repository.contains(here.commit, before)
    public = repository.at_a_remote(here.branch, here.commit)
    if public and _went_on(repository, run, before, here.commit):
        return ()
    if isinstance(action, Checkpoint) and onwards:
        changed = tree.changed(before, here.commit)
        if all(
            path.startswith(f"{SPECS}/{run}/") and not path.endswith((f"/{REPORTS}", f"/{STATE}"))
            for path in changed
        ):
            return ()
    if isinstance(action, Done | HumanGate) or (
        isinstance(action, Checkpoint) and onwards and public
    ):
        return (
            (f"commits that the run did not make are on its branch now: {_named(tree, before)}",)
            if onwards
            else ()
        )
    raise _refused(repository, tree, before, here.commit, onwards=onwards)


def _went_on(repository: Repository, run: str, before: str, now: str) -> bool:
    """Return whether the record has more reports now."""
    path = f"{SPECS}/{run}/{REPORTS}"
    # What was rewritten may be gone for good; a commit contains itself as long as it is there.
    old = repository.read(before, path) if repository.contains(before, before) else None
    new = repository.read(now, path)
    return old is not None and new is not None and new != old and new.startswith(old)


def _named(tree: Tree, before: str) -> str:
    return ", ".join(
        f"{commit.id[:7]} {commit.subject}" for commit in tree.commits(before)[:_SHOWN]
    )


def _refused(
    repository: Repository, tree: Tree, before: str, now: str, *, onwards: bool
) -> ForeignCommits:
    was = before[:_SHORT]
    if onwards:
        return ForeignCommits(
            f"The branch has commits that the run did not make: {_named(tree, before)}.",
            hint=(
                f"git reset --soft {was} keeps their changes; then report again: the run "
                "commits by itself."
            ),
        )
    if repository.contains(before, now):
        back = f"git merge --ff-only {was}, then call again."
        return ForeignCommits(f"The branch was taken back from {was} to {now[:_SHORT]}.", hint=back)
    return ForeignCommits(
        f"The branch was rewritten: {was} is no longer on it.",
        hint=(
            f"git reset --soft {was} keeps the changes; then report again: the run commits by "
            "itself."
        ),
    )


def settle(
    run: Run,
    committed: bytes,
    *,
    external_worktree: bool = False,
) -> None:
    """Make disk, state and branch agree after a crash, or after a person edited artifacts by hand.

    `committed`: the reports in the branch's last commit. Unfinished work is put aside, unless
    somebody else works in the tree while no process holds the run (`external_worktree`).
    """
    run.commit_pending(committed, external_worktree=external_worktree)
    if not external_worktree and run.places.tasks.exists():
        # It is left by a killed process. Continuing a task makes its tree again.
        remove_trees(run.repository, run.places.tasks)
    for report in hand_edits(run, external_worktree=external_worktree):
        run.tell(report)
    if not external_worktree and run.outside(run.tree.status()):
        _put_aside(run)


def _put_aside(run: Run) -> None:
    """Keep unfinished work apart from the run's tree."""
    run.keep()
    # A command that was killed may have left repositories, in which git would hide files.
    run.tree.remove_nested(untracked=True)
    saved = run.tree.rescue(f"{run.name}-{run.state.step}")
    run.notices.append(f"unfinished changes were put aside at {saved}")


@contextmanager
def open_run(
    repository: Repository,
    info: RunInfo,
    config: Config,
    *,
    external_worktree: bool = False,
    ending: bool = False,
) -> Generator[Run]:
    """Return the run, locked for this process and settled.

    A missing work tree is made again from the branch. With `external_worktree`, the agents are not
    of this process, and unfinished work stays in the tree. Their own commits are refused with
    ForeignCommits, unless the run is to be ended. Their additions to the record are removed.
    """
    with held_tree(repository, info) as (places, tree, mended):
        stands = _stands(repository, tree, info.branch)
        committed = repository.read(stands, f"{SPECS}/{info.name}/{REPORTS}") or b""
        known_head = LastKnownHead(places.known_head)
        left = known_head.at_rest if external_worktree else None
        workspace = Workspace(tree.path, info.name)
        notices = mended + workspace.mend(committed)
        notices += _without_strangers_lines(workspace, committed, left) if left is not None else ()
        run = Run(repository, tree, workspace, config, known_head)
        if left is not None and left.head != stands and not ending:
            notices += check_foreign_commits(repository, tree, info.name, run.action, left.head)
        run.notices[:0] = notices
        try:
            settle(run, committed, external_worktree=external_worktree)
            yield run
        finally:
            run.let_go(stands)


def look_at_run(repository: Repository, info: RunInfo, config: Config) -> Run:
    """Return a run that another process holds, as it is in its work tree. Nothing is settled, and
    nothing can be recorded. Raises ReportsDamaged.
    """
    tree = Tree(info.tree or run_paths(repository, info.name).tree)
    workspace = ReadOnlyWorkspace(tree.path, info.name)
    known_head = LastKnownHead(run_paths(repository, info.name).known_head)
    return Run(repository, tree, workspace, config, known_head)


@contextmanager
def held_tree(
    repository: Repository, info: RunInfo
) -> Generator[tuple[RunPaths, Tree, tuple[str, ...]]]:
    """Lock a run for this process: yield its places, its work tree, and notices of repairs."""
    places = run_paths(repository, info.name)
    with (
        told_when_full(places.written),
        held(places.lock, f"the run {info.name}", this_process()) as killed,
        stop_on_signals(),
    ):
        remember_state_folder(repository)
        tree, notices = _tree(repository, info, places.tree)
        # A process that ends by itself leaves no git behind, at most the lock of one it has ended.
        ours = places.tree.exists() and tree.path.samefile(places.tree)
        # Where the user works too, a lock may be held by an editor that waits for them.
        free = _free(tree) if ours and (killed or tree.has_locks()) else ()
        yield places, tree, notices + free


def _tree(repository: Repository, info: RunInfo, place: Path) -> tuple[Tree, tuple[str, ...]]:
    """Return the run's work tree, and notices of repairs. If the tree is missing, it is made from
    the run's branch, or from a remote's.
    """
    if info.tree is not None:
        repository.mend_worktree(info.tree)
        return Tree(info.tree), ()
    if info.remote:
        repository.take(info.tracking)
    if info.kept:
        advance_branch(repository.root, info.branch, last_commit(repository, info.kept))
    return repository.add_worktree(place, info.branch, None), ()


def _stands(repository: Repository, tree: Tree, branch: str) -> str:
    """The newest commit of the branch, which the tree shows nearly always."""
    with suppress(ForgeError):
        here = tree.head()
        if here.branch == branch:
            return here.commit
    return repository.commit_id(f"refs/heads/{branch}")


def _without_strangers_lines(
    workspace: Workspace, committed: bytes, left: KnownState
) -> tuple[str, ...]:
    path = workspace.path / REPORTS
    there = path.read_bytes() if path.is_file() else b""
    own = own_record(left, there, committed)
    if own == there:
        return ()
    write_whole(path, own)
    return (f"lines that no process of forge-bot wrote were taken away from {REPORTS}",)


def _free(tree: Tree) -> tuple[str, ...]:
    """Remove locks of dead git processes, in a tree where only the run works."""
    gone = tree.unlock()
    if INDEX_LOCK in gone:
        tree.restore_index()
    return (
        ("locks that a killed git had left were taken away: {locks}".format(locks=", ".join(gone)),)
        if gone
        else ()
    )
