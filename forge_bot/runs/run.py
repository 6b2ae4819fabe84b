"""A run that is open: its tree, its workspace, its state, and how reports become commits."""

from collections.abc import Generator
from contextlib import contextmanager

from forge_bot.checkout import Repository, Tree, blob_id
from forge_bot.engine import Action, Pipeline, Report, SpawnAgent, State, WriteFile, advance, next_action
from forge_bot.engine.artifacts import inspect
from forge_bot.engine.pipeline import AgentPhase
from forge_bot.engine.reports import (
    Abandoned,
    AgentFailed,
    Answer,
    Answered,
    ArtifactChanged,
    ArtifactWritten,
    Asked,
    BudgetRaised,
    CommandsRan,
    GateShown,
    Prepared,
    Published,
    RetryAsked,
    RunStarted,
)
from forge_bot.engine.values import Inspection
from forge_bot.runs.clock import now
from forge_bot.runs.find import RunInfo
from forge_bot.runs.places import Places, places
from forge_bot.settings import Config, load_pipeline
from forge_bot.workspace import Request, Workspace, held, read_request

_ACTION = "Forge-Action"

_RIDES_ALONG = GateShown | ArtifactChanged | AgentFailed | Prepared
"""Reports that are committed with the next one that stands for itself."""


class Run:
    """One run, held by this process. Use `opened`."""

    def __init__(self, repository: Repository, tree: Tree, name: str, config: Config) -> None:
        self.repository = repository
        self.tree = tree
        self.name = name
        self.config = config
        self.places: Places = places(repository, name)
        self.workspace = Workspace(tree.path, name)
        self.notices: list[str] = []
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
    def action(self) -> Action:
        """What the run asks for now."""
        return next_action(self.pipeline, self.state)

    # -- telling ---------------------------------------------------------------------------------------------------

    def tell(self, report: Report, paths: tuple[str, ...] = ()) -> State:
        """Fold a report, record it, and commit it with the files it is about."""
        state = advance(self.pipeline, self.state, report)
        if state is self.state:
            return state
        self.record(report, state, paths)
        return state

    def record(self, report: Report, state: State, paths: tuple[str, ...] = ()) -> None:
        """Make an advanced state the run's own: on disk first, then in a commit."""
        before = self.state
        self.workspace.record(report, state)
        self.state = state
        if not isinstance(report, _RIDES_ALONG):
            self._commit(report, before, paths)

    def keep(self) -> None:
        """Commit what was told and rides along with nothing yet: somebody may go on with the branch elsewhere."""
        self.tree.commit("forge-bot: keep the record", [("Forge-Run", self.name)], (self.workspace.relative,))

    def wave_base(self, action: SpawnAgent) -> str:
        """The commit at which a wave was handed out: the newest one that none of its tasks made."""
        commits = self.tree.commits(self.state.base_commit)
        return next((commit.id for commit in commits if (_ACTION, action.action_id) not in commit.trailers), self.state.base_commit)

    def _commit(self, report: Report, before: State, paths: tuple[str, ...]) -> None:
        phase = report.phase if isinstance(report, ArtifactWritten) else before.current_phase
        trailers = [("Forge-Run", self.name), ("Forge-Phase", phase), *_of_task(report)]
        if inputs := self._inputs(before):
            trailers.append(("Forge-Inputs", inputs))
        if isinstance(report, Answered) and report.answer in {Answer.APPROVE, Answer.DONE, Answer.SKIP}:
            trailers.append(("Approved-by", f"{report.by} via {report.via}"))
        every = (self.workspace.relative, *paths)
        self.tree.commit(_subject(report, before, self.pipeline), trailers, every, when=report.at.isoformat())

    def _inputs(self, state: State) -> str:
        action = next_action(self.pipeline, state)
        if not isinstance(action, SpawnAgent):
            return ""
        return " ".join(f"{name}@{state.artifacts[name].blob[:12]}" for name in action.input_files if name in state.artifacts)

    # -- what happened while nobody held the run -------------------------------------------------------------------

    def settle(self) -> None:
        """Bring disk, state and branch into agreement after a crash, or after a person edited artifacts by hand."""
        reports = self.workspace.reports()
        committed = self.repository.read(self.state.branch, f"{self.workspace.relative}/reports.jsonl") or b""
        pending = [report for report in reports[committed.count(b"\n") :] if not isinstance(report, _RIDES_ALONG)]
        if pending:
            # Killed between the record and its commit: all that lies in the tree belongs to that report.
            self.tree.commit(_subject(pending[-1], self.state, self.pipeline), [("Forge-Run", self.name), *_of_task(pending[-1])], None)
        self._note_hand_edits()
        outside = [change.path for change in self.tree.status() if not change.path.startswith(f"{self.workspace.relative}/")]
        if outside:
            self.keep()
            saved = self.tree.rescue(f"{self.name}-{self.state.step}")
            self.notices.append(f"unfinished changes were put aside at {saved}")

    def _note_hand_edits(self) -> None:
        action = self.action
        being_written = {action.output_file} if isinstance(action, SpawnAgent) else set[str]()
        if isinstance(action, SpawnAgent) and action.parallel_task_ids:
            being_written = {action.output_file.replace("{task}", task) for task in action.parallel_task_ids}
        if isinstance(action, WriteFile):
            being_written = {action.path}
        for name, record in self.state.artifacts.items():
            raw = self.workspace.read_bytes(name)
            if name in being_written or name == "request.md" or (raw is not None and blob_id(raw) == record.blob):
                continue
            if raw is None or self.state.gate is None:
                self._restore(name)
            else:
                self._changed_by_hand(name, raw)

    def _restore(self, name: str) -> None:
        old = self.repository.read(self.state.branch, f"{self.workspace.relative}/{name}")
        if old is not None:
            self.workspace.write(name, old.decode("utf-8", "replace"))
            self.notices.append(f"{name} was changed while no question was open; the recorded version is back")

    def _changed_by_hand(self, name: str, raw: bytes) -> None:
        writer = next((phase for phase in self.pipeline.phases if isinstance(phase, AgentPhase) and phase.writes == name), None)
        text = raw.decode("utf-8", "replace")
        inspection = inspect(text, headings=(), tasks=True) if writer is not None and writer.tasks else Inspection()
        stamp = now()
        report = ArtifactChanged(
            key=f"{name}@{blob_id(raw)}@{stamp.isoformat()}",
            at=stamp,
            artifact=name,
            blob=blob_id(raw),
            inspection=inspection,
            by="a person",
        )
        self.tell(report)
        self.notices.append(f"{name} was changed by hand; the question is asked anew for this version")


