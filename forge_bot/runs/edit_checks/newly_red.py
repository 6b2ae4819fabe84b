"""Commands of the project that are newly red: after edits, in the tree where commands judge, and in
the verification, where red tests run again at both commits.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from forge_bot.agent.assignment import TryOutcome, named
from forge_bot.agent.model_answers import fenced
from forge_bot.engine import State
from forge_bot.git import Tree
from forge_bot.runs.notifications import Message
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.text_format import command_line, several
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import (
    TAIL_CHARACTERS,
    TAIL_LINES,
    CommandOutput,
    complaint_lines,
    shown_output,
)
from forge_bot.verification.judgement import UNNAMED, newly_failing
from forge_bot.verification.red_tests import MOST_RERUN, Moment, flaky_tests, is_listed, newly_red
from forge_bot.verification.runners import select_tests, uncached

_MOST_SHOWN = 50
"""Failures whose words are looked for."""
_LEAST_SECONDS = 60
_TIMES_AS_LONG = 10
"""A command gets this much of the time that it took before the edits."""
_SUBJECT = {
    CommandName.SETUP: "the setup is",
    CommandName.BUILD: "the build is",
    CommandName.TEST: "tests are",
    CommandName.LINT: "linters are",
}


@dataclass(frozen=True)
class NewlyRed:
    """A command that is newly red: before and after the edits, what fails, the output's lines."""

    before: CommandResult
    now: CommandResult
    failing: tuple[str, ...]
    lines: tuple[str, ...]

    def words(self) -> str:
        """Return the output about new failures, as far as it is shown."""
        new = self.failing[:_MOST_SHOWN]
        if self.now.name is not CommandName.TEST:
            lines = dict.fromkeys(
                line for item in new for line in complaint_lines(item, self.lines)
            )
            if lines:
                return "\n".join(lines)[:TAIL_CHARACTERS]
        return shown_output(self.lines, TAIL_CHARACTERS, TAIL_LINES, new)


@dataclass
class JudgedEdits:
    """The edits of one try, in the tree where commands judge; their time ends at `until`."""

    run: Run
    project: Project
    place: Tree
    until: float
    untold: list[str] = field(default_factory=list[str])
    ran: list[str] = field(default_factory=list[str])
    green: list[str] = field(default_factory=list[str])

    def all_red(self, baseline: Sequence[CommandResult]) -> Iterator[NewlyRed]:
        """Yield the commands that are newly red: a build alone, else tests and linters."""
        for name in (CommandName.BUILD, CommandName.TEST, CommandName.LINT):
            for before in [result for result in baseline if result.name is name]:
                if (red := self._find_red(before)) is not None:
                    yield red
                    if name is CommandName.BUILD:
                        return

    def _find_red(self, before: CommandResult) -> NewlyRed | None:
        left = min(self.until - time.monotonic(), self.run.config.command_seconds)
        if not (limit := _limit_of(before, left)):
            self._leave_untold(before)
            return None
        now, output, _ = self.project.run_in(self.place, before.name, before.argv, limit)
        if now.timed_out:
            return NewlyRed(before, now, (f"it did not end within {limit:.0f} seconds",), ())
        self._note(before, now)
        failing = self._without_flaky(now, newly_failing(before, now), limit)
        return NewlyRed(before, now, failing, tuple(output.splitlines())) if failing else None

    def _note(self, before: CommandResult, now: CommandResult) -> None:
        """Record how a command ended, how many tests ran, and which of them turned green."""
        earlier = f" ({before.tests:,} before)" if before.tests is not None else ""
        new = len(newly_failing(before, now)) or "none"
        failed = f"exit code {now.exit_code}, {new} of its failures new"
        ended = failed if now.exit_code else "exit code 0"
        tests = f"{several(now.tests, 'test')} ran{earlier}" if now.tests else ended
        self.ran.append(f"`{command_line(now.argv)}`: {tests}.")
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
        return tuple(name for name in failing if name not in flaky)

    def _passing(self, names: list[str], argv: tuple[str, ...], limit: float) -> list[str]:
        """Run a command again; the tests of these that it shows to pass now."""
        seconds = min(limit, self.until - time.monotonic())
        if seconds <= 0:
            return []
        again, _, passed = self.project.run_in(
            self.place, CommandName.TEST, argv, seconds, fresh=True
        )
        if passed is not None:
            return [name for name in names if is_listed(name, passed)]
        if again.timed_out or not again.tests or UNNAMED in again.failures:
            return []
        red = bool(again.exit_code) and not again.failures
        return [] if red else [name for name in names if name not in again.failures]

    def _leave_untold(self, before: CommandResult) -> None:
        limit = self.run.config.tries.seconds
        words = command_line(before.argv)
        self.untold.append(f"`{words}` did not run: the {limit:g} seconds for it are too few.")


