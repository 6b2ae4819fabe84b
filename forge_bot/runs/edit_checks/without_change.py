"""Run the test files of a change without the rest of it: after edits, and to prove that a defect
was there.
"""

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from forge_bot.agent.tries import named
from forge_bot.artifacts.change_name import ChangeType
from forge_bot.artifacts.test_paths import belongs_to_tests, is_test_file
from forge_bot.engine import State
from forge_bot.errors import CannotJudge
from forge_bot.git.commit_history import CommitInfo, FileVersion, first_parents
from forge_bot.git.commit_objects import (
    GONE,
    commit_on,
    make_commit,
    tree_with,
    tree_without,
)
from forge_bot.interaction.title_of_change import name_of_change
from forge_bot.knowledge.affected_tests import runs_none, selected
from forge_bot.knowledge.tests_in_source import may_hold_tests, with_tests_of
from forge_bot.runs.edit_checks.newly_red import NOT_RUN, limit_of, package_of
from forge_bot.runs.notifications import Message
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.store import SPECS
from forge_bot.text_format import gist, several
from forge_bot.values import CommandName, CommandResult, RedBeforeGreen, TaskId, WithoutChange
from forge_bot.verification.named_tests import is_listed
from forge_bot.verification.red_before_green import (
    not_loaded,
    of_files,
    ran_green,
    red_at_base,
    short_names,
    why_not_red,
)
from forge_bot.verification.selected_tests import select_tests, uncached
from forge_bot.verification.unusable_commands import Cause, cause_of

_TASK = "Forge-Task"
_LONGEST_NAME = 80
_NAMED = 5
_AS_IT_IS = ("utf-8", "surrogateescape")


class OnlyTests(NamedTuple):
    """A commit with a change's files of tests and nothing else of it. No branch leads to it."""

    commit: str
    tree: str
    """Git's id of its files without the records of runs."""
    changed: tuple[str, ...]
    """All files whose tests the change touches."""
    files: tuple[str, ...]
    """Those that hold tests, and are there."""
    sources: tuple[str, ...]
    """Those of them that hold code beside their tests; the code is that of the base commit."""
    is_whole: bool
    """Whether the change is nothing but these files."""


def only_tests(
    run: Run, head: str, *, tasks: Sequence[TaskId] | None = None, tried: str = ""
) -> OnlyTests | None:
    """Return the files of tests of the run's change up to a commit, at its base commit; with
    `tasks` those of some tasks, at the commit before the first of them. `tried` is a commit of
    edits that have not landed. None if no such file is changed.
    """
    root, base = run.repository.root, run.state.base_commit
    commits = first_parents(root, base, head)
    mine = [each for each in commits if each.id == tried or _is_of(each, tasks)]
    if tasks is not None and mine:
        base = mine[0].parents[0]
    paths = {file.path for each in mine for file in each.files}
    changed = set(filter(belongs_to_tests, paths))
    sources = _sources(run, base, head, sorted(paths - changed))
    if not changed and not sources:
        return None
    # What others did to the same files since belongs to them as they are now.
    versions = {file.path: file for each in commits for file in each.files if file.path in changed}
    commit = _commit(run, base, versions, commits[-1])
    if sources:
        commit = commit_on(root, commit, [*sources.items()])
    tree = tree_without(root, commit, SPECS)
    files = {path for path, file in versions.items() if is_test_file(path) and file.mode != GONE}
    return OnlyTests(
        commit=commit,
        tree=tree,
        changed=tuple(sorted(changed | {*sources})),
        files=tuple(sorted(files | {*sources})),
        sources=tuple(sources),
        is_whole=tree == tree_without(root, head, SPECS),
    )


