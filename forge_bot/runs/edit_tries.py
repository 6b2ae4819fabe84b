"""Runs the project's commands right after a task's edits, before a reviewer is asked.

The edits are made in the tree where commands judge, as a commit that is on no branch. What is newly
red, compared with the run's baseline, goes back to whoever made them; so do rules of the project's
manifest that they break.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from forge_bot.agent.model_feedback import fenced
from forge_bot.agent.tries import TryOutcome, named
from forge_bot.engine.next_action import held_patch_name
from forge_bot.errors import CannotJudge
from forge_bot.git import Tree
from forge_bot.git.commit_objects import commit_of_patch, commit_on
from forge_bot.knowledge.affected_tests import affected_tests, is_code, selected
from forge_bot.runs.base_graph import broken_rules, has_rules
from forge_bot.runs.notifications import Message, Notify
from forge_bot.runs.pending_tasks import PendingTasks
from forge_bot.runs.project import Project
from forge_bot.runs.reruns import remember_flaky
from forge_bot.runs.run import Run
from forge_bot.store import SPECS
from forge_bot.text_format import several
from forge_bot.values import CommandName, CommandResult, TaskId
from forge_bot.verification.flaky_tests import MOST_RERUN
from forge_bot.verification.judgement import UNNAMED, newly_failing
from forge_bot.verification.selected_tests import select_tests
from forge_bot.verification.shown_output import (
    TAIL_CHARACTERS,
    TAIL_LINES,
    about,
    complaint_lines,
    failure_blocks,
    shown_output,
    without_tables,
)
from forge_bot.verification.unusable_commands import Cause, cause_of

Files = Sequence[tuple[str, bytes | None]]
"""Files by name as the edits leave them; None for those that go."""

_MOST_FILES_READ = 3_000
_LEAST_SECONDS = 60
_TIMES_AS_LONG = 10
"""A command gets this much of the time that it took before the edits."""
_OF_THE_TIME = 2
"""A command that does not end is red only if it took less than this part of its limit before."""
_PACKAGE = "package.json"
_NOT_RUN = {Cause.USAGE_ERROR, Cause.NO_TESTS}
"""The outcomes of a selection of tests that the command cannot run."""
_SUBJECT = {
    CommandName.SETUP: "the setup is",
    CommandName.BUILD: "the build is",
    CommandName.TEST: "tests are",
    CommandName.LINT: "linters are",
}


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
        rules.
        """
        run = self.run
        return run.config.tries.most > 0 and (
            self._tested or has_rules(run.repository, run.state.base_commit)
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
        return self.outcome(tasks, base, commit_on(repository.root, base, files, modes), seconds)

    def patch(self, task: TaskId, without: Sequence[str] = ()) -> TryOutcome:
        """Run the commands on the patch of a task that a person approved. Raises GitFailed where it
        does not fit any more.
        """
        if not self.possible:
            return TryOutcome()
        repository, base = self.run.repository, self.run.tree.head().commit
        raw = self.run.workspace.read_bytes(held_patch_name(task)) or b""
        made = commit_of_patch(repository.root, base, raw, without)
        outcome = self.outcome((task,), base, made, self.run.config.tries.seconds)
        self.say((task,), outcome, "", last=True)
        return outcome

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
                edits = _Edits(self, place, made, paths, began + seconds)
                found = [*edits.all_red(self._baseline())]
            found = [self._surely(red, tasks, base, edits) for red in found]
            if left_out := [red.before for red in found if red.is_part and not red.failing]:
                # What failed was the part alone, so the others have not run yet.
                with self.project.trial(made):
                    whole = [*map(edits.whole, left_out)]
                found += [self._surely(red, tasks, base, edits) for red in whole if red is not None]
        except CannotJudge as error:
            return TryOutcome(untold=error.message)
        pending = PendingTasks(self.run.state, tasks, paths, edits.texts)
        theirs = [
            item
            for red in found
            for item in red.failing
            if pending.specs and pending.owns(item, red.words_on(item))
        ]
        told = _told([red.without(theirs) for red in found])
        spent = round(time.monotonic() - began, 3)
        return told.model_copy(
            update={
                "elsewhere": tuple(theirs),
                "green": tuple(edits.green),
                "ran": tuple(edits.ran),
                "untold": " ".join(edits.untold),
                "seconds": spent,
            }
        )

    def beside_others(
        self, task: TaskId, base: str, files: Files, tries: Sequence[TryOutcome]
    ) -> TryOutcome:
        """Return the last outcome of a task that lands, corrected for the tasks of its wave that
        have landed by now.

        Failures that are gone beside those tasks are left out. The commands that ran beside them
        are added.
        """
        last, left = tries[-1], self.run.config.tries.seconds - sum(each.seconds for each in tries)
        if left <= 0 or self.run.repository.commit_id(base) == self.run.tree.head().commit:
            return last
        now = self.edits((task,), self.run.ref, files, left)
        still = {*now.red, *now.elsewhere}
        kept = last.elsewhere if now.untold else [each for each in last.elsewhere if each in still]
        return last.model_copy(update={"elsewhere": tuple(kept), "ran": now.ran or last.ran})

    def _surely(self, red: "_Red", tasks: Sequence[TaskId], base: str, edits: "_Edits") -> "_Red":
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
        if red.is_part and cause_of(self._at_base[key]) in _NOT_RUN:
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


@dataclass(frozen=True)
class _Red:
    """A command that is newly red: before and after the edits, what fails, the output's lines."""

    before: CommandResult
    now: CommandResult
    failing: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def is_part(self) -> bool:
        """Return whether only a part of the command's tests ran."""
        return self.now.argv != self.before.argv

    def without(self, items: Sequence[str]) -> "_Red":
        """Return the command as if these had passed."""
        return replace(self, failing=tuple(item for item in self.failing if item not in items))

    def words_on(self, item: str) -> str:
        """Return what the command says about one failing test or complaint."""
        if self.now.name is not CommandName.TEST and (said := complaint_lines(item, self.lines)):
            return "\n".join(said)
        blocks = failure_blocks(without_tables(self.lines))
        return "\n\n".join(block.text for block in blocks if about(item, block))

    def words(self) -> str:
        """Return the output about new failures."""
        found = dict.fromkeys(words for item in self.failing if (words := self.words_on(item)))
        text = "\n\n".join(found)[:TAIL_CHARACTERS]
        return text or shown_output(self.lines, TAIL_CHARACTERS, TAIL_LINES)


@dataclass
class _Edits:
    """The edits of one try, in the tree where commands judge."""

    tries: EditTries
    place: Tree
    made: str
    paths: frozenset[str]
    until: float
    untold: list[str] = field(default_factory=list[str])
    ran: list[str] = field(default_factory=list[str])
    green: list[str] = field(default_factory=list[str])

    def all_red(self, baseline: Sequence[CommandResult]) -> Iterator[_Red]:
        """Yield the commands that are newly red: a build alone, else tests and linters."""
        for before in (each for each in baseline if each.name is CommandName.BUILD):
            if (red := self._red(before, before.argv)) is not None:
                yield red
                return
        for before in (each for each in baseline if each.name is CommandName.TEST):
            red = self._red_among_affected(before) or self.whole(before)
            if red is not None:
                yield red
        for before in (each for each in baseline if each.name is CommandName.LINT):
            if (red := self._red(before, before.argv)) is not None:
                yield red

    def whole(self, before: CommandResult) -> _Red | None:
        """Run a command with all of its tests; return what is newly red."""
        return self._red(before, before.argv)

    def _red_among_affected(self, before: CommandResult) -> _Red | None:
        tests = affected_tests(self.paths, self.texts)
        package = b""
        if _PACKAGE in self.listed:
            package = self.tries.run.repository.read(self.made, _PACKAGE) or b""
        argv = selected(
            before.argv, tests, frozenset(self.listed), package.decode(errors="replace")
        )
        return self._red(before, argv) if argv is not None else None

    def _red(self, before: CommandResult, argv: tuple[str, ...]) -> _Red | None:
        """Run a command as before the edits, or only a part of its tests."""
        part = argv != before.argv
        left = min(self.until - time.monotonic(), self.tries.run.config.command_seconds)
        took = before.duration_ms / 1000
        if left <= 0 or (not part and took >= left):
            self._untold(before)
            return None
        # Edits that never end should not take the time of the next ones.
        limit = min(left, max(_LEAST_SECONDS, took * _TIMES_AS_LONG))
        now, output = self.tries.project.run_in(self.place, before.name, argv, limit)
        if now.timed_out:
            return self._endless(before, now, limit)
        if part and cause_of(now) in _NOT_RUN:
            # The selection was wrong, not the edits.
            return None
        if not part:
            self._saw(before, now)
        failing = self._without_flaky(now, newly_failing(before, now), limit)
        return _Red(before, now, failing, tuple(output.splitlines())) if failing else None

    def _saw(self, before: CommandResult, now: CommandResult) -> None:
        """Record how a command ended, how many tests ran, and which of them turned green."""
        earlier = f", {before.tests:,} before the edits" if before.tests is not None else ""
        same = before.exit_code == now.exit_code
        before_that = ", as before" if same else f", {before.exit_code} before the edits"
        ended = f"exit code {now.exit_code}{before_that}"
        if now.failures and UNNAMED not in now.failures:
            new = len(newly_failing(before, now))
            ended += f": {len(now.failures):,} complaints, {new or 'none'} of them new"
        tests = f"{several(now.tests, 'test')} ran{earlier}" if now.tests else ended
        self.ran.append(f"`{' '.join(now.argv)}`: {tests}.")
        if now.name is not CommandName.TEST:
            return
        still = {*now.failures, UNNAMED}
        if UNNAMED not in now.failures:
            self.green += [name for name in before.failures if name not in still]

    def _without_flaky(
        self, now: CommandResult, failing: tuple[str, ...], limit: float
    ) -> tuple[str, ...]:
        """Return the tests without those that pass when they run again on the same edits.

        They run alone first. What passes alone may still fail together with the others.
        """
        names = [name for name in failing if name != UNNAMED]
        alone = select_tests(now.argv, names) if 0 < len(names) <= MOST_RERUN else None
        if now.name is not CommandName.TEST or alone is None:
            return failing
        flaky = self._passing(names, alone.argv, limit)
        if flaky:
            flaky = self._passing(flaky, now.argv, limit)
            remember_flaky(self.tries.run.repository, flaky)
        return tuple(name for name in failing if name not in flaky)

    def _passing(self, names: list[str], argv: tuple[str, ...], limit: float) -> list[str]:
        """Run a command again; the tests of these that it shows to pass now."""
        seconds = min(limit, self.until - time.monotonic())
        if seconds <= 0:
            return []
        again, _ = self.tries.project.run_in(self.place, CommandName.TEST, argv, seconds)
        if again.timed_out or not again.tests or UNNAMED in again.failures:
            return []
        red = bool(again.exit_code) and not again.failures
        return [] if red else [name for name in names if name not in again.failures]

    def _endless(self, before: CommandResult, now: CommandResult, limit: float) -> _Red | None:
        """Return a command that did not end in time; nothing if it needed most of that time
        before.
        """
        if before.duration_ms / 1000 * _OF_THE_TIME > limit:
            self._untold(before)
            return None
        return _Red(before, now, (f"it did not end within {limit:.0f} seconds",), ())

    def _untold(self, before: CommandResult) -> None:
        limit = self.tries.run.config.tries.seconds
        words = " ".join(before.argv)
        self.untold.append(f"`{words}` did not run: the {limit:g} seconds for it are too few.")

    @cached_property
    def texts(self) -> dict[str, str]:
        """The code as it is after the edits; nothing where it is too much to be read."""
        repository = self.tries.run.repository
        names = [path for path in self.listed if is_code(path)]
        if len(names) > _MOST_FILES_READ:
            return {}
        found = repository.read_many(self.made, names)
        return {path: raw.decode("utf-8", "replace") for path, raw in found.items()}

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """All files after the edits."""
        return self.tries.run.repository.list_files(self.made)


def _told(found: Sequence[_Red]) -> TryOutcome:
    """Return the complaints about commands that are newly red."""
    reds = [red for red in found if red.failing]
    parts = [
        f"`{' '.join(red.now.argv)}` ended with exit code {red.now.exit_code}; newly red:"
        f" {named(red.failing)}\n\n{fenced(red.words())}"
        for red in reds
    ]
    return TryOutcome(
        red=tuple(item for red in reds for item in red.failing),
        summary="; ".join(_summary(red) for red in reds),
        words="\n\n".join(parts),
    )


def _summary(red: _Red) -> str:
    count, total = sum(item != UNNAMED for item in red.failing), red.now.tests
    if red.now.timed_out:
        return f"{_SUBJECT[red.now.name]} red: {red.failing[0]}"
    of = f" of {total}" if red.now.name is CommandName.TEST and total and total >= count else ""
    return f"{_SUBJECT[red.now.name]} red: {count}{of}"
