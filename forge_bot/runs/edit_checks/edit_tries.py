"""Runs the project's commands right after a task's edits, before a reviewer is asked.
The edits are made in the tree where commands judge, as a commit that is on no branch. What is newly
red, compared with the run's baseline, goes back to whoever made them, unless a formatter mends it.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from posixpath import basename

from forge_bot.agent.assignment import FormattedFile, TryOutcome, named
from forge_bot.agent.edits import Folder
from forge_bot.agent.model_answers import fenced
from forge_bot.engine.phases import DRAFT
from forge_bot.errors import CannotJudge
from forge_bot.git import Tree, blob_id
from forge_bot.git.commit_objects import commit_of_patch, commit_on
from forge_bot.runs.edit_checks.proof_by_tests import weakened_in
from forge_bot.runs.notifications import Message, Notify
from forge_bot.runs.project_commands.installation import code_of
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.text_format import command_line, several
from forge_bot.values import CommandName, CommandResult, TaskId
from forge_bot.verification.command_outcome import (
    TAIL_CHARACTERS,
    TAIL_LINES,
    complaint_lines,
    shown_output,
)
from forge_bot.verification.judgement import UNNAMED, cause_of, newly_failing
from forge_bot.verification.red_tests import MOST_RERUN, is_listed
from forge_bot.verification.runners import select_tests

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

_FORMATTERS = {"black", "isort", "prettier", "rustfmt", "ruff format", "cargo fmt"}
Files = Sequence[tuple[str, bytes | None]]
"""Files by name as edits leave them; None for those that go."""


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
    files: Files = ()
    formatted: dict[str, FormattedFile] = field(default_factory=dict[str, FormattedFile])
    formatting: list[str] = field(default_factory=list[str])
    untold: list[str] = field(default_factory=list[str])
    ran: list[str] = field(default_factory=list[str])
    green: list[str] = field(default_factory=list[str])

    def all_red(self, baseline: Sequence[CommandResult]) -> Iterator[NewlyRed]:
        """Yield the commands that are newly red: a build alone, else tests, formatters, linters."""
        for name in (CommandName.BUILD, CommandName.TEST, CommandName.LINT):
            known = [result for result in baseline if result.name is name]
            for before in sorted(known, key=lambda result: not formatting_words(result.argv)):
                noted = len(self.ran)
                red = self._find_red(before)
                if red is not None and self._format(before):
                    del self.ran[noted:]
                    red = self._find_red(before)
                if red is not None:
                    yield red
                    if name is CommandName.BUILD:
                        return

    def _find_red(self, before: CommandResult) -> NewlyRed | None:
        if not (limit := self._limit_of(before)):
            words, seconds = command_line(before.argv), self.run.config.tries.seconds
            untold = f"`{words}` did not run: the {seconds:g} seconds for it are too few."
            self.untold.append(untold)
            return None
        now, output, _ = self.project.run_in(self.place, before.name, before.argv, limit)
        if now.timed_out:
            return NewlyRed(before, now, (f"it did not end within {limit:.0f} seconds",), ())
        self._note(before, now)
        failing = self._without_flaky(now, newly_failing(before, now), limit)
        return NewlyRed(before, now, failing, tuple(output.splitlines())) if failing else None

    def _format(self, before: CommandResult) -> bool:
        """Run the formatter of a linter's check, and show the files of the edits as it leaves them;
        return whether any is another. Those that the check complained about before stay.
        """
        argv, seconds = formatting_words(before.argv), self._limit_of(before)
        complaints, commit = " ".join(before.failures), self.place.commit_id()
        files = {path: data for path, data in self.files if data and path not in complaints}
        if before.name is not CommandName.LINT or not (argv and seconds and files):
            return False
        self._show(commit)
        read, new = Folder(self.place.path).text, dict[str, FormattedFile]()
        shown = {path: read(path) for path in files}
        with suppress(CannotJudge):
            ended = self.project.run_in(self.place, before.name, argv, seconds).result
            for path in files if ended.exit_code == 0 else ():
                if (text := read(path)) not in {"", shown[path]}:
                    new[path] = FormattedFile(path=path, before=blob_id(files[path]), text=text)
        if new:
            self.formatted |= new
            self.formatting.append(f"`{command_line(argv)}` formatted {named([*new])}.")
            made = [(path, file.text.encode()) for path, file in new.items()]
            commit = commit_on(self.run.repository.root, commit, made)
        self._show(commit)
        return bool(new)

    def _show(self, commit: str) -> None:
        """Show a commit's files in place of what commands made of them; all else stays."""
        self.place.remove_nested()
        self.run.repository.show_commit(self.place.path, commit)

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

    def _limit_of(self, before: CommandResult) -> float:
        """Return how long a command may run of the time that is left, by the time that it took
        before; 0 if it would need more. Edits that never end leave time to the next.
        """
        left = min(self.until - time.monotonic(), self.run.config.command_seconds)
        took = before.duration_ms / 1000
        return 0 if took >= left else min(left, max(_LEAST_SECONDS, took * _TIMES_AS_LONG))


