"""Run one command of the project in the sandbox, and read its outcome."""

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from forge_bot.agent.redaction import Redactor
from forge_bot.errors import CannotJudge
from forge_bot.git import Repository, Tree
from forge_bot.git.commit_objects import tree_without
from forge_bot.project.detected_commands import ENV
from forge_bot.runs.notifications import CommandBegan, CommandEnded, Notify, warning
from forge_bot.runs.project_commands.carried_files import CarriedFiles
from forge_bot.runs.project_commands.installation import Installation
from forge_bot.runs.project_commands.made_by_commands import MadeByCommands
from forge_bot.runs.project_commands.project_sandbox import ProjectSandbox
from forge_bot.runs.project_commands.runner_reports import RunnerReports, reports_of
from forge_bot.sandbox.box import Box, CommandOutcome
from forge_bot.store import SPECS, full, without_room
from forge_bot.text_format import without_environment
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import of_part, read_outcome

_IGNORE = ".gitignore"
_RECORD = f"{SPECS}/"
_DURATION = re.compile(r"\b\d+(?:\.\d+)? ?(ms|s|secs?|seconds)\b")


class SetupKilled(Exception):
    """A signal ended a command of setup."""


@dataclass
class CommandRunner:
    """Runs commands for one tree of a run. `made` notes the ignored files that they make there;
    `by_hand` are the nested repositories that a person keeps in it.
    """

    tree: Tree
    environment: Path
    sandbox: ProjectSandbox
    installation: Installation
    tell: Notify
    strike: Redactor
    carried: CarriedFiles
    made: MadeByCommands | None
    by_hand: frozenset[str]
    passed: dict[tuple[str, ...], tuple[str, ...] | None] = field(
        default_factory=dict[tuple[str, ...], tuple[str, ...] | None]
    )
    """The tests that passed when a test command ran last; None where its runner lists none."""

    def in_tree(self, tree: Tree) -> "CommandRunner":
        """Return a runner for a temporary tree beside the run's own."""
        return replace(self, tree=tree, made=None, by_hand=frozenset())

    def one(
        self, name: CommandName, argv: tuple[str, ...], place: Tree, *, seconds: float | None = None
    ) -> tuple[CommandResult, str]:
        """Run a command; once more where a signal ended it: somebody may have sent it from outside,
        and twice is the project's own. Return its result and its whole output. Raises Interrupted.
        """
        self._begins(name, argv)
        box = self.sandbox.box(place, seconds=seconds, at_base=self._is_at_base(place))
        if name is not CommandName.TEST:
            return self._ended(name, argv, place, self._run_twice(box, argv, argv, place))
        with reports_of(argv, place, self.environment.parent) as reports:
            outcome = self._run_twice(reports.in_box(box), reports.argv, argv, place)
            return self._ended(name, argv, place, outcome, reports)

    def _run_twice(
        self, box: Box, words: Sequence[str], argv: Sequence[str], place: Tree
    ) -> CommandOutcome:
        """Run the words of a command that people know as `argv`; again where a signal ended it."""
        outcome = self._run(box, words, place)
        if not outcome.killed:
            return outcome
        self.tell(
            warning(
                "`{command}` was ended by a signal, and runs once more.".format(
                    command=" ".join(argv)
                )
            )
        )
        self.tidy(place)
        return self._run(box, words, place)

    def of_setup(
        self,
        argv: tuple[str, ...],
        place: Tree,
        *,
        secret: Mapping[str, str],
        first: bool,
    ) -> CommandResult:
        """Run a command of setup. Nothing half made is kept: where a signal ended it, SetupKilled
        is raised at the `first` try. Raises Interrupted.
        """
        self._begins(CommandName.SETUP, argv)
        at_base = self._is_at_base(place)
        box = self.sandbox.box(place, setting_up=True, at_base=at_base)
        outcome = self._run(box.replace(secret_env=secret), argv, place, carrying=False)
        if outcome.killed and first:
            raise SetupKilled(
                "`{command}` was ended by a signal. Setup begins anew.".format(
                    command=" ".join(argv)
                )
            )
        return self._ended(CommandName.SETUP, argv, place, outcome)[0]

    def _begins(self, name: CommandName, argv: tuple[str, ...]) -> None:
        self.installation.is_tidy, self.installation.has_run = False, True
        # The placeholder is what people and records see: the folder differs from machine to
        # machine.
        self.tell(CommandBegan(name=name, argv=argv))

    def _is_at_base(self, place: Tree) -> bool:
        """Return whether a tree shows the code of the base commit and nothing else, where that
        matters: no ignored files either, but those of setup and of the run's record.
        """
        if not self.sandbox.uses_go:
            return False
        commits = (place.commit_id(), self.installation.foundation.commit)
        trees = {tree_without(self.tree.path, commit, SPECS) for commit in commits}
        if len(trees) > 1 or not place.is_clean():
            return False
        ignored = (name for name in place.ignored() if not name.startswith(f"{SPECS}/"))
        return all(self.installation.left(name) for name in ignored)

    def _run(
        self, box: Box, argv: Sequence[str], place: Tree, *, carrying: bool = True
    ) -> CommandOutcome:
        """Run a command with the carried files, which setup must not see, since it has the
        network; in the run's own tree note the ignored files that appear.
        """
        words = [word.replace(ENV, str(self.environment)) for word in argv]
        with ExitStack() as stack:
            if self.made is not None and place.path == self.tree.path:
                stack.enter_context(self.made.noted())
            if carrying:
                stack.enter_context(self.carried.copied_to(place))
            return self.sandbox.run(box, words)

    def _ended(
        self,
        name: CommandName,
        argv: tuple[str, ...],
        place: Tree,
        outcome: CommandOutcome,
        reports: RunnerReports | None = None,
    ) -> tuple[CommandResult, str]:
        """Return the result of a command, and its output. Raises an error for a failure that says
        nothing about the project.
        """
        if outcome.exit_code != 0:
            self._require_fair(argv, place, outcome)
        output = self._without_places(outcome.output, place)
        texts: dict[str, str] = {}
        if reports is not None:
            output = reports.without_words(output)
            texts = {
                path: self._without_places(text, place) for path, text in reports.read().items()
            }
        ended = read_outcome(
            name, argv, outcome.exit_code, output, outcome.duration_ms, outcome.timed_out, texts
        )
        result = ended.result.replace(tail=_timeless(ended.result.tail))
        if name is CommandName.TEST:
            self.passed[argv] = ended.passed
            result = result if self._is_whole(argv) else of_part(result)
        self.tell(CommandEnded(result=result))
        return result, _timeless(ended.output)

    def _is_whole(self, argv: tuple[str, ...]) -> bool:
        """Return whether a command runs all tests that it can, as the project calls it."""
        return any(argv == test.argv for test in self.sandbox.profile.commands.test)

    def _require_fair(self, argv: Sequence[str], place: Tree, outcome: CommandOutcome) -> None:
        """Raise CannotJudge where the sandbox made a command fail, and what `full` returns where
        the disk is full.
        """
        command = " ".join(argv)
        if outcome.cannot_judge:
            raise CannotJudge(
                f"`{command}` failed, and this sandbox cannot judge it: {outcome.cannot_judge}."
            )
        written = (place.path, self.environment, Path(tempfile.gettempdir()))
        if any(map(without_room, written)):
            raise full(
                written,
                (
                    f"What `{command}` says counts only with room to work in. If there is room "
                    "again now, the command itself has filled the disk: change it, or have the "
                    "phase done again with `retry`."
                ),
            )

    def _without_places(self, output: str, place: Tree) -> str:
        """Return the output without secrets and without the names of this machine's folders."""
        output = without_environment(self.strike(output).replace(str(self.environment), ENV))
        for folder in (place.path, self.tree.path):
            output = output.replace(str(folder), ".")
        return output

    def tidy(self, place: Tree) -> None:
        """Remove the leftovers of commands from a work tree, so that it holds committed files, the
        run's record and the result of setup.
        """
        by_hand = self.by_hand if place.path == self.tree.path else frozenset[str]()
        place.remove_nested(keep=by_hand)
        alone = place.path == self.installation.path
        paths = [change.path for change in place.status() if not change.path.startswith(_RECORD)]
        place.discard(
            [path for path in paths if path not in by_hand and not self.installation.left(path)]
        )
        if alone:
            self.installation.is_tidy = True

    def remove_new(self, place: Tree) -> None:
        """Do the same in the tree where commands judge, after a commit was shown there: git has put
        all files right that it knows.
        """
        while rules := self._remove_new(place):
            # What the rules of a command have hidden is seen now.
            if any(os.path.lexists(place.path / path) for path in rules):
                break
        self.installation.is_tidy = True

    def _remove_new(self, place: Tree) -> list[str]:
        """Remove what git sees, and return the files among it that hid others."""
        new = [path for path in place.new() if not path.startswith(_RECORD)]
        new = [path for path in new if not self.installation.left(path)]
        place.discard(new)
        return [path for path in new if PurePosixPath(path).name == _IGNORE]


def nested_by_hand(repository: Repository, tree: Tree) -> frozenset[str]:
    """Return the nested repositories that a person keeps in a tree of their own; a tree of ours
    begins without any.
    """
    if tree.path != repository.root:
        return frozenset()
    listed = {change.path for change in tree.status() if change.path.endswith("/")}
    return tree.nested() | listed


def _timeless(output: str) -> str:
    """Return output without durations: the same outcome then makes the same prompt and document,
    byte for byte.
    """
    return _DURATION.sub(r"… \1", output)
