"""A run that is open: its tree, its workspace, its state, and how reports become commits."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from forge_bot.artifacts.inspection import inspect
from forge_bot.artifacts.plans import document_facts
from forge_bot.engine import (
    Action,
    Exec,
    Pipeline,
    Report,
    SpawnAgent,
    State,
    WriteFile,
    advance,
    fold,
    next_action,
)
from forge_bot.engine.phases import AgentPhase, AnsweringPhase
from forge_bot.engine.reports import (
    AgentFailed,
    ArtifactChanged,
    ArtifactWritten,
    GateShown,
    Prepared,
    RunStarted,
)
from forge_bot.errors import BranchRenamed, ForgeError, NothingToRetry
from forge_bot.git import Repository, Tree, blob_id
from forge_bot.git.commit_objects import advance_branch
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.remedies import GiveBranchBack
from forge_bot.runs.clock import now
from forge_bot.runs.commit_message import ACTION, subject, trailers
from forge_bot.runs.ended_records import head_of_record
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.foreign_commits import check_foreign_commits
from forge_bot.runs.last_known_head import KnownState, LastKnownHead, own_record
from forge_bot.runs.local_user import local_user
from forge_bot.runs.process_signals import stop_on_signals, this_process
from forge_bot.runs.run_paths import RunPaths, run_paths
from forge_bot.runs.standing_rules import rules_at
from forge_bot.settings import Config
from forge_bot.settings.instructions import Rules
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import (
    RECORD_BRANCHES,
    SPECS,
    Request,
    Workspace,
    held,
    read_request,
    told_when_full,
    write_whole,
)
from forge_bot.store.run_folder import REPORTS, STATE
from forge_bot.values import Frozen, Inspection

_RIDES_ALONG = GateShown | ArtifactChanged | AgentFailed | Prepared
"""Reports that are committed with the next one that stands for itself."""


class _Touched(Frozen):
    """The files outside the workspace that belong to the commit of a report; written before the
    report.
    """

    key: str
    paths: tuple[str, ...]


_TOUCHED: TypeAdapter[_Touched] = TypeAdapter(_Touched)


class Run:
    """One run, held by this process. Use `opened`."""

    def __init__(
        self,
        repository: Repository,
        tree: Tree,
        workspace: Workspace,
        config: Config,
        known_head: LastKnownHead,
    ) -> None:
        self.repository = repository
        self.tree = tree
        self.name = workspace.name
        self.config = config
        self.places: RunPaths = run_paths(repository, workspace.name)
        self.workspace = workspace
        self.notices: list[str] = []
        self.known_head = known_head
        self._riding = False
        self._decided: tuple[State, Action] | None = None
        first = self.workspace.reports()[0]
        pipeline = first.pipeline if isinstance(first, RunStarted) else config.pipeline
        self.pipeline: Pipeline = load_pipeline(pipeline, repository.text_here)
        loaded = self.workspace.load(self.pipeline)
        self.state: State = loaded.state
        if loaded.refolded:
            self.notices.append(loaded.refolded)

    @property
    def request(self) -> Request:
        """The frozen request."""
        return read_request(self.workspace.read("request.md"))

    @property
    def ref(self) -> str:
        """The full ref of the run's branch, which no tag of the same name hides."""
        return f"refs/heads/{self.state.branch}"

    @property
    def action(self) -> Action:
        """Return the run's next action."""
        if self._decided is None or self._decided[0] is not self.state:
            self._decided = (self.state, next_action(self.pipeline, self.state))
        return self._decided[1]

    @property
    def rules(self) -> Rules:
        """The standing rules, as of the commit that the run is based on. Raises BadConfig."""
        return rules_at(self.repository, self.state.base_commit)

    def now(self) -> datetime:
        """The time for a new report: the clock's, but never before the last report, should the
        clock have been set back.
        """
        return max(now(), self.state.updated_at)

    # -- telling
    # ----------------------------------------------------------------------------------------------

    def tell(self, report: Report, paths: tuple[str, ...] = ()) -> State:
        """Fold a report, record it, and commit it with the files it is about."""
        state = advance(self.pipeline, self.state, report)
        if state is self.state:
            return state
        self.record(report, state, paths)
        return state

    def record(self, report: Report, state: State, paths: tuple[str, ...] = ()) -> None:
        """Make an advanced state the run's own: on disk first, then in a commit of the workspace
        and the given paths.
        """
        before = self.state
        self.known_head.begin()
        if paths:
            write_whole(
                self.places.touched, _Touched(key=report.key, paths=paths).model_dump_json()
            )
        self.workspace.record(report, state)
        self.state = state
        self._riding = _rides_along(report)
        if not self._riding:
            self._commit(report, before, paths)

    def keep(self) -> None:
        """Commit what was told and rides along with nothing yet: somebody may go on with the branch
        elsewhere.
        """
        self.known_head.begin()
        self.tree.commit(
            "forge-bot: keep the record", [("Forge-Run", self.name)], (self.workspace.relative,)
        )

    def move_forward(self, commit: str) -> None:
        """Let the run go on from a commit that has all of its commits. Raises GitFailed."""
        self.known_head.begin()
        self.tree.move_forward(commit)

    def keep_record(self) -> None:
        """Commit reports that wait for the next commit to take them along: whoever works in the
        tree should find it clean.
        """
        if self._riding:
            self.known_head.begin()
            record = (f"{self.workspace.relative}/{REPORTS}", f"{self.workspace.relative}/{STATE}")
            self.tree.commit("forge-bot: keep the record", [("Forge-Run", self.name)], record)
            self._riding = False

    def wave_base(self, action: SpawnAgent) -> str:
        """The commit at which a wave was handed out: the newest one that none of its tasks made."""
        commits = self.tree.commits(self.state.base_commit)
        return next(
            (commit.id for commit in commits if (ACTION, action.action_id) not in commit.trailers),
            self.state.base_commit,
        )

    def _commit(self, report: Report, before: State, paths: tuple[str, ...]) -> None:
        self.known_head.begin()
        text, said = subject(report, before, self.pipeline), trailers(report, before, self.pipeline)
        self.tree.commit(text, said, (self.workspace.relative, *paths), when=report.at.isoformat())
        # Nothing follows the last report of a process that would notice.
        self.workspace.check_unchanged()

    def let_go(self, stands: str) -> None:
        """Note how the run is left. `stands`: where its branch stood when the run was taken up."""
        left = self.known_head.left
        if not self.known_head.begun and left is not None and left.head == stands:
            return
        # What cannot be noted counts as unfinished, so that nobody is accused of it.
        with suppress(ForgeError, OSError):
            head = self.repository.commit_id(self.ref)
            self.known_head.leave(head, self.workspace.content)

    # -- what happened while nobody held the run
    # ----------------------------------------------------------------------------------------------

    def settle(self, committed: bytes, *, theirs: bool = False) -> None:
        """Bring disk, state and branch into agreement after a crash, or after a person edited
        artifacts by hand.

        `committed`: the reports in the branch's last commit. `theirs`: somebody else works in the
        tree while no process holds the run, so what is unfinished there stays.
        """
        self._commit_pending(committed, theirs=theirs)
        for report in self.hand_edits():
            self.tell(report)
        if not theirs and self._outside():
            self.keep()
            # A command that was killed may have left repositories, in which git would hide files.
            self.tree.remove_nested(untracked=True)
            saved = self.tree.rescue(f"{self.name}-{self.state.step}")
            self.notices.append(f"unfinished changes were put aside at {saved}")

    def _outside(self) -> tuple[str, ...]:
        return tuple(
            change.path
            for change in self.tree.status()
            if not change.path.startswith(f"{self.workspace.relative}/")
        )

    def _commit_pending(self, committed: bytes, *, theirs: bool) -> None:
        """Make the commit that a killed process did not come to: the same one, with the same
        files.
        """
        reports = self.workspace.reports()
        pending = [
            number
            for number in range(committed.count(b"\n"), len(reports))
            if not _rides_along(reports[number])
        ]
        if not pending:
            return
        report = reports[pending[-1]]
        # A run begins with its first report; before that there is no state, and the first one names
        # all that is needed.
        before = fold(self.pipeline, reports[: max(pending[-1], 1)])
        self._commit(
            report, before, () if theirs and not _of_task(report) else self._touched(report)
        )

    def _touched(self, report: Report) -> tuple[str, ...]:
        try:
            known = _TOUCHED.validate_json(self.places.touched.read_bytes())
        except (OSError, ValidationError):
            known = None
        if known is not None and known.key == report.key:
            return known.paths
        # Without that note (a state folder that is gone) what lies in the tree is the work that was
        # reported.
        return self._outside() if _of_task(report) else ()

    def hand_edits(self) -> Iterator[ArtifactChanged]:
        """Yield a report for each document that a person changed by hand while a question is open.

        A document that was changed while none is open gets its recorded version back.
        """
        being_written = self._being_written()
        for name, record in tuple(self.state.artifacts.items()):
            raw = self.workspace.read_bytes(name)
            if name in being_written or (raw is not None and blob_id(raw) == record.blob):
                continue
            if raw is None or self.state.gate is None or name == "request.md":
                raw = self._restored(name)
            if raw is not None and blob_id(raw) != record.blob and self.state.gate is not None:
                yield self._changed_by_hand(name, raw)

    def _being_written(self) -> set[str]:
        match self.action:
            case SpawnAgent(parallel_task_ids=tasks, output_file=name):
                return {name.replace("{task}", task) for task in tasks} if tasks else {name}
            case WriteFile(path=name):
                return {name}
            case Exec(operation="verify", artifact=name) if name is not None:
                return {name}
            case _:
                return set()

    def _restored(self, name: str) -> bytes | None:
        old = self.repository.read(self.ref, f"{self.workspace.relative}/{name}")
        if old is not None and old != self.workspace.read_bytes(name):
            self.workspace.write(name, old)
            self.notices.append(
                f"{name} was changed while no question was open; the recorded version is back"
            )
        return old

    def _editor(self, name: str, raw: bytes) -> str:
        """Return who made an edit: the author of its commit, or the user of this process."""
        path = f"{self.workspace.relative}/{name}"
        committed = self.repository.read(self.ref, path) == raw
        return (committed and self.tree.last_author(path)) or local_user()

    def _changed_by_hand(self, name: str, raw: bytes) -> ArtifactChanged:
        writer = next(
            (
                phase
                for phase in self.pipeline.phases
                if isinstance(phase, AnsweringPhase) and phase.writes == name
            ),
            None,
        )
        text = raw.decode("utf-8", "replace")
        inspection = Inspection()
        if isinstance(writer, AgentPhase) and writer.tasks:
            inspection = inspect(text, headings=(), tasks=True)
            inspection = inspection.model_copy(
                update={"tasks": self.rules.applied(inspection.tasks)}
            )
        if writer is not None:
            # Reads Markdown, which most of what is done with a run needs not.
            from forge_bot.runs.base_graph import with_graph

            plan = self.pipeline.approved_first
            plans = plan is not None and writer.id == plan.id
            facts = document_facts(text, plans=plans, carries=writer.carries)
            inspection = with_graph(
                self.repository,
                self.state.base_commit,
                inspection.model_copy(update=facts),
                text,
                plans=plans,
            )
        stamp = self.now()
        report = ArtifactChanged(
            key=f"{name}@{blob_id(raw)}@{stamp.isoformat()}",
            at=stamp,
            artifact=name,
            blob=blob_id(raw),
            inspection=inspection,
            by=self._editor(name, raw),
        )
        self.notices.append(
            f"{name} was changed by hand; the question is asked anew for this version"
        )
        if unseen := what_is_hidden(text):
            self.notices.append(
                f"{name} now holds what a reader is not shown: {unseen}; the question shows it as"
                " it is written"
            )
        return report


