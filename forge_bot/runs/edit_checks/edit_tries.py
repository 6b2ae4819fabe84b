"""Runs the project's commands right after a task's edits, before a reviewer is asked.

The edits are made in the tree where commands judge, as a commit that is on no branch. What is newly
red, compared with the run's baseline, goes back to whoever made them; so do rules of the project's
manifest that they break.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath

from forge_bot.agent.tries import TryOutcome, named, with_formatting
from forge_bot.artifacts.test_paths import is_test_file
from forge_bot.artifacts.waves import shared_file
from forge_bot.engine.next_action import held_patch_name
from forge_bot.engine.state import State, TaskStatus
from forge_bot.errors import CannotJudge
from forge_bot.git.commit_objects import commit_of_patch, commit_on
from forge_bot.knowledge.affected_tests import is_code, reaches
from forge_bot.knowledge.file_links import file_links
from forge_bot.runs.base_graph import broken_rules, has_rules
from forge_bot.runs.edit_checks.formatted_edits import FormattedEdits
from forge_bot.runs.edit_checks.newly_red import NOT_RUN, JudgedEdits, NewlyRed, outcome_of
from forge_bot.runs.edit_checks.without_change import (
    RunsWithoutChange,
    only_tests,
    tasks_between,
    without_change,
)
from forge_bot.runs.notifications import Message, Notify
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.store import SPECS
from forge_bot.values import CommandName, CommandResult, TaskId
from forge_bot.verification.judgement import newly_failing
from forge_bot.verification.unusable_commands import cause_of

Files = Sequence[tuple[str, bytes | None]]
"""Files by name as the edits leave them; None for those that go."""

_DONE = {TaskStatus.PASSED, TaskStatus.SKIPPED}


class _PendingTasks:
    """The unfinished tasks beside those whose edits are tried.

    A failure in a file that such a task declares is left to that task. So is a failure in a test of
    these edits that uses such a file.
    """

    def __init__(
        self, state: State, tasks: Sequence[TaskId], paths: frozenset[str], texts: Mapping[str, str]
    ) -> None:
        """Take the tasks whose edits are tried, the paths of the edits, and the code after them."""
        self.paths = paths
        self.texts = texts
        self.specs = [
            task.spec
            for task in state.tasks
            if task.spec.id not in tasks and task.status not in _DONE and task.spec.files
        ]

    def owns(self, item: str, words: str) -> bool:
        """Return whether a failing test belongs to one of these tasks, by its name and the
        command's output.
        """
        path = self._place(item, words)
        if not path:
            return False
        if path not in self.paths:
            return self._declares(path)
        if not is_test_file(path):
            return False
        wanted = self._wanted
        stems = "|".join(re.escape(PurePosixPath(each).stem) for each in wanted)
        return reaches(path, wanted, self._links) or (
            bool(stems) and re.search(rf"\b(?:{stems})\b", words) is not None
        )

    def _place(self, item: str, words: str) -> str:
        """Return the file of a failing test or a complaint: named in its name, or in its words."""
        here = sorted(self.texts, key=lambda path: (not is_test_file(path), path))
        named_in_it = (
            path
            for path in here
            if path in item or path.rpartition(".")[0].replace("/", ".") in item
        )
        told = (path for path in here if is_test_file(path) and PurePosixPath(path).name in words)
        return next(named_in_it, "") or next(told, "")

    def _declares(self, path: str) -> bool:
        return any(shared_file((path,), spec.files) is not None for spec in self.specs)

    @cached_property
    def _wanted(self) -> frozenset[str]:
        named_there = {path for spec in self.specs for path in spec.files if is_code(path)}
        there = {path for path in self.texts if self._declares(path)}
        return frozenset((named_there | there) - self.paths)

    @cached_property
    def _links(self) -> dict[str, tuple[str, ...]]:
        return file_links({**dict.fromkeys(self._wanted, ""), **self.texts})


class EditTries:
    """Tries the edits of one run's tasks, one after the other."""

    def __init__(self, run: Run, project: Project, tell: Notify) -> None:
        self.run = run
        self.project = project
        self.tell = tell
        self._at_base: dict[tuple[str, tuple[str, ...]], CommandResult] = {}

    @property
    def possible(self) -> bool:
        """Return whether some test command gave a usable result before the change, or there are
        rules or a formatter.
        """
        run = self.run
        return run.config.tries.most > 0 and (
            self._tested
            or bool(self.project.profile.commands.format)
            or has_rules(run.repository, run.state.base_commit)
        )

    @property
    def _tested(self) -> bool:
        return any(result.name is CommandName.TEST for result in self._baseline())

    def _baseline(self) -> list[CommandResult]:
        """Return the results before the change that edits can be compared with."""
        state = self.run.state
        return [
            result
            for result in state.baseline
            if cause_of(result) is None and not any(each.covers(result) for each in state.unusable)
        ]

    def edits(
        self,
        tasks: Sequence[TaskId],
        base: str,
        files: Files,
        seconds: float,
        modes: dict[str, str] | None = None,
    ) -> TryOutcome:
        """Run the commands on the edits of some tasks, made at a commit; at most for so long.

        Raises Interrupted where the commands were called off, and DiskFull.
        """
        repository = self.run.repository
        base = repository.commit_id(base)
        made = commit_on(repository.root, base, files, modes)
        own = FormattedEdits(self.run, self.project, base, files, seconds)
        own.run_in(made)
        own.say()
        if own.files:
            made = commit_on(repository.root, base, with_formatting(files, own.files), modes)
        outcome = self.outcome(tasks, base, made, seconds - own.spent)
        outcome = self._with_proof(tasks, made, outcome, seconds - own.spent)
        return outcome.replace(
            formatted=tuple(own.files),
            formatting=tuple(own.facts),
            seconds=round(outcome.seconds + own.spent, 3),
        )

    def patch(self, task: TaskId, without: Sequence[str] = ()) -> TryOutcome:
        """Run the commands on the patch of a task that a person approved. Raises GitFailed where it
        does not fit any more.
        """
        if not self.possible:
            return TryOutcome()
        repository, base = self.run.repository, self.run.tree.head().commit
        raw = self.run.workspace.read_bytes(held_patch_name(task)) or b""
        made = commit_of_patch(repository.root, base, raw, without)
        seconds = self.run.config.tries.seconds
        outcome = self.outcome((task,), self._commit_before(task), made, seconds)
        outcome = self._with_proof((task,), made, outcome, seconds)
        self.say((task,), outcome, "", last=True)
        return outcome

    def _commit_before(self, task: TaskId) -> str:
        """Return the commit that a task's answer was made on: its other files have landed."""
        commits = self.run.tree.commits(self.run.state.base_commit)
        own = (commit.id for commit in commits if ("Forge-Task", task) in commit.trailers)
        return self.run.repository.commit_id(f"{next(own)}^")

    def outcome(self, tasks: Sequence[TaskId], base: str, made: str, seconds: float) -> TryOutcome:
        """Run the commands on a commit that holds the edits of some tasks, at most for so long, and
        look at the rules.

        Raises Interrupted where the commands were called off, and DiskFull.
        """
        ran = self._ran(tasks, base, made, seconds) if self._tested else TryOutcome()
        # A task that mends something has to mend it.
        since = self.run.state.base_commit if self._mends(tasks) else base
        return ran.with_rules(broken_rules(self.run.repository, since, made))

    def _mends(self, tasks: Sequence[TaskId]) -> bool:
        return any(state is not None and state.origin for state in map(self.run.state.task, tasks))

    def _ran(self, tasks: Sequence[TaskId], base: str, made: str, seconds: float) -> TryOutcome:
        if any(result.exit_code != 0 for result in self.project.set_up()):
            return TryOutcome(untold="The setup failed.")
        paths = frozenset(self.run.tree.changed(base, made))
        began = time.monotonic()
        try:
            with self.project.trial(made) as place:
                edits = JudgedEdits(self.run, self.project, place, made, paths, began + seconds)
                found = [*edits.all_red(self._baseline())]
            found = [self._surely(red, tasks, base, edits) for red in found]
            if left_out := [red.before for red in found if red.is_part and not red.failing]:
                # What failed was the part alone, so the others have not run yet.
                with self.project.trial(made):
                    whole = [*map(edits.whole, left_out)]
                found += [self._surely(red, tasks, base, edits) for red in whole if red is not None]
        except CannotJudge as error:
            return TryOutcome(untold=error.message)
        pending = _PendingTasks(self.run.state, tasks, paths, edits.texts)
        theirs = [
            item
            for red in found
            for item in red.failing
            if pending.specs and pending.owns(item, red.words_on(item))
        ]
        told = outcome_of([red.without(theirs) for red in found])
        spent = round(time.monotonic() - began, 3)
        return told.replace(
            elsewhere=tuple(theirs),
            green=tuple(edits.green),
            ran=tuple(edits.ran),
            untold=" ".join(edits.untold),
            seconds=spent,
        )

    def _with_proof(
        self, tasks: Sequence[TaskId], made: str, outcome: TryOutcome, seconds: float
    ) -> TryOutcome:
        """Return a green outcome with what the tests of the edits do without the rest of them. For
        a task that mends something, the whole change of the run is left out.
        """
        if outcome.red or not outcome.seconds:
            return outcome
        mine = None if self._mends(tasks) else tasks
        only = only_tests(self.run, made, tasks=mine, tried=made)
        if only is None or only.is_whole:
            return outcome
        began = time.monotonic()
        runs = RunsWithoutChange(self.run, self.project, only)
        until = began + seconds - outcome.seconds
        found = without_change(runs, self._baseline(), outcome.elsewhere, until)
        spent = round(outcome.seconds + time.monotonic() - began, 3)
        return outcome.replace(without=found, seconds=spent)

    def beside_others(
        self, task: TaskId, base: str, files: Files, tries: Sequence[TryOutcome]
    ) -> TryOutcome:
        """Return the last outcome of a task that lands, corrected for the tasks of its wave that
        have landed by now.

        Failures that are gone beside those tasks are left out. The commands that ran beside them
        are added, and what tests of a task without code do without those tasks.
        """
        last, left = tries[-1], self.run.config.tries.seconds - sum(each.seconds for each in tries)
        if left <= 0 or self.run.repository.commit_id(base) == self.run.tree.head().commit:
            return last
        ours = self.run.repository.commit_id(self.run.ref)
        made = commit_on(self.run.repository.root, ours, files)
        now = self.outcome((task,), ours, made, left)
        still = {*now.red, *now.elsewhere}
        kept = last.elsewhere if now.untold else [each for each in last.elsewhere if each in still]
        without = last.without
        if without is None:
            landed = tasks_between(self.run, self.run.repository.commit_id(base), ours)
            without = self._with_proof((*landed, task), made, now, left).without
        return last.replace(elsewhere=tuple(kept), ran=now.ran or last.ran, without=without)

    def _surely(
        self, red: NewlyRed, tasks: Sequence[TaskId], base: str, edits: JudgedEdits
    ) -> NewlyRed:
        """Return a command without failures that also occur without the edits.

        They occur if an earlier task left them, if the project is used from the run's own tree
        without installation, or if some tests fail unless all run. A task that fixes failures gets
        all of them.
        """
        mends = self._mends(tasks)
        same = self.project.profile.commands.setup and not self._changed_since_start(base)
        took, left = red.before.duration_ms / 1000, edits.until - time.monotonic()
        if mends or (same and not red.is_part) or red.now.timed_out or took >= left:
            return red
        key = (base, red.now.argv)
        if key not in self._at_base:
            with self.project.trial(base) as place:
                found, _ = self.project.run_in(place, red.before.name, red.now.argv, left)
            self._at_base[key] = found
        if red.is_part and cause_of(self._at_base[key]) in NOT_RUN:
            # Test files that the edits add are not there at the base.
            return red
        new = newly_failing(self._at_base[key], red.now)
        return replace(red, failing=tuple(item for item in red.failing if item in new))

    def _changed_since_start(self, base: str) -> bool:
        paths = self.run.tree.changed(self.run.state.base_commit, base)
        return any(not path.startswith(f"{SPECS}/") for path in paths)

    def say(self, tasks: Sequence[TaskId], outcome: TryOutcome, agent: str, *, last: bool) -> None:
        """Show a person the outcome of a try, unless all is green."""
        whose = f"task{'s' if len(tasks) > 1 else ''} {', '.join(tasks)}"
        if outcome.red:
            then = "the reviewer is told" if last else f"sent back to the {agent}"
            text = outcome.summary.replace(" red", f" red after the edits of {whose}", 1)
            self.tell(Message(text=f"{text}; {then}"))
        if outcome.elsewhere:
            text = (
                f"red after the edits of {whose}, in files of tasks that are not done yet:"
                f" {named(outcome.elsewhere).replace('`', '')}; the reviewer is told"
            )
            self.tell(Message(text=text))
        if outcome.untold:
            self.tell(Message(text=f"after the edits of {whose}: {outcome.untold}"))