def formatting_words(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the words that format what a formatter's check checks; none for other commands."""
    for at, name in enumerate(map(basename, argv), 1):
        rest = argv[at:]
        if name in _FORMATTERS or " ".join((name, *rest[:1])) in _FORMATTERS:
            checks = {"--check", "--check-only", "-c"} if name == "isort" else {"--check"}
            instead = dict.fromkeys(checks, "--write" if name == "prettier" else "")
            words = (instead.get(word, word) for word in rest if word != "--diff")
            return (*argv[:at], *filter(None, words)) if checks.intersection(rest) else ()
    return ()


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


@dataclass(frozen=True)
class EditTries:
    """Tries the edits of one run's tasks, one after the other."""

    run: Run
    project: Project
    tell: Notify

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

    def edits(self, task: TaskId | None, base: str, files: Files, seconds: float) -> TryOutcome:
        """Run the commands on the edits of a task or of a draft, made at a commit, for so long.

        Raises Interrupted where the commands were called off, and DiskFull.
        """
        repository = self.run.repository
        base = repository.commit_id(base)
        return self._outcome(task, base, commit_on(repository.root, base, files), seconds, files)

    def patch(self, task: TaskId, name: str, without: Sequence[str] = ()) -> TryOutcome:
        """Run the commands on a patch for a task that a person approved; they ran on a draft before
        it was shown. Raises GitFailed where it does not fit any more.
        """
        if not self.possible or name == DRAFT:
            return TryOutcome()
        repository, base = self.run.repository, self.run.tree.head().commit
        raw = self.run.workspace.read_bytes(name) or b""
        made = commit_of_patch(repository.root, base, raw, without)
        seconds = self.run.config.tries.seconds
        outcome = self._outcome(task, self._commit_before(task), made, seconds)
        self.say(task, outcome, "", last=True)
        return outcome

    def _commit_before(self, task: TaskId) -> str:
        """Return the commit that a task's answer was made on: its other files have landed."""
        commits = self.run.tree.commits(self.run.state.base_commit)
        own = (commit.id for commit in commits if ("Forge-Task", task) in commit.trailers)
        return self.run.repository.commit_id(f"{next(own)}^")

    def _outcome(
        self, task: TaskId | None, base: str, made: str, seconds: float, files: Files = ()
    ) -> TryOutcome:
        ran = self._run_checks(task, base, made, seconds, files) if self._tested else TryOutcome()
        weakened = weakened_in(self.run, base, made)
        return ran.replace(weakened=(*weakened.unnamed, *weakened.named))

    def _run_checks(
        self, task: TaskId | None, base: str, made: str, seconds: float, files: Files
    ) -> TryOutcome:
        if any(result.exit_code != 0 for result in self.project.set_up()):
            return TryOutcome(untold="The setup failed.")
        began = time.monotonic()
        try:
            with self.project.trial(made) as place:
                edits = JudgedEdits(self.run, self.project, place, began + seconds, files)
                reds = [*edits.all_red(self._baseline())]
            state = self.run.state.task(task)
            mends = state is not None and bool(state.origin)
            root, begun_at = self.run.repository.root, self.run.state.base_commit
            if not mends and code_of(root, base) != code_of(root, begun_at):
                reds = [self._leave_out_earlier(red, base, edits.until) for red in reds]
        except CannotJudge as error:
            return TryOutcome(untold=error.message)
        return outcome_of(reds).replace(
            green=tuple(edits.green),
            ran=tuple(edits.ran),
            untold=" ".join(edits.untold),
            formatted=tuple(edits.formatted.values()),
            formatting=tuple(edits.formatting),
            seconds=round(time.monotonic() - began, 3),
        )

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

    def say(self, task: TaskId | None, outcome: TryOutcome, agent: str, *, last: bool) -> None:
        """Show a person the outcome of a try, unless all is green."""
        whose = f"task {task}" if task is not None else "the draft"
        if outcome.formatting:
            self.tell(Message(text=f"after the edits of {whose}: {' '.join(outcome.formatting)}"))
        if outcome.red:
            then = "the reviewer is told" if last else f"sent back to the {agent}"
            text = outcome.summary.replace(" red", f" red after the edits of {whose}", 1)
            self.tell(Message(text=f"{text}; {then}"))
        if outcome.untold:
            self.tell(Message(text=f"after the edits of {whose}: {outcome.untold}"))
