"""Opens a run: locks it for this process, finds its work tree, and settles what happened since,
also to documents that people changed by hand while nobody held it.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from forge_bot.engine import Checkpoint, Exec, HumanGate, SpawnAgent, WriteFile
from forge_bot.engine.phases import AnsweringPhase
from forge_bot.engine.reports import ArtifactChanged, RunStarted
from forge_bot.errors import DirtyTree, GitFailed
from forge_bot.git import Repository, Tree, blob_id
from forge_bot.git.commit_objects import point
from forge_bot.git.commits import match_index
from forge_bot.git.revisions import HEADS, INDEX_LOCK, head, is_ancestor, is_shallow
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.runs.branch_for_merge import peoples_commits
from forge_bot.runs.create_run import commit_start
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import (
    RunPaths,
    last_commit,
    remember_state_folder,
    remove_trees,
    run_paths,
)
from forge_bot.runs.this_process import local_user, stop_on_signals, this_process
from forge_bot.settings.config import Config
from forge_bot.store.files import held
from forge_bot.store.run_folder import (
    CARRIED,
    REPORTS,
    SPECS,
    STATE,
    Workspace,
    refuse_other_schema,
    state_file,
)
from forge_bot.values import Inspection

_SHOWN = 10


@contextmanager
def open_run(
    repository: Repository,
    info: RunInfo,
    config: Config,
    *,
    external_worktree: bool = False,
    check: Callable[[Run], tuple[str, ...]] | None = None,
    hand_over: Callable[[str], None] | None = None,
) -> Generator[Run]:
    """Return the run, locked for this process, with its record and its own work tree as the branch
    has them.

    What a killed process left unfinished in the run's own tree is put aside. A tree in which a
    person works is never reset. With `external_worktree`, the agents are not of this process, and
    their work stays in the tree. `check` looks at the branch before anything is recorded, and
    returns notices. `hand_over` gives the files of each commit to another process, which makes the
    commits.
    """
    with held_tree(repository, info) as (places, tree, notices):
        ours = _is_ours(places, tree)
        run = Run(repository, tree, _workspace(repository, tree, info), config)
        _check_complete(run)
        run.notices += notices
        run.hand_over = hand_over
        run.notices += check(run) if check is not None else ()
        _settle_record(run)
        if ours and places.tasks.exists():
            # It is left by a killed process. Continuing a task makes its tree again.
            remove_trees(repository, places.tasks)
        for report in hand_edits(run, external_worktree=external_worktree):
            run.tell(report)
        if not external_worktree:
            _settle_files(run, ours=ours)
        if not external_worktree or isinstance(run.action, Checkpoint | HumanGate):
            take_in(run)
        if not run.state.ended and any(task.settled for task in run.state.tasks):
            run.put_on_code_branch()
        yield run


def take_in(run: Run) -> None:
    """Merge what people added to the code branch, unless another process makes the commits."""
    if run.hand_over is None and (report := peoples_commits(run)) is not None:
        try:
            run.tell(report)
        except GitFailed as error:
            run.notices.append(f"people's commits on {report.branch} wait: {error.message}")


def _check_complete(run: Run) -> None:
    """Raise GitFailed in a clone that lacks the run's older commits."""
    root = run.repository.root
    if is_shallow(root) and not is_ancestor(root, run.state.base_commit, run.tree.commit_id()):
        raise GitFailed(
            f"This clone is shallow: it lacks commits of the run {run.name}.",
            hint="Get them with git fetch --unshallow, and call again.",
        )


def _workspace(repository: Repository, tree: Tree, info: RunInfo) -> Workspace:
    """Return the run's folder with the record of its branch. Where the branch has none, as before
    the first commit in a client's tree, the one on disk is committed.
    """
    newest, place = tree.head().commit, f"{SPECS}/{info.name}"
    known = repository.read_many(newest, (f"{place}/{REPORTS}", f"{place}/{STATE}"))
    refuse_other_schema(known.get(f"{place}/{STATE}", b""), place)
    if recorded := known.get(f"{place}/{REPORTS}"):
        return Workspace(tree.path, info.name, recorded)
    workspace = Workspace(tree.path, info.name)
    first = workspace.reports()[0]
    if isinstance(first, RunStarted):
        commit_start(tree, workspace, first)
    return workspace