@contextmanager
def opened(repository: Repository, info: RunInfo, config: Config) -> Generator[Run]:
    """The run, locked for this process and settled. A work tree that is gone is made anew from the branch."""
    spots = places(repository, info.name)
    with held(spots.lock, f"the run {info.name}"):
        tree = Tree(info.tree) if info.tree is not None else repository.add_worktree(spots.tree, info.branch, None)
        run = Run(repository, tree, info.name, config)
        run.settle()
        yield run


def _of_task(report: Report) -> tuple[tuple[str, str], ...]:
    """Trailers by which the commits of a task, and of a wave, are found again."""
    if not isinstance(report, ArtifactWritten) or report.task is None:
        return ()
    return (("Forge-Task", report.task), (_ACTION, report.action_id))


def _subject(report: Report, before: State, pipeline: Pipeline) -> str:
    label = pipeline.phase(before.current_phase).label
    match report:
        case RunStarted():
            return f"forge-bot: start “{report.title}”"
        case ArtifactWritten(task=task) if task is not None and (known := before.task(task)) is not None:
            what = "review of " if known.status.value == "implemented" else ""
            return f"forge-bot: {what}task {task}, {known.spec.title}"
        case ArtifactWritten():
            return f"forge-bot: {label}"
        case Answered():
            return f"forge-bot: {report.gate} {report.answer.value}"
        case CommandsRan():
            return "forge-bot: the project's commands ran"
        case RetryAsked():
            return f"forge-bot: retry {report.phase}"
        case Asked():
            return "forge-bot: a question was asked"
        case Abandoned():
            return "forge-bot: abandoned"
        case BudgetRaised():
            return "forge-bot: more budget"
        case Published():
            return f"forge-bot: {label}"
        case _:
            return f"forge-bot: {label}"
