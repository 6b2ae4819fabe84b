"""An open run: its tree, its workspace and its state, and the only writer of its refs.

A run is two branches. The *run's branch* is the truth: its tree is that of the code branch, work
that is not accepted yet, and the record. The *code branch* is the one for merge: code only, one
commit for each task, made when the task is accepted and never again.

`record` makes one commit of a report, the state after it and the files that it is about. Where the
report accepts a task, it makes the commit of the code branch too, which becomes a second parent of
the first. Both branches are moved in one transaction, each from the commit at which it was seen. So
there is no report without its commit, and a branch that somebody else moved is never overwritten. A
code branch that is checked out, or that people moved, stays where it is until it is published; its
commits are safe on the run's branch. With `--here` the one that is checked out moves with its
files, where nobody's work is in the way.

The files of the record in the work tree, and the index, follow the run's branch: a process that is
killed between the two leaves old ones, which the next opening brings up to date.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from forge_bot.engine import Action, Pipeline, Report, SpawnAgent, State, advance, next_action
from forge_bot.engine.gates import UNASKED
from forge_bot.engine.reports import (
    Answer,
    Answered,
    ArtifactWritten,
    CommandsRan,
    PeopleCommitted,
    Prepared,
    Published,
    RunStarted,
)
from forge_bot.errors import RecordChanged
from forge_bot.git import Repository, Tree
from forge_bot.git.commit_history import first_parents
from forge_bot.git.commits import NewCommit, RefMove, commit_after, move_refs, tree_after
from forge_bot.git.revisions import tree_id
from forge_bot.git.uncommitted_work import StatusEntry
from forge_bot.interaction.merge_commit_message import who_answered
from forge_bot.prompts import escape
from forge_bot.runs.code_commits import (
    CODE,
    RUN,
    CodeCommits,
    CodeSoFar,
    accepted,
    code_branch_moves,
    code_so_far,
    move_checked_out,
)
from forge_bot.runs.evidence_of_run import EVIDENCE, evidence_file, statement
from forge_bot.runs.run_files import RunPaths, free_branch, run_paths
from forge_bot.runs.this_process import now
from forge_bot.settings.config import Config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store.run_folder import (
    REPORTS,
    STATE,
    Request,
    Workspace,
    read_reports,
    read_request,
    state_file,
)


class HandedFiles(NamedTuple):
    """The files of another process, as a tree, for the commit after one."""

    tree: str
    after: str


class Run:
    """One run, held by this process. Use `opened`."""

    def __init__(
        self, repository: Repository, tree: Tree, workspace: Workspace, config: Config
    ) -> None:
        self.repository = repository
        self.tree = tree
        self.name = workspace.name
        self.config = config
        self.places: RunPaths = run_paths(repository, workspace.name)
        self.workspace = workspace
        self.notices: list[str] = []
        self.hand_over: Callable[[str], None] | None = None
        """Where it is set, another process makes the commits: it is given the files of one as the
        id of a tree, and has made it when it returns.
        """
        first = self.workspace.reports()[0]
        pipeline = first.pipeline if isinstance(first, RunStarted) else config.pipeline
        self.pipeline: Pipeline = load_pipeline(pipeline, repository.root)
        self.state: State = self.workspace.state(self.pipeline)

    @property
    def request(self) -> Request:
        """The frozen request."""
        return read_request(self.workspace.read("request.md"))

    def artifact(self, name: str) -> str | None:
        """The text of an artifact, or None."""
        raw = self.workspace.read_bytes(name)
        return None if raw is None else raw.decode("utf-8", "replace")

    @property
    def ref(self) -> str:
        """The full ref of the run's branch, which no tag of the same name hides."""
        return f"refs/heads/{self.state.branch}"

    @property
    def action(self) -> Action:
        """Return the run's next action."""
        return next_action(self.pipeline, self.state)

    def now(self) -> datetime:
        """The time for a new report: the clock's, but never before the last report, should the
        clock have been set back.
        """
        return max(now(), self.state.updated_at)

    def tell(self, report: Report, paths: tuple[str, ...] = ()) -> State:
        """Apply a report to the state, record it, and commit it with the files that it is about."""
        state = advance(self.pipeline, self.state, report)
        if state is self.state:
            return state
        self.record(report, state, paths)
        return state

    def record(
        self,
        report: Report,
        state: State,
        paths: tuple[str, ...] = (),
        *,
        handed: HandedFiles | None = None,
    ) -> str:
        """Record a report and the state after it, with the workspace and the given paths; where it
        accepts a task, also on the code branch; where it is about people's commits, after the
        commit that merges them. The record in the work tree follows. Return the commit.

        Where another process works in the work tree, its files are `handed`, the record too: then
        the code branch is left to a later opening. Raises RecordChanged, with nothing recorded,
        where the branch has another record than ours, or is not where the handed files follow.
        """
        record = self.workspace.with_report(report, state)
        if isinstance(report, Published):
            record[EVIDENCE] = self._evidence(state, record[REPORTS])
        text = subject(report, self.state, self.pipeline)
        lines = trailers(report, self.state)
        new = self._new(text, lines, record, paths, handed)
        new = replace(new, when=report.at.isoformat())
        if isinstance(report, PeopleCommitted):
            self._newest()
            made = commit_after(self.tree.path, report.merged, new)
            self.tree.move_forward(made)
        else:
            accepts = handed is None and accepted(self.state, state)
            made = self._commit(new, state if accepts else None, handed)
        self.workspace.store(record)
        self.state = state
        return made

    def _evidence(self, state: State, recorded: bytes) -> bytes:
        """Return the statement about what was published just now."""
        reports, tip = read_reports(recorded, REPORTS), self.code_so_far().tip
        return evidence_file(statement(state, reports, recorded, tip))

    def keep(self, handed: HandedFiles | None = None) -> str:
        """Commit what the workspace has beside reports: questions that wait for a batch."""
        record = {REPORTS: self.workspace.recorded, STATE: state_file(self.state)}
        new = self._new(KEPT, [(RUN, self.name)], record, handed=handed)
        return self._commit(new, handed=handed)

    def put_on_code_branch(self) -> None:
        """Put accepted work on the code branch that it lacks: a worker's, and at the end of the run
        what people did beside the tasks.
        """
        self._commit(NewCommit(ACCEPTED, [(RUN, self.name)]), self.state)

    def code_so_far(self) -> CodeSoFar:
        """Return the code branch as the run's branch contains it."""
        base, head = self.state.base_commit, self.tree.commit_id()
        return code_so_far(self.state, first_parents(self.repository.root, base, head))

    def _new(
        self,
        text: str,
        lines: Sequence[tuple[str, str]],
        record: Mapping[str, bytes],
        paths: tuple[str, ...] = (),
        handed: HandedFiles | None = None,
    ) -> NewCommit:
        if handed is not None:
            return NewCommit(text, lines, tree=handed.tree)
        folder = self.workspace.relative
        contents = {f"{folder}/{name}": raw for name, raw in record.items()}
        return NewCommit(text, lines, (folder, *paths), contents)

    def _commit(
        self, new: NewCommit, accepts: State | None = None, handed: HandedFiles | None = None
    ) -> str:
        """Make a commit of the run, and that of the code branch where a state has accepted work;
        move both branches. Return the newest commit of the run's branch.
        """
        before = self._newest()
        if handed is not None and before != handed.after:
            raise RecordChanged(
                f"{self.state.branch} was moved by another process; nothing was recorded."
            )
        if self.hand_over is not None:
            files = tree_after(self.tree.path, before, new)
            if files != tree_id(self.tree.path, before):
                self.hand_over(files)
                self.tree.match_index(new.paths)
            return self.tree.commit_id()
        made, moves = commit_after(self.tree.path, before, new), list[RefMove]()
        tip = branch = ""
        if accepts is not None:
            code = CodeCommits(self.repository, self.pipeline, accepts, made, self.config)
            tip, branch = code.made(), code.so_far.branch
            if tip != code.so_far.tip:
                branch = branch or free_branch(self.repository, code.wanted_name())
                lines = (*new.trailers, (CODE, branch))
                new = replace(new, parents=(tip,), trailers=lines)
                made = commit_after(self.tree.path, before, new)
                moves = code_branch_moves(self.repository, branch, tip)
        if made != before:
            # From here, so that the reflog of this tree has it too.
            move_refs(self.tree.path, [RefMove(self.ref, made, before), *moves])
            if new.paths:
                self.tree.match_index(new.paths)
        if branch and accepts is not None and accepts.here:
            move_checked_out(self.repository, branch, tip)
        return made

    def _newest(self) -> str:
        """Return the newest commit of the branch, which is checked out and has our record. Raises
        RecordChanged.
        """
        head = self.tree.head()
        if head.branch != self.state.branch:
            raise RecordChanged(
                f"The run is on {self.state.branch}, but {head.branch} is checked out in "
                f"{self.tree.path}; nothing was recorded."
            )
        place = f"{self.workspace.relative}/{REPORTS}"
        if (self.repository.read(head.commit, place) or b"") != self.workspace.recorded:
            raise RecordChanged(
                f"{place} on {head.branch} was changed by another program while this process "
                "worked; nothing was recorded."
            )
        return head.commit

    def wave_base(self, action: SpawnAgent) -> str:
        """Return the commit at which a wave was handed out: the one before its first task's."""
        commits = self.tree.commits(self.state.base_commit)
        ours = (ACTION, action.action_id)
        made = [number for number, commit in enumerate(commits) if ours in commit.trailers]
        older = commits[made[-1] + 1 :] if made else commits
        return older[0].id if older else self.state.base_commit

    def outside(self, changes: Sequence[StatusEntry]) -> tuple[str, ...]:
        """Return those of the uncommitted changes that are outside of the record."""
        record = f"{self.workspace.relative}/"
        return tuple(change.path for change in changes if not change.path.startswith(record))