def _sources(run: Run, base: str, head: str, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the files of code that hold changed unit tests, as they are at the base commit but for
    these tests.
    """
    held = [path for path in paths if may_hold_tests(path)]
    if not held:
        return {}
    before, now = (run.repository.read_many(commit, held) for commit in (base, head))
    found: dict[str, bytes] = {}
    for path in held:
        # A file that is new is no part of the code without the change.
        if path in before and path in now:
            made = with_tests_of(before[path].decode(*_AS_IT_IS), now[path].decode(*_AS_IT_IS))
            if made is not None:
                found[path] = made.encode(*_AS_IT_IS)
    return found


def tasks_between(run: Run, base: str, head: str) -> tuple[TaskId, ...]:
    """Return the tasks whose commits lie between two commits."""
    commits = first_parents(run.repository.root, base, head)
    tasks = (dict(commit.trailers).get(_TASK) for commit in commits)
    return tuple(dict.fromkeys(TaskId(task) for task in tasks if task is not None))


def _is_of(commit: CommitInfo, tasks: Sequence[TaskId] | None) -> bool:
    """Return whether a commit belongs to one of these tasks; to any without them."""
    task = dict(commit.trailers).get(_TASK)
    return task is not None if tasks is None else task in tasks


def _commit(run: Run, base: str, versions: dict[str, FileVersion], last: CommitInfo) -> str:
    root = run.repository.root
    tree = tree_with(root, run.repository.tree_id(base), [*versions.values()])
    said = "The tests of a change, without its code"
    return make_commit(root, tree, [base], said, (), last.signature)


class RunsWithoutChange:
    """The runs of test commands there, each at most once: one that is recorded is not repeated."""

    def __init__(self, run: Run, project: Project, only: OnlyTests) -> None:
        self.only = only
        self._run = run
        self._project = project
        self.command_seconds = project.config.command_seconds
        self._known = {
            result.argv: result
            for task in run.state.tasks
            if task.without_change is not None and task.without_change.tree == only.tree
            for result in task.without_change.results
        }

    def narrowed(self, argv: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return the command that runs the change's files of tests alone; None if there is none.

        Unit tests within code cannot be run by their file, so all tests run for them.
        """
        if self.only.sources:
            return argv
        package = package_of(self._run, self.only.commit, argv)
        return selected(argv, self.only.files, frozenset(self._listed), package, even_all=True)

    def can_show(self, argv: tuple[str, ...]) -> bool:
        """Return whether a command may run tests of the change."""
        return not runs_none(argv, self.only.files, frozenset(self._listed))

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        return self._run.repository.list_files(self.only.commit)

    def result(self, argv: tuple[str, ...], seconds: float) -> CommandResult:
        """Return the result of a test command there. Raises CannotJudge."""
        argv = uncached(argv)
        if argv not in self._known:
            self._project.tell(
                Message(text="The tests of this change run without its code, to see them fail.")
            )
            with self._project.trial(self.only.commit, build_seconds=seconds) as place:
                found, _ = self._project.run_in(place, CommandName.TEST, argv, seconds)
            self._known[argv] = found
        return self._known[argv]


def without_change(
    runs: RunsWithoutChange,
    baseline: Sequence[CommandResult],
    elsewhere: Sequence[str],
    until: float,
) -> WithoutChange | None:
    """Run the test commands of the baseline that can run these files alone; None if none can.

    `elsewhere` are tests that fail with the change too. `until` is the end of the time for it, as
    of `time.monotonic`; what would need more than is left is not run.
    """
    results: list[CommandResult] = []
    facts: list[str] = []
    for before in baseline:
        argv = runs.narrowed(before.argv) if before.name is CommandName.TEST else None
        if argv is None:
            continue
        left = min(until - time.monotonic(), runs.command_seconds)
        if not (most := limit_of(before, left, whole=argv == before.argv)):
            facts.append(
                f"Not tried without the change: too little time is left for {_words(argv)}."
            )
            continue
        try:
            result = runs.result(argv, most)
        except CannotJudge as error:
            facts.append(f"Not tried without the change: {error.message}")
            continue
        if argv != before.argv and cause_of(result) in NOT_RUN:
            # The selection was wrong: it says nothing of the tests.
            continue
        results.append(result.replace(tail=""))
        known = {*before.failures, *elsewhere}
        facts += _facts(result, of_files(red_at_base(result, known), runs.only.files), runs.only)
    if not facts:
        return None
    return WithoutChange(tree=runs.only.tree, results=tuple(results), facts=tuple(facts))


def _facts(result: CommandResult, red: Sequence[str], only: OnlyTests) -> Iterator[str]:
    """Yield what a reviewer is told of a test command that ran without the change."""
    where, count = named(only.files), result.tests or 0
    if count < len(red) or only.sources:
        # Parts of tests have names of their own, and beside unit tests others ran: not counted.
        count = 0
    if result.timed_out:
        yield f"Without the change, {_words(result.argv)} does not end in time."
    elif red:
        yield f"Without the change, {_count(red, count)} in {where}{_which(red, count, only)}."
    elif not_loaded(result):
        yield f"Without the change, {where} cannot be loaded."
    elif result.exit_code and result.failures:
        yield f"Without the change, no test in {where} fails that passed before."
    elif result.exit_code:
        yield f"Without the change, {_words(result.argv)} ends with exit code {result.exit_code}."
    elif count:
        yield f"Without the change, the {several(count, 'test')} in {where} pass too."


def _count(red: Sequence[str], ran: int) -> str:
    if len(red) == ran:
        return f"the {several(ran, 'test')}"
    return f"{len(red)} of {several(ran, 'test')}" if ran else several(len(red), "test")


def _which(red: Sequence[str], ran: int, only: OnlyTests) -> str:
    """Return that tests fail, by name unless all do."""
    verb = "fails" if len(red) == 1 else "fail"
    names = [gist(name, _LONGEST_NAME) for name in short_names(red, only.files)]
    which = f": {named(names, _NAMED)}" if len(red) != ran else ""
    return f" {verb}{which}"


def _words(argv: Sequence[str]) -> str:
    return f"`{' '.join(argv)}`"


def red_before_green(
    results: Sequence[CommandResult], state: State, run: Run, project: Project
) -> RedBeforeGreen | None:
    """Return the proof for a change that mends a defect; None for any other change. Tests that a
    whole command does not list among those that it ran prove nothing: nobody would see them fail
    again.
    """
    if not _is_defect(state, run):
        return None
    head = project.tree.commit_id()
    only = only_tests(run, head)
    commands = [
        result
        for result in results
        if result.name is CommandName.TEST
        and not any(each.covers(result) for each in state.unusable)
    ]
    if only is None:
        return RedBeforeGreen(missing="No file of tests and no unit test was added or changed.")
    if not commands:
        return RedBeforeGreen(missing="No test command counts for this run.")
    found, at_base = _found(commands, state, project, RunsWithoutChange(run, project, only))
    if not found:
        return RedBeforeGreen(missing=next(why_not_red(at_base)))
    listed = [project.passed(result.argv) for result in commands]
    if None not in listed:
        ran = {name for names in listed for name in names or ()}
        found = tuple(name for name in found if is_listed(name, ran))
    if not found:
        return RedBeforeGreen(missing="No command ran the tests that fail without the change.")
    return RedBeforeGreen(tests=found, files=only.changed, base=state.base_commit, head=head)


def _is_defect(state: State, run: Run) -> bool:
    """Return whether the request or the design calls the change a fix."""
    plan = run.pipeline.approved_first
    named = ["request.md", *([plan.writes] if plan is not None else [])]
    texts = {name: run.workspace.read(name) for name in named if run.workspace.read_bytes(name)}
    request = {name: text for name, text in texts.items() if name == "request.md"}
    kinds = {name_of_change(run.pipeline, state, each).type for each in (texts, request)}
    return ChangeType.FIX in kinds


def _found(
    commands: Sequence[CommandResult], state: State, project: Project, runs: RunsWithoutChange
) -> tuple[tuple[str, ...], list[CommandResult]]:
    """Return the tests that are red there and green now, and the results there."""
    baseline = {(each.name, each.argv): each.failures for each in state.baseline}
    found: list[str] = []
    at_base: list[CommandResult] = []
    for now in [each for each in commands if runs.can_show(each.argv)] or commands:
        argv = runs.narrowed(now.argv) or now.argv
        result = runs.result(argv, runs.command_seconds)
        if argv != now.argv and cause_of(result) is Cause.USAGE_ERROR:
            result = runs.result(now.argv, runs.command_seconds)
        at_base.append(result)
        known = {*baseline.get((now.name, now.argv), ()), *now.failures, *now.flaky}
        red = of_files(red_at_base(result, known), runs.only.changed)
        selection = select_tests(now.argv, red)
        if selection is None or ran_green(now.argv, red, project.run_again(selection.argv)):
            found += red
    return tuple(found), at_base
