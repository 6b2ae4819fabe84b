"""Run newly red tests again, at the commit that is judged and at the run's base commit."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from forge_bot.engine import State
from forge_bot.errors import WriteFailed
from forge_bot.git import Repository, Tree
from forge_bot.runs.leftovers import remove_task_tree
from forge_bot.runs.notifications import Message
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.store import write_whole
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.flaky_tests import MOST_RERUN, Moment, flaky_tests, newly_red
from forge_bot.verification.selected_tests import select_tests, uncached

_MOST_KNOWN = 500
_KNOWN_NAMES = TypeAdapter(tuple[str, ...])


def with_flaky_tests(
    results: Sequence[CommandResult], state: State, run: Run, project: Project
) -> tuple[CommandResult, ...]:
    """Return the results with the names of their flaky tests, found by running them again.

    The reruns of one command take no longer than `command_seconds` together, but for the last.
    """
    baseline = {(each.name, each.argv): each for each in state.baseline}
    unjudged = {(each.name, each.argv) for each in state.unusable}
    found: list[CommandResult] = []
    builds = {
        Moment.BEFORE: _ends_of_builds(state.baseline),
        Moment.AFTER: _ends_of_builds(results),
    }
    with BaseTree(run, project) as base:
        for result in results:
            before = baseline.get((result.name, result.argv))
            if before is None or (result.name, result.argv) in unjudged:
                found.append(result)
                continue
            names = newly_red(before, result)
            if names and len(names) <= MOST_RERUN:
                count = f"{len(names)} tests are" if len(names) > 1 else "A test is"
                project.tell(
                    Message(text=f"{count} newly red and run again, before and after the change.")
                )
            known = _known_flaky(run.repository) if names else ()
            again = flaky_tests(before, result, _Runs(result, project, base, builds).run, known)
            found.append(result.model_copy(update=again._asdict()) if any(again) else result)
    remember_flaky(run.repository, [name for result in found for name in result.flaky])
    return tuple(found)


class BaseTree:
    """The project at the run's base commit in a separate tree, created at first use."""

    def __init__(self, run: Run, project: Project) -> None:
        self.project = project
        self._run = run
        self._path = project.places.tasks / "base"
        self._tree: Tree | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._tree is not None:
            remove_task_tree(self._run.repository, self._path)

    def at_base(self) -> Project:
        """Return the project as it is at the commit."""
        if self._tree is None:
            base = self._run.state.base_commit
            self._tree = self._run.repository.detached_tree(self._path, base)
            self.project.forget_built(self._path)
        return self.project.in_tree(self._tree)


_Ends = Mapping[tuple[str, ...], int]
"""The exit codes of commands."""


def _ends_of_builds(results: Sequence[CommandResult]) -> _Ends:
    return {each.argv: each.exit_code for each in results if each.name is CommandName.BUILD}


class _Runs:
    """The reruns of one command, until their time is used up."""

    def __init__(
        self,
        result: CommandResult,
        project: Project,
        base: BaseTree,
        builds: Mapping[Moment, _Ends],
    ) -> None:
        self.argv = result.argv
        self.project = project
        self.base = base
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
        project = self.project if moment is Moment.AFTER else self.base.at_base()
        built = project.build_again()
        self._left -= sum(each.duration_ms for each in built)
        if any(self.builds[moment].get(each.argv) != each.exit_code for each in built):
            self._left = 0
            return None
        result = project.run_again(argv)
        self._left -= result.duration_ms
        return result


def _known_flaky(repository: Repository) -> tuple[str, ...]:
    """Return the names of the repository's tests that were found to be flaky, the newest last.

    They come from the records of runs, are kept beside git's own data and may be deleted at any
    time. They save reruns and decide nothing alone: a test that fails each time is red.
    """
    try:
        return _KNOWN_NAMES.validate_json(_kept_in(repository).read_bytes())
    except (OSError, ValidationError):
        return ()


def remember_flaky(repository: Repository, names: Sequence[str]) -> None:
    """Add tests to the known flaky ones; the oldest are dropped."""
    known = _known_flaky(repository)
    kept = tuple(dict.fromkeys((*(name for name in known if name not in names), *names)))
    if kept != known:
        with suppress(WriteFailed):
            write_whole(_kept_in(repository), _KNOWN_NAMES.dump_json(kept[-_MOST_KNOWN:]).decode())


def _kept_in(repository: Repository) -> Path:
    """Return the file of the names; all work trees of a clone share it."""
    return repository.kept / "flaky-tests.json"
