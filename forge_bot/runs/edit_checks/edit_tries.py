"""Runs the project's formatter and commands right after a task's edits, before a reviewer is asked.
The edits are made in the tree where commands judge, as a commit that is on no branch. What is newly
red, compared with the run's baseline, goes back to whoever made them; so do rules of the project's
manifest that they break.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from forge_bot.agent.assignment import FormattedFile, TryOutcome, named, with_formatting
from forge_bot.engine.phases import DRAFT
from forge_bot.errors import CannotJudge, PathEscapes, WriteFailed
from forge_bot.git import Tree, blob_id
from forge_bot.git.commit_objects import commit_of_patch, commit_on
from forge_bot.project.detected_commands import Command, takes
from forge_bot.runs.edit_checks.newly_red import JudgedEdits, NewlyRed, outcome_of
from forge_bot.runs.edit_checks.proof_by_tests import weakened_in
from forge_bot.runs.notifications import Message, Notify
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.store.files import inside, write_whole
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import command_line
from forge_bot.values import CommandName, CommandResult, TaskId
from forge_bot.verification.judgement import Cause, cause_of, newly_failing

Files = Sequence[tuple[str, bytes | None]]
"""Files by name as edits leave them; None for those that go."""
_MOST_SECONDS = 60
_LARGEST_FILE = 5_000_000


@dataclass
class FormattedEdits:
    """The edits of one try, and what the project's formatters make of them."""

    run: Run
    project: Project
    base: str
    edits: Files
    seconds: float
    files: list[FormattedFile] = field(default_factory=list[FormattedFile])
    facts: list[str] = field(default_factory=list[str])
    spent: float = 0.0

    def run_in(self, made: str) -> None:
        """Run the formatters on a commit with the edits, and take what they make of those files
        that were formatted before.
        """
        texts = {path: data for path, data in self.edits if data is not None and _is_text(data)}
        jobs = [
            (command, taken)
            for command in self.project.profile.commands.format
            if (taken := {path: data for path, data in texts.items() if takes(command, path)})
        ]
        if not jobs or self.seconds <= 0:
            return
        began = time.monotonic()
        if not any(result.exit_code for result in self.project.set_up()):
            with self.project.trial(made) as place:
                for command, taken in jobs:
                    self._format(command, place, taken)
        self.spent = time.monotonic() - began

    def _format(self, command: Command, place: Tree, texts: Mapping[str, bytes]) -> None:
        """Format those files that are new, or that the formatter leaves alone as they were before
        the edits.
        """
        before = self.run.repository.read_many(self.base, [*texts])
        why = self._run_formatter(command, place, before)
        kept = {path for path in before if _read_plain_file(place, path) == before[path]}
        taken = {path: data for path, data in texts.items() if path in kept or path not in before}
        why = why or self._run_formatter(command, place, taken)
        words = f"`{command_line(command.argv)}`"
        if why:
            fact = f"{words} formatted nothing: {why}."
            # Two modules may have the same one.
            self.facts += [] if fact in self.facts else [fact]
            return
        new = {path: _read_plain_file(place, path) for path in taken}
        formatted = [
            FormattedFile(path=path, before=blob_id(taken[path]), text=data.decode())
            for path, data in new.items()
            if data is not None and data != taken[path] and _is_text(data)
        ]
        self.files += formatted
        if formatted:
            self.facts.append(f"{words} formatted {named([file.path for file in formatted])}.")

    def _run_formatter(self, command: Command, place: Tree, files: Mapping[str, bytes]) -> str:
        """Write files, and run a formatter on them; why it did nothing, or ""."""
        if not files:
            return ""
        for path, data in files.items():
            _write(place, path, data)
        argv = (*command.argv, *files)
        seconds = min(self.seconds, self.run.config.command_seconds, _MOST_SECONDS)
        try:
            result = self.project.run_in(place, CommandName.FORMAT, argv, seconds).result
        except CannotJudge as error:
            return error.message.rstrip(".")
        if cause_of(result) is Cause.MISSING_TOOL:
            return "it is not installed in the project's environment"
        if result.timed_out:
            return f"it did not end within {seconds:g} seconds"
        return f"it ended with exit code {result.exit_code}" if result.exit_code else ""

    def say(self) -> None:
        """Tell a person what was formatted, or why nothing was."""
        for fact in self.facts:
            self.project.tell(Message(text=f"after the edits: {fact}"))


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _read_plain_file(place: Tree, path: str) -> bytes | None:
    """Return a plain file of the tree; None for a link, where one leads out, and for a larger file
    than any of code: a formatter may leave any number of bytes there.
    """
    with suppress(PathEscapes, OSError):
        file = inside(place.path, path)
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _LARGEST_FILE:
            return file.read_bytes()
    return None


def _write(place: Tree, path: str, data: bytes) -> None:
    """Write a file of the tree, unless a command left something else in its place."""
    with suppress(PathEscapes, WriteFailed):
        write_whole(inside(place.path, path), data)


class EditTries:
    """Tries the edits of one run's tasks, one after the other."""

    def __init__(self, run: Run, project: Project, tell: Notify) -> None:
        self.run = run
        self.project = project
        self.tell = tell

    @property
    def possible(self) -> bool:
        """Return whether some test command gave a usable result before the change, or there is a
        formatter.
        """
        return self.run.config.tries.most > 0 and (
            self._tested or bool(self.project.profile.commands.format)
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
            if cause_of(result) is None
            and not any(command.covers(result) for command in state.unusable)
        ]

    def edits(self, tasks: Sequence[TaskId], base: str, files: Files, seconds: float) -> TryOutcome:
        """Run the commands on the edits of some tasks, made at a commit; at most for so long.

        Raises Interrupted where the commands were called off, and DiskFull.
        """
        repository = self.run.repository
        base = repository.commit_id(base)
        made = commit_on(repository.root, base, files)
        own = FormattedEdits(self.run, self.project, base, files, seconds)
        own.run_in(made)
        own.say()
        if own.files:
            made = commit_on(repository.root, base, with_formatting(files, own.files))
        outcome = self.outcome(tasks, base, made, seconds - own.spent)
        return outcome.replace(
            formatted=tuple(own.files),
            formatting=tuple(own.facts),
            seconds=round(outcome.seconds + own.spent, 3),
        )

    def patch(self, task: TaskId, name: str, without: Sequence[str] = ()) -> TryOutcome:
        """Run the commands on a patch for a task that a person approved. Raises GitFailed where it
        does not fit any more.
        """
        if not self.possible:
            return TryOutcome()
        repository, base = self.run.repository, self.run.tree.head().commit
        raw = self.run.workspace.read_bytes(name) or b""
        made = commit_of_patch(repository.root, base, raw, without)
        before = base if name == DRAFT else self._commit_before(task)
        outcome = self.outcome((task,), before, made, self.run.config.tries.seconds)
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