def _limit_of(before: CommandResult, left: float) -> float:
    """Return how long a command may run of the time that is left, by the time that it took before
    the edits; 0 if it would need more. Edits that never end should not take the time of the next.
    """
    took = before.duration_ms / 1000
    return 0 if took >= left else min(left, max(_LEAST_SECONDS, took * _TIMES_AS_LONG))


def outcome_of(reds: Sequence[NewlyRed]) -> TryOutcome:
    """Return the complaints about commands that are newly red."""
    reds = [red for red in reds if red.failing]
    parts = [
        f"`{command_line(red.now.argv)}` ended with exit code {red.now.exit_code}; newly red:"
        f" {named(red.failing)}\n\n{fenced(red.words())}"
        for red in reds
    ]
    return TryOutcome(
        red=tuple(item for red in reds for item in red.failing),
        summary="; ".join(_summary(red) for red in reds),
        words="\n\n".join(parts),
    )


def _summary(red: NewlyRed) -> str:
    count, total = sum(item != UNNAMED for item in red.failing), red.now.tests
    if red.now.timed_out:
        return f"{_SUBJECT[red.now.name]} red: {red.failing[0]}"
    of = f" of {total}" if red.now.name is CommandName.TEST and total and total >= count else ""
    return f"{_SUBJECT[red.now.name]} red: {count}{of}"


def with_flaky_tests(
    outputs: Sequence[CommandOutput], state: State, run: Run, project: Project
) -> tuple[CommandOutput, ...]:
    """Return what commands did with the names of their flaky tests, found by running them again.

    The reruns of one command take no longer than `command_seconds` together, but for the last.
    """
    commits = {Moment.BEFORE: run.state.base_commit, Moment.AFTER: project.tree.commit_id()}
    return tuple(_with_flaky(output, state, project, commits) for output in outputs)


def _with_flaky(
    output: CommandOutput, state: State, project: Project, commits: Mapping[Moment, str]
) -> CommandOutput:
    result, left = output.result, project.config.command_seconds * 1_000
    if any(command.covers(result) for command in state.unusable):
        return output
    words = (result.name, result.argv)
    before = next((one for one in state.baseline if (one.name, one.argv) == words), None)
    if before is None:
        return output

    def run_again(moment: Moment, names: Sequence[str]) -> CommandResult | None:
        """Run the tests of these names alone, or all; None where the time is used up."""
        nonlocal left
        if left <= 0:
            return None
        selection = select_tests(result.argv, names)
        argv = selection.argv if selection is not None else uncached(result.argv)
        again = project.rerun(commits[moment], argv)
        left -= again.duration_ms
        return again

    names = newly_red(before, result)
    if names and len(names) <= MOST_RERUN:
        count = f"{len(names)} tests are" if len(names) > 1 else "A test is"
        text = f"{count} newly red and run again, before and after the change."
        project.tell(Message(text=text))
    return output._replace(result=result.replace(flaky=flaky_tests(before, result, run_again)))
