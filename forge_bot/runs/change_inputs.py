"""Turns the changes of a run into inputs of a prompt: diffs, names, and the command that shows
them.
"""

import shlex
from collections.abc import Collection
from typing import assert_never

from forge_bot.engine.phase_rows import in_task_order
from forge_bot.engine.phases import AnsweringPhase
from forge_bot.engine.state import TaskState
from forge_bot.prompts.material import InputFile
from forge_bot.runs.merge_into_run import newest_base
from forge_bot.runs.run import Run
from forge_bot.store import SPECS

_DIFF_SHOWN = 120_000

_SHORT_ID = 12


class ChangeInputs:
    """The changes of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def inputs(self, now: str, phase: AnsweringPhase, task: TaskState | None) -> list[InputFile]:
        """Return the inputs on the changes up to the commit `now`."""
        match phase.changes:
            case "task":
                return [self._task_diff(task, now)]
            case "run":
                return [self.whole(now)]
            case "names":
                files = self._diff("files the run changed", self.base, now, stat=True)
                return [files, InputFile(name="log of the run", text=self.log(), kind="output")]
            case "none":
                return []
            case _:
                assert_never(phase.changes)

    @property
    def base(self) -> str:
        """The newest commit of the base branch that the run has."""
        return newest_base(self.run)

    def whole(self, now: str) -> InputFile:
        """Return all changes of the run up to the commit `now`."""
        return self._diff("all changes of the run", self.base, now)

    def paths(self, now: str) -> tuple[str, ...]:
        """Return the files that the run changed, without its own record."""
        changed = self.run.tree.changed(self.base, now)
        return tuple(path for path in changed if not path.startswith(f"{SPECS}/"))

    def log(self) -> str:
        """Return the events so far, one line for each report."""
        lines: list[str] = []
        state = self.run.state
        for entry in in_task_order(state.log, [task.spec.id for task in state.tasks]):
            task = f" task {entry.task}" if entry.task is not None else ""
            calls = (
                f" ({entry.usage.calls} model calls)"
                if entry.usage is not None and entry.usage.calls
                else ""
            )
            lines.append(f"{entry.phase}{task}: {entry.event}{calls}")
        return "\n".join(lines)

    def _diff(
        self,
        name: str,
        base: str,
        now: str,
        *,
        of: Collection[str] | None = None,
        stat: bool = False,
    ) -> InputFile:
        tree = self.run.tree
        changed = [
            path
            for path in tree.changed(base, now)
            if not path.startswith(f"{SPECS}/") and (of is None or path in of)
        ]
        text = (
            tree.diff(base, now, changed, stat=stat, max_bytes=_DIFF_SHOWN)
            if changed
            else "Nothing was changed outside the run's own record."
        )
        return InputFile(name=name, text=text, kind="diff")

    def _task_diff(self, task: TaskState | None, now: str) -> InputFile:
        """Return the change of one task: the files of its commits, from before the first of them.
        Other tasks' files stay out.
        """
        if task is None:
            return self._diff("changes of the run", self.base, now)
        before, paths = self._task_changes(task)
        return self._diff(f"changes of task {task.spec.id}", before, now, of=paths)

    def _task_changes(self, task: TaskState) -> tuple[str, set[str] | None]:
        """Return the commit before a task's first one, and the files its commits changed.

        They are None, for all files, if it made no commit.
        """
        base, tree = self.run.state.base_commit, self.run.tree
        mine = [
            commit
            for commit in tree.commits(base)
            if ("Forge-Task", task.spec.id) in commit.trailers
        ]
        paths = {path for commit in mine for path in tree.changed(f"{commit.id}^", commit.id)}
        return (self.run.repository.commit_id(f"{mine[-1].id}^"), paths) if mine else (base, None)

    def command(self, task: TaskState | None, phase: AnsweringPhase) -> str:
        """Return the command by which an agent can show the changes for a phase itself; empty if
        the phase does not need changes.
        """
        if phase.changes == "none":
            return ""
        before, paths = (
            self._task_changes(task)
            if phase.changes == "task" and task is not None
            else (self.base, None)
        )
        named = sorted(path for path in paths or () if not path.startswith(f"{SPECS}/"))
        return shlex.join(
            ["git", "diff", before[:_SHORT_ID], "HEAD", "--", *(named or (".", f":!{SPECS}"))]
        )
