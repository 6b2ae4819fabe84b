"""Runs the project's commands right after a task's edits, before a reviewer is asked.
The edits are made in the tree where commands judge, as a commit that is on no branch. What is newly
red, compared with the run's baseline, goes back to whoever made them.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from forge_bot.agent.assignment import TryOutcome
from forge_bot.engine.phases import DRAFT
from forge_bot.errors import CannotJudge
from forge_bot.git.commit_objects import commit_of_patch, commit_on
from forge_bot.runs.edit_checks.newly_red import JudgedEdits, NewlyRed, outcome_of
from forge_bot.runs.edit_checks.proof_by_tests import weakened_in
from forge_bot.runs.notifications import Message, Notify
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.store.run_folder import SPECS
from forge_bot.values import CommandName, CommandResult, TaskId
from forge_bot.verification.judgement import cause_of, newly_failing

Files = Sequence[tuple[str, bytes | None]]
"""Files by name as edits leave them; None for those that go."""


class EditTries:
    """Tries the edits of one run's tasks, one after the other."""

    def __init__(self, run: Run, project: Project, tell: Notify) -> None:
        self.run = run
        self.project = project
        self.tell = tell

    @property
    def possible(self) -> bool:
        """Return whether some test command gave a usable result before the change."""
        return self.run.config.tries.most > 0 and self._tested

    @property
    def _tested(self) -> bool:
        return any(result.name is CommandName.TEST for result in self._baseline())

    def _baseline(self) -> list[CommandResult]:
        """Return the results before the change that edits can be compared with."""
        state = self.run.state
        return [
            result
            for result in state.baseline
            if cause_of(result) is None
            and not any(command.covers(result) for command in state.unusable)
        ]

    def edits(self, tasks: Sequence[TaskId], base: str, files: Files, seconds: float) -> TryOutcome:
        """Run the commands on the edits of some tasks, made at a commit; at most for so long.

        Raises Interrupted where the commands were called off, and DiskFull.
        """
        repository = self.run.repository
        base = repository.commit_id(base)
        return self.outcome(tasks, base, commit_on(repository.root, base, files), seconds)

    def patch(self, task: TaskId, name: str, without: Sequence[str] = ()) -> TryOutcome:
        """Run the commands on a patch for a task that a person approved; they ran on a draft before
        it was shown. Raises GitFailed where it does not fit any more.
        """
        if not self.possible or name == DRAFT:
            return TryOutcome()
        repository, base = self.run.repository, self.run.tree.head().commit
        raw = self.run.workspace.read_bytes(name) or b""
        made = commit_of_patch(repository.root, base, raw, without)
        outcome = self.outcome(
            (task,), self._commit_before(task), made, self.run.config.tries.seconds
        )
        self.say((task,), outcome, "", last=True)
        return outcome

    def _commit_before(self, task: TaskId) -> str:
        """Return the commit that a task's answer was made on: its other files have landed."""
        commits = self.run.tree.commits(self.run.state.base_commit)
        own = (commit.id for commit in commits if ("Forge-Task", task) in commit.trailers)
        return self.run.repository.commit_id(f"{next(own)}^")

    def outcome(self, tasks: Sequence[TaskId], base: str, made: str, seconds: float) -> TryOutcome:
        """Run the commands on a commit that holds the edits of some tasks, at most for so long.

        Raises Interrupted where the commands were called off, and DiskFull.
        """
        ran = self._run_checks(tasks, base, made, seconds) if self._tested else TryOutcome()
        weakened = weakened_in(self.run, base, made)
        return ran.replace(weakened=(*weakened.unnamed, *weakened.named))

    def _mends(self, tasks: Sequence[TaskId]) -> bool:
        return any(state is not None and state.origin for state in map(self.run.state.task, tasks))

    def _run_checks(
        self, tasks: Sequence[TaskId], base: str, made: str, seconds: float
    ) -> TryOutcome:
        if any(result.exit_code != 0 for result in self.project.set_up()):
            return TryOutcome(untold="The setup failed.")
        began = time.monotonic()
        try:
            with self.project.trial(made) as place:
                edits = JudgedEdits(self.run, self.project, place, began + seconds)
                reds = [*edits.all_red(self._baseline())]
            if not self._mends(tasks) and self._has_changed_before(base):
                reds = [self._leave_out_earlier(red, base, edits.until) for red in reds]
        except CannotJudge as error:
            return TryOutcome(untold=error.message)
        return outcome_of(reds).replace(
            green=tuple(edits.green),
            ran=tuple(edits.ran),
            untold=" ".join(edits.untold),
            seconds=round(time.monotonic() - began, 3),
        )

    def _has_changed_before(self, base: str) -> bool:
        paths = self.run.tree.changed(self.run.state.base_commit, base)
        return any(not path.startswith(f"{SPECS}/") for path in paths)

    def _leave_out_earlier(self, red: NewlyRed, base: str, until: float) -> NewlyRed:
        """Return a command without failures that an earlier task left: they occur without the edits
        too.
        """
        left = until - time.monotonic()
        if red.now.timed_out or red.before.duration_ms / 1000 >= left:
            return red
        there = self.project.result_at(base, red.now.name, red.now.argv, left)
        new = newly_failing(there, red.now)
        return replace(red, failing=tuple(item for item in red.failing if item in new))

    def say(self, tasks: Sequence[TaskId], outcome: TryOutcome, agent: str, *, last: bool) -> None:
        """Show a person the outcome of a try, unless all is green."""
        several = "s" if len(tasks) > 1 else ""
        whose = f"task{several} {', '.join(tasks)}" if tasks else "the draft"
        if outcome.red:
            then = "the reviewer is told" if last else f"sent back to the {agent}"
            text = outcome.summary.replace(" red", f" red after the edits of {whose}", 1)
            self.tell(Message(text=f"{text}; {then}"))
        if outcome.untold:
            self.tell(Message(text=f"after the edits of {whose}: {outcome.untold}"))