@contextmanager
def open_run(
    repository: Repository,
    info: RunInfo,
    config: Config,
    *,
    theirs: bool = False,
    ending: bool = False,
) -> Generator[Run]:
    """The run, locked for this process and settled. A work tree that is gone is made anew from the
    branch.

    With `theirs`, unfinished work in the tree is left where it is: the agents are not this
    process's. What they committed by themselves is refused, with ForeignCommits, unless the run is
    to be ended; what they added to the record is taken away.
    """
    with held_tree(repository, info) as (places, tree, mended):
        stands = _stands(repository, tree, info.branch)
        committed = repository.read(stands, f"{SPECS}/{info.name}/{REPORTS}") or b""
        known_head = LastKnownHead(places.known_head)
        left = known_head.at_rest if theirs else None
        workspace = Workspace(tree.path, info.name)
        notices = mended + workspace.mend(committed)
        notices += _without_strangers_lines(workspace, committed, left) if left is not None else ()
        run = Run(repository, tree, workspace, config, known_head)
        if left is not None and left.head != stands and not ending:
            notices += check_foreign_commits(repository, tree, info.name, run.action, left.head)
        run.notices[:0] = notices
        try:
            run.settle(committed, theirs=theirs)
            yield run
        finally:
            run.let_go(stands)