def _settle_record(run: Run) -> None:
    """Make the record in the work tree, and the index where the run commits, those of the branch:
    a process may have been killed between the two.
    """
    workspace = run.workspace
    workspace.remove_half_written()
    there, known = workspace.read_bytes(REPORTS) or b"", workspace.recorded
    if there != known:
        run.notices.append(
            f"{REPORTS} was not as the branch has it; the committed reports are back"
        )
    workspace.store({REPORTS: known, STATE: state_file(run.state)})
    newest = run.tree.commit_id()
    run.tree.match_index((workspace.relative, *run.tree.changed(f"{newest}^", newest)))


def _settle_files(run: Run, *, ours: bool) -> None:
    """Keep unfinished work apart from the run's own tree. Raises DirtyTree where it lies in a tree
    in which a person works.
    """
    if (run.workspace.path / CARRIED).exists():
        run.keep()
    changes = run.tree.status()
    if not ours and (outside := run.outside(changes)):
        raise DirtyTree(
            f"{run.tree.path} has changes that are not committed, and the run works there.",
            hint="Commit them or put them away (git stash -u), and call again.",
            details=outside[:_SHOWN],
        )
    if ours and changes:
        # A command that was killed may have left repositories, in which git would hide files.
        run.tree.remove_nested(untracked=True)
        if saved := run.tree.rescue(f"{run.name}-{run.state.step}"):
            run.notices.append(f"unfinished changes were put aside at {saved}")


def look_at_run(repository: Repository, info: RunInfo, config: Config) -> Run:
    """Return a run that another process holds, as its branch has it. Nothing is settled, and
    nothing can be recorded. Raises ReportsDamaged.
    """
    tree = Tree(info.tree or run_paths(repository, info.name).tree)
    recorded = repository.read(f"{HEADS}{info.branch}", f"{SPECS}/{info.name}/{REPORTS}")
    return Run(repository, tree, Workspace(tree.path, info.name, recorded), config)


@contextmanager
def held_tree(
    repository: Repository, info: RunInfo
) -> Generator[tuple[RunPaths, Tree, tuple[str, ...]]]:
    """Lock a run for this process: yield its places, its work tree, and notices of repairs."""
    places = run_paths(repository, info.name)
    with (
        held(places.lock, f"the run {info.name}", this_process()) as killed,
        stop_on_signals(),
    ):
        remember_state_folder(repository)
        tree, notices = _tree(repository, info, places.tree)
        # A process that ends by itself leaves no git behind, at most the lock of one it has ended.
        # Where the user works too, a lock may be held by an editor that waits for them.
        free = _free(tree) if _is_ours(places, tree) and (killed or tree.has_locks()) else ()
        yield places, tree, notices + free


def _is_ours(places: RunPaths, tree: Tree) -> bool:
    """Return whether a tree is the one that was made for the run, in which nobody else works."""
    return places.tree.exists() and tree.path.samefile(places.tree)


def _tree(repository: Repository, info: RunInfo, place: Path) -> tuple[Tree, tuple[str, ...]]:
    """Return the run's work tree, and notices of repairs. If the tree is missing, it is made from
    the run's branch, or from a remote's.
    """
    if info.tree is not None:
        repository.mend_worktree(info.tree)
        beside = info.here and head(info.tree).branch == info.merge_branch
        return Tree(info.tree, info.branch if beside else ""), ()
    if info.remote:
        repository.take(info.remote, info.branch)
    if info.kept:
        point(repository.root, HEADS + info.branch, last_commit(repository, info.kept))
    if repository.has_tree(place):
        return _back_on_branch(Tree(place.resolve()), info)
    return repository.add_worktree(place, info.branch), ()