ACTION = "Forge-Action"
"""The trailer by which the commits of one wave are found again."""

KEPT = "forge-bot: keep the record"
"""The subject of a commit without a report."""

ACCEPTED = "forge-bot: put accepted work on the code branch"
"""The subject of a commit that records what the code branch lacked."""

Trailers = tuple[tuple[str, str], ...]


def subject(report: Report, before: State, pipeline: Pipeline) -> str:
    """The first line of the commit's message."""
    match report:
        case RunStarted():
            return start_subject(report.title)
        case Answered():
            return f"forge-bot: {report.gate} {report.answer.value}"
        case ArtifactWritten() | Prepared() | CommandsRan() | Published():
            task = report.task if isinstance(report, ArtifactWritten) else None
            label = pipeline.phase(before.current_phase).label
            return f"forge-bot: {label}{f', task {task}' if task else ''}"
        case _:
            return f"forge-bot: {report.type.replace('_', ' ')}"


def start_subject(title: str) -> str:
    """Return the subject of a run's first commit. The title is a stranger's."""
    return f"forge-bot: start “{escape.heading(title)}”"


def trailers(report: Report, before: State) -> Trailers:
    """Return the trailers of a report's commit: run, phase, task, approval."""
    phase = report.phase if isinstance(report, ArtifactWritten) else before.current_phase
    pairs = [("Forge-Run", before.run), ("Forge-Phase", str(phase))]
    if isinstance(report, ArtifactWritten) and report.task is not None:
        pairs += [("Forge-Task", str(report.task)), (ACTION, report.action_id)]
    given = {Answer.APPROVE, Answer.DONE, Answer.SKIP}
    if isinstance(report, Answered) and report.answer in given and report.via != UNASKED:
        pairs.append(("Approved-by", who_answered(report.by, report.via)))
    return tuple(pairs)
