"""An open run: its tree, its workspace and its state, and the only writer of its record.

The run's branch is the truth. `record` makes one commit of a report, the state after it and the
files that it is about, and moves the branch from the commit at which it was seen. So there is no
report without its commit. The files of the record in the work tree follow the branch: a process
that is killed between the two leaves old ones, which the next opening brings up to date.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from forge_bot.engine import Action, Pipeline, Report, SpawnAgent, State, advance, next_action
from forge_bot.engine.reports import RunStarted
from forge_bot.errors import RecordChanged
from forge_bot.git import Repository, Tree
from forge_bot.git.changes import StatusEntry
from forge_bot.git.commits import NewCommit, RefMove, commit_after, match_index, move_refs
from forge_bot.runs.commit_message import ACTION, KEPT, subject, trailers
from forge_bot.runs.run_paths import RunPaths, run_paths
from forge_bot.runs.standing_rules import rules_at
from forge_bot.runs.wall_clock import now
from forge_bot.settings import Config
from forge_bot.settings.instructions import Rules
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import Request, Workspace, read_request
from forge_bot.store.run_folder import REPORTS, STATE, state_file


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
        self._decided: tuple[State, Action] | None = None
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
        """Record a report and the state after it: one commit on the run's branch, with the
        workspace and the given paths; then the record in the work tree.

        Raises RecordChanged, with nothing recorded, where the branch has another record than ours.
        """
        record = self.workspace.with_report(report, state)
        text = subject(report, self.state, self.pipeline)
        lines = trailers(report, self.state, self.pipeline)
        self._commit(text, lines, record, paths, report.at.isoformat())
        self.workspace.store(record)
        self.state = state

    def keep(self) -> None:
        """Commit what the workspace has beside reports: questions that wait for a batch."""
        record = {REPORTS: self.workspace.recorded, STATE: state_file(self.state)}
        self._commit(KEPT, [("Forge-Run", self.name)], record)

    def _commit(
        self,
        text: str,
        lines: Sequence[tuple[str, str]],
        record: Mapping[str, bytes],
        paths: tuple[str, ...] = (),
        when: str | None = None,
    ) -> None:
        folder, before = self.workspace.relative, self._newest()
        contents = {f"{folder}/{name}": raw for name, raw in record.items()}
        new = NewCommit(text, lines, (folder, *paths), contents, when=when)
        made = commit_after(self.tree.path, before, new)
        if made != before:
            move_refs(self.repository.root, [RefMove(self.ref, made, before)])
            match_index(self.tree.path, new.paths)

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

    def move_forward(self, commit: str) -> None:
        """Continue the run from a commit that contains all of its commits. Raises GitFailed."""
        self.tree.move_forward(commit)

    def wave_base(self, action: SpawnAgent) -> str:
        """Return the commit at which a wave was handed out: the one before its first task's."""
        commits = self.tree.commits(self.state.base_commit)
        ours = (ACTION, action.action_id)
        made = [number for number, each in enumerate(commits) if ours in each.trailers]
        older = commits[made[-1] + 1 :] if made else commits
        return older[0].id if older else self.state.base_commit

    def outside(self, changes: Sequence[StatusEntry] | None = None) -> tuple[str, ...]:
        """Return the uncommitted changes outside of the record, of those that are known or of all
        that git sees.
        """
        return tuple(
            change.path
            for change in (self.tree.status() if changes is None else changes)
            if not change.path.startswith(f"{self.workspace.relative}/")
        )