@contextmanager
def held_tree(
    repository: Repository, info: RunInfo
) -> Generator[tuple[RunPaths, Tree, tuple[str, ...]]]:
    """Lock a run for this process: its places, its work tree, and notices of what had to be done
    for that. Raise BranchRenamed.
    """
    refuse_renamed(info)
    places = run_paths(repository, info.name)
    with (
        told_when_full(places.written),
        held(places.lock, f"the run {info.name}", this_process()),
        stop_on_signals(),
    ):
        tree, notices = _tree(repository, info, places.tree)
        yield places, tree, notices + _free(tree, places.tree)


def refuse_renamed(info: RunInfo) -> None:
    """Raise BranchRenamed where another branch has the run's record."""
    if info.renamed:
        raise BranchRenamed(
            f"The run {info.name} belongs to the branch {info.branch}, which is called"
            f" {info.renamed} now.",
            remedy=GiveBranchBack(info.renamed, info.branch),
        )


def _tree(repository: Repository, info: RunInfo, place: Path) -> tuple[Tree, tuple[str, ...]]:
    """The run's work tree, made anew from its branch, or from a remote's, if there is none; what
    had to be done for that.
    """
    if info.tree is not None:
        repository.mend_worktree(info.tree)
        return Tree(info.tree), ()
    if info.remote:
        repository.take(info.tracking)
    if info.kept and not info.kept_on.endswith(RECORD_BRANCHES):
        raise NothingToRetry(
            f"The run {info.name} was merged into {info.kept_on}, and its branch {info.branch} is"
            " gone.",
            hint="forge-bot show reads its documents; for more work, begin a new run.",
        )
    if info.kept:
        advance_branch(repository.root, info.branch, head_of_record(repository, info.name))
    aside = repository.put_aside(place)
    notices = (
        (f"a work tree of a repository that is gone was put aside at {aside}",)
        if aside is not None
        else ()
    )
    return repository.add_worktree(place, info.branch, None), notices


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


def _free(tree: Tree, ours: Path) -> tuple[str, ...]:
    """Take away locks of dead git processes, in a tree that nobody but the run works in."""
    # Where the user works too, a lock may be held by an editor that waits for them.
    gone = tree.unlock() if ours.exists() and tree.path.samefile(ours) else ()
    return (f"locks that a killed git had left were taken away: {', '.join(gone)}",) if gone else ()


def _rides_along(report: Report) -> bool:
    """Return whether a report waits for the next one's commit.

    A preparation that asks a person stands for itself: its document has to be committed.
    """
    asks = isinstance(report, Prepared) and bool(report.unusable)
    return isinstance(report, _RIDES_ALONG) and not asks


def _of_task(report: Report) -> bool:
    """Return whether files outside of the workspace may belong to it."""
    return isinstance(report, ArtifactWritten) and report.task is not None
