"""An open run: its tree, its workspace, its state, and how reports become commits."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from forge_bot.engine import Action, Pipeline, Report, SpawnAgent, State, advance, fold, next_action
from forge_bot.engine.reports import (
    AgentFailed,
    ArtifactChanged,
    ArtifactWritten,
    GateShown,
    Prepared,
    RunStarted,
)
from forge_bot.errors import ForgeError
from forge_bot.git import Repository, Tree
from forge_bot.git.changes import StatusEntry
from forge_bot.runs.commit_message import ACTION, subject, trailers
from forge_bot.runs.last_known_head import LastKnownHead
from forge_bot.runs.run_paths import RunPaths, read_kept, run_paths
from forge_bot.runs.standing_rules import rules_at
from forge_bot.runs.wall_clock import now
from forge_bot.settings import Config
from forge_bot.settings.instructions import Rules
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import Request, Workspace, read_request, write_whole
from forge_bot.store.run_folder import REPORTS, STATE
from forge_bot.values import Frozen

_RIDES_ALONG = GateShown | ArtifactChanged | AgentFailed | Prepared
"""Reports without a commit of their own; they are committed with the next one."""


_KEPT = "forge-bot: keep the record"


class _Touched(Frozen):
    """The files outside the workspace that belong to the commit of a report; written before the
    report.
    """

    key: str
    paths: tuple[str, ...]


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
        self.pipeline: Pipeline = load_pipeline(pipeline, repository.root)
        loaded = self.workspace.load(self.pipeline)
        self.state: State = loaded.state
        if loaded.refolded:
            self.notices.append(loaded.refolded)

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

    def tell(self, report: Report, paths: tuple[str, ...] = ()) -> State:
        """Apply a report to the state, record it, and commit it with the files that it is about."""
        state = advance(self.pipeline, self.state, report)
        if state is self.state:
            return state
        self.record(report, state, paths)
        return state

    def record(self, report: Report, state: State, paths: tuple[str, ...] = ()) -> None:
        """Store a new state: on disk, then in a commit with the workspace and the given paths."""
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
        """Commit reports that wait for a commit: somebody may continue the branch elsewhere."""
        self.known_head.begin()
        self.tree.commit(_KEPT, [("Forge-Run", self.name)], (self.workspace.relative,))

    def move_forward(self, commit: str) -> None:
        """Continue the run from a commit that contains all of its commits. Raises GitFailed."""
        self.known_head.begin()
        self.tree.move_forward(commit)

    def keep_record(self) -> None:
        """Commit waiting reports, so that the tree is clean for whoever works in it."""
        if self._riding:
            self.known_head.begin()
            record = (f"{self.workspace.relative}/{REPORTS}", f"{self.workspace.relative}/{STATE}")
            self.tree.commit(_KEPT, [("Forge-Run", self.name)], record)
            self._riding = False

    def wave_base(self, action: SpawnAgent) -> str:
        """Return the commit at which an action was handed out: the newest one that none of its
        tasks made, and no record that was kept meanwhile.
        """
        return next(
            (
                commit.id
                for commit in self.tree.commits(self.state.base_commit)
                if (ACTION, action.action_id) not in commit.trailers and commit.subject != _KEPT
            ),
            self.state.base_commit,
        )

    def _commit(self, report: Report, before: State, paths: tuple[str, ...]) -> None:
        self.known_head.begin()
        text, said = subject(report, before, self.pipeline), trailers(report, before, self.pipeline)
        self.tree.commit(text, said, (self.workspace.relative, *paths), when=report.at.isoformat())
        # Nothing follows the last report of a process that would notice.
        self.workspace.check_unchanged()

    def let_go(self, stands: str) -> None:
        """Note the state in which the run is left. `stands` is the commit of its branch when the
        run was opened.
        """
        left = self.known_head.left
        if not self.known_head.begun and left is not None and left.head == stands:
            return
        # A failed note counts as unfinished work, so no foreign commits are reported.
        with suppress(ForgeError, OSError):
            head = self.repository.commit_id(self.ref)
            self.known_head.leave(head, self.workspace.content)

    def outside(self, changes: Sequence[StatusEntry] | None = None) -> tuple[str, ...]:
        """Return the uncommitted changes outside of the record, of those that are known or of all
        that git sees.
        """
        return tuple(
            change.path
            for change in (self.tree.status() if changes is None else changes)
            if not change.path.startswith(f"{self.workspace.relative}/")
        )

    def commit_pending(self, committed: bytes, *, external_worktree: bool) -> None:
        """Make the commit that a killed process did not make: the same one, with the same files."""
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
            report,
            before,
            () if external_worktree and not _of_task(report) else self._touched(report),
        )

    def _touched(self, report: Report) -> tuple[str, ...]:
        known = read_kept(self.places.touched, _Touched)
        if known is not None and known.key == report.key:
            return known.paths
        # Without that note (a state folder that is gone) what lies in the tree is the work that was
        # reported.
        return self.outside() if _of_task(report) else ()


def _rides_along(report: Report) -> bool:
    """Return whether a report waits for the commit of the next one.

    A preparation that asks a person has its own commit, because its document has to be committed.
    """
    asks = isinstance(report, Prepared) and bool(report.unusable)
    return isinstance(report, _RIDES_ALONG) and not asks


def _of_task(report: Report) -> bool:
    """Return whether files outside of the workspace may belong to it."""
    return isinstance(report, ArtifactWritten) and report.task is not None
