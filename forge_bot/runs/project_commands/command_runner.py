"""Run one command of the project in the sandbox, and read its outcome."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from forge_bot.agent.redaction import Redactor
from forge_bot.errors import CannotJudge
from forge_bot.git import Tree
from forge_bot.project.detected_commands import ENV
from forge_bot.runs.notifications import CommandBegan, CommandEnded, Notify
from forge_bot.runs.project_commands.carried_files import CarriedFiles
from forge_bot.runs.project_commands.installation import Installation
from forge_bot.runs.project_commands.project_sandbox import ProjectSandbox
from forge_bot.runs.project_commands.runner_reports import RunnerReports, reports_of
from forge_bot.sandbox.box import Box, CommandOutcome
from forge_bot.store import full, without_room
from forge_bot.text_format import without_environment
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import CommandOutput, of_part, read_outcome

_DURATION = re.compile(r"\b\d+(?:\.\d+)? ?(ms|s|secs?|seconds)\b")


@dataclass(frozen=True)
class CommandRunner:
    """Runs commands where an installation shows a commit."""

    sandbox: ProjectSandbox
    installation: Installation
    tell: Notify
    strike: Redactor
    carried: CarriedFiles

    def one(
        self, name: CommandName, argv: tuple[str, ...], place: Tree, *, seconds: float | None = None
    ) -> CommandOutput:
        """Run a command. Raises Interrupted."""
        self.tell(CommandBegan(name=name, argv=argv))
        box = self.sandbox.box(self.installation, seconds=seconds, at_base=self._is_at_base(place))
        if name is not CommandName.TEST:
            return self._report_end(name, argv, place, self._run(box, argv, place))
        with reports_of(argv, place, self.installation.environment.parent) as reports:
            outcome = self._run(reports.in_box(box), reports.argv, place)
            return self._report_end(name, argv, place, outcome, reports)

    def of_setup(
        self, argv: tuple[str, ...], place: Tree, secret: Mapping[str, str]
    ) -> CommandResult:
        """Run a command of setup. Raises Interrupted."""
        self.tell(CommandBegan(name=CommandName.SETUP, argv=argv))
        box = self.sandbox.box(self.installation, setting_up=True)
        outcome = self._run(box.replace(secret_env=secret), argv, place, carrying=False)
        return self._report_end(CommandName.SETUP, argv, place, outcome).result

    def snippet(self, argv: Sequence[str], place: Tree, seconds: float) -> CommandOutcome:
        """Run words that somebody wants tried, without the carried files. Raises Interrupted."""
        box = self.sandbox.box(self.installation, seconds=seconds, at_base=self._is_at_base(place))
        outcome = self._run(box, argv, place, carrying=False)
        return outcome.replace(output=self._without_places(outcome.output, place))

    def _is_at_base(self, place: Tree) -> bool:
        return self.sandbox.uses_go and self.installation.is_base(place.commit_id())

    def _run(
        self, box: Box, argv: Sequence[str], place: Tree, *, carrying: bool = True
    ) -> CommandOutcome:
        """Run a command with the carried files, which setup must not see, since it has the
        network.
        """
        # The placeholder is what people and records see: the folder differs from machine to
        # machine.
        words = [word.replace(ENV, str(self.installation.environment)) for word in argv]
        with ExitStack() as stack:
            if carrying:
                stack.enter_context(self.carried.copied_to(place))
            return self.sandbox.run(box, words)

    def _report_end(
        self,
        name: CommandName,
        argv: tuple[str, ...],
        place: Tree,
        outcome: CommandOutcome,
        reports: RunnerReports | None = None,
    ) -> CommandOutput:
        """Return what a command did. Raises an error for a failure that says
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
        if name is CommandName.TEST and not self._is_whole(argv):
            result = of_part(result)
        self.tell(CommandEnded(result=result))
        return CommandOutput(result, _timeless(ended.output), ended.passed)

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
        written = (place.path, self.installation.environment, Path(tempfile.gettempdir()))
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
        output = without_environment(
            self.strike(output).replace(str(self.installation.environment), ENV)
        )
        return output.replace(str(place.path), ".")


def _timeless(output: str) -> str:
    """Return output without durations: the same outcome then makes the same prompt and document,
    byte for byte.
    """
    return _DURATION.sub(r"… \1", output)
