"""Run newly red tests again, at the commit that is judged and at the run's base commit."""

from collections.abc import Mapping, Sequence

from forge_bot.engine import State
from forge_bot.runs.notifications import Message
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import CommandOutput
from forge_bot.verification.flaky_tests import MOST_RERUN, Moment, flaky_tests, newly_red
from forge_bot.verification.runners import select_tests, uncached


def with_flaky_tests(
    outputs: Sequence[CommandOutput], state: State, run: Run, project: Project
) -> tuple[CommandOutput, ...]:
    """Return what commands did with the names of their flaky tests, found by running them again.

    The reruns of one command take no longer than `command_seconds` together, but for the last.
    """
    baseline = {(before.name, before.argv): before for before in state.baseline}
    unjudged = {(command.name, command.argv) for command in state.unusable}
    commits = {Moment.BEFORE: run.state.base_commit, Moment.AFTER: project.tree.commit_id()}
    builds = {
        Moment.BEFORE: _ends_of_builds(state.baseline),
        Moment.AFTER: _ends_of_builds([output.result for output in outputs]),
    }
    judged: list[CommandOutput] = []
    for output in outputs:
        result = output.result
        before = baseline.get((result.name, result.argv))
        if before is not None and (result.name, result.argv) not in unjudged:
            names = newly_red(before, result)
            if names and len(names) <= MOST_RERUN:
                count = f"{len(names)} tests are" if len(names) > 1 else "A test is"
                project.tell(
                    Message(text=f"{count} newly red and run again, before and after the change.")
                )
            again = flaky_tests(before, result, _Runs(result, project, commits, builds).run)
            result = result.replace(flaky=again)
        judged.append(output._replace(result=result))
    return tuple(judged)


_Ends = Mapping[tuple[str, ...], int]
"""The exit codes of commands."""


def _ends_of_builds(results: Sequence[CommandResult]) -> _Ends:
    return {result.argv: result.exit_code for result in results if result.name is CommandName.BUILD}


class _Runs:
    """The reruns of one command, until their time is used up."""

    def __init__(
        self,
        result: CommandResult,
        project: Project,
        commits: Mapping[Moment, str],
        builds: Mapping[Moment, _Ends],
    ) -> None:
        self.argv = result.argv
        self.project = project
        self.commits = commits
        self.builds = builds
        self._left = project.config.command_seconds * 1_000

    def run(self, moment: Moment, names: Sequence[str]) -> CommandResult | None:
        """Run the tests of these names alone, or all; None where the time is used up, or where the
        build ends otherwise than before.
        """
        selection = select_tests(self.argv, names)
        argv = selection.argv if selection is not None else uncached(self.argv)
        if self._left <= 0:
            return None
        results = self.project.rerun(self.commits[moment], argv, self.builds[moment])
        self._left -= sum(result.duration_ms for result in results)
        if not results or results[-1].name is not CommandName.TEST:
            self._left = 0
            return None
        return results[-1]