def _back_on_branch(tree: Tree, info: RunInfo) -> tuple[Tree, tuple[str, ...]]:
    """Check out the run's branch in its own tree, where somebody checked out something else."""
    saved = tree.rescue(f"{info.name}-other")
    tree.check_out(info.branch)
    aside = f"; changes there were put aside at {saved}" if saved else ""
    return tree, (f"{info.branch} was checked out again in {tree.path}{aside}",)


def _free(tree: Tree) -> tuple[str, ...]:
    """Remove locks of dead git processes, in a tree where only the run works."""
    gone = tree.unlock()
    if INDEX_LOCK in gone:
        match_index(tree.path)
    return (f"locks that a killed git had left were taken away: {', '.join(gone)}",) if gone else ()


def hand_edits(run: Run, *, external_worktree: bool = False) -> Iterator[ArtifactChanged]:
    """Yield a report for each document that a person changed by hand while a question is open.

    A document that was changed while none is open gets its recorded version back. So does one that
    a killed process had written and not yet recorded: its author's prompt shows the version before.
    With `external_worktree` somebody may be writing it just now.
    """
    being_written = _being_written(run) if external_worktree else set[str]()
    for name, record in tuple(run.state.artifacts.items()):
        raw = run.workspace.read_bytes(name)
        if name in being_written or (raw is not None and blob_id(raw) == record.blob):
            continue
        if raw is None or run.state.gate is None or name == "request.md":
            raw = _restored(run, name)
        if raw is not None and blob_id(raw) != record.blob and run.state.gate is not None:
            yield _changed_by_hand(run, name, raw)


def _being_written(run: Run) -> set[str]:
    match run.action:
        case SpawnAgent(parallel_task_ids=tasks, output_file=name):
            return {name.replace("{task}", task) for task in tasks} if tasks else {name}
        case WriteFile(path=name):
            return {name}
        case Exec(operation="verify", artifact=name) if name is not None:
            return {name}
        case _:
            return set()


def _restored(run: Run, name: str) -> bytes | None:
    old = run.repository.read(run.ref, f"{run.workspace.relative}/{name}")
    if old is not None and old != run.workspace.read_bytes(name):
        run.workspace.write(name, old)
        run.notices.append(
            f"{name} was changed while no question was open; the recorded version is back"
        )
    return old


def _editor(run: Run, name: str, raw: bytes) -> str:
    """Return who made an edit: the author of its commit, or the user of this process."""
    path = f"{run.workspace.relative}/{name}"
    committed = run.repository.read(run.ref, path) == raw
    return (committed and run.tree.last_author(path)) or local_user()


def _inspected(run: Run, name: str, text: str) -> Inspection:
    """Return the facts of a document that an agent should have written."""
    # They import the Markdown parser, which most commands on a run do not need.
    from forge_bot.runs.agent_work.artifact_contract import contract_of

    writers = (phase for phase in run.pipeline.phases if isinstance(phase, AnsweringPhase))
    writer = next((phase for phase in writers if phase.writes == name), None)
    if writer is None:
        return Inspection()
    return contract_of(run, writer, ()).replace(verdicts=(), may_end_run=False).inspect(text)


def _changed_by_hand(run: Run, name: str, raw: bytes) -> ArtifactChanged:
    text = raw.decode("utf-8", "replace")
    stamp = run.now()
    report = ArtifactChanged(
        key=f"{name}@{blob_id(raw)}@{stamp.isoformat()}",
        at=stamp,
        artifact=name,
        blob=blob_id(raw),
        inspection=_inspected(run, name, text),
        by=_editor(run, name, raw),
    )
    run.notices.append(f"{name} was changed by hand; the question is asked anew for this version")
    if unseen := what_is_hidden(text):
        run.notices.append(
            f"{name} now holds what a reader is not shown: {unseen}; the question shows it as "
            "it is written"
        )
    return report
