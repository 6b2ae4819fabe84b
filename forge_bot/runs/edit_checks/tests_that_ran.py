"""Look whether the tests that a change adds ran with the project's own commands."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.engine import State
from forge_bot.git.diff import changed
from forge_bot.knowledge.affected_tests import script_of_tests
from forge_bot.knowledge.tests_in_source import may_hold_tests
from forge_bot.runs.edit_checks.newly_red import package_of
from forge_bot.runs.notifications import Message, Notify
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.sentences import say
from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.added_tests import (
    added_tests,
    can_run,
    counts_once,
    listing_words,
    lists_tests,
    ran_in,
    tests_in,
    why_not_run,
)
from forge_bot.verification.named_tests import TestPlace
from forge_bot.verification.selected_tests import runner_of

_MOST_ADDED = 200
"""Added tests that are looked for."""


@dataclass
class TestCommands:
    """The test commands that judge a change, and their further runs until the time is used up."""

    __test__ = False

    judged: Sequence[CommandResult]
    baseline: Sequence[CommandResult]
    """The results at the base commit, which tell how many tests ran there."""
    judged_run: Run
    base: str
    head: str
    """The commit that is judged."""
    printed: Callable[[tuple[str, ...]], str]
    """Returns the whole output of a command that ran."""
    again: Callable[[tuple[str, ...], float], tuple[CommandResult, str]]
    """Runs tests by some words, for at most so many seconds."""
    seconds: float
    tell: Notify

    def run(self, words: tuple[str, ...]) -> tuple[CommandResult, str] | None:
        """Run tests by these words; the result and the output, or None if there is no more time."""
        if self.seconds <= 0:
            return None
        result, output = self.again(words, self.seconds)
        self.seconds -= result.duration_ms / 1_000
        return result, output

    def script(self, argv: Sequence[str]) -> str:
        """Return what a package manager of JavaScript runs as `test` for a command."""
        return script_of_tests(package_of(self.judged_run, self.head, argv))

    def rose_by(self) -> int | None:
        """Return how many tests more than before ran; None if a command does not count them."""
        before = {each.argv: each.tests for each in self.baseline}
        pairs = [(before.get(each.argv), each.tests) for each in self.judged]
        if any(old is None or new is None for old, new in pairs):
            return None
        return sum((new or 0) - (old or 0) for old, new in pairs)


def commands_that_judge(
    results: Sequence[CommandResult], state: State, project: Project, run: Run
) -> TestCommands:
    """Return the test commands that judge the run's change at the project's commit."""
    return TestCommands(
        judged=[
            result
            for result in results
            if result.name is CommandName.TEST
            and not any(each.covers(result) for each in state.unusable)
        ],
        baseline=state.baseline,
        judged_run=run,
        base=state.base_commit,
        head=project.tree.commit_id(),
        printed=project.printed,
        again=lambda words, _: project.read_again(words),
        seconds=project.config.command_seconds,
        tell=project.tell,
    )


class LookedFor(NamedTuple):
    """The tests that a change adds and that no command ran, by name, and how many tests fewer than
    before ran beside those that did.
    """

    not_run: tuple[str, ...] = ()
    fewer: int = 0


def looked_for(commands: TestCommands) -> LookedFor:
    """Look for the tests that a change adds in what the commands ran."""
    if not commands.judged:
        return LookedFor()
    run, base, head = commands.judged_run, commands.base, commands.head
    root = run.repository.root
    paths = [
        path for path in changed(root, base, head) if belongs_to_tests(path) or may_hold_tests(path)
    ]
    if not paths:
        return LookedFor()
    before, after = (
        {
            path: raw.decode("utf-8", "replace")
            for path, raw in run.repository.read_many(commit, paths).items()
        }
        for commit in (base, head)
    )
    found, removed, replaced = added_tests(before, after)
    rose = commands.rose_by()
    counted = all(counts_once(after[place.path]) for place in found.values())
    all_ran = counted and rose == len(found) - removed
    wanted = {} if all_ran else dict([*found.items()][:_MOST_ADDED])
    known = [place for path, text in before.items() for place in tests_in(path, text)]
    unseen, untold = _unseen(commands, wanted, known, rose) if wanted else ([], [])
    named = {name: why_not_run(found[name], after[found[name].path]) for name in unseen}
    # Where tests are taken away, nobody can tell how many cases they had.
    fewer = 0 if removed or rose is None or not wanted else len(wanted) - len(unseen) - rose
    return LookedFor(
        (
            *(f"{name} ({why})" if why else name for name, why in named.items()),
            *(f"{name} ({say('runs.tests_that_ran.defined_twice')})" for name in replaced),
        ),
        max(0, fewer - len(untold)),
    )


def _unseen(
    commands: TestCommands,
    added: Mapping[str, TestPlace],
    known: Sequence[TestPlace],
    rose: int | None,
) -> tuple[list[str], list[str]]:
    """Return the added tests that surely did not run, and those of which no output can tell."""
    left = dict(added)
    untold: set[str] = set()
    for command in commands.judged:
        printed = commands.printed(command.argv)
        left = _without_seen(left, printed, command.argv, commands.script(command.argv))
    for command in commands.judged:
        script = commands.script(command.argv)
        own = {name: each for name, each in left.items() if can_run(command.argv, each, script)}
        if not own:
            continue
        words = listing_words(command.argv, [*own.values()], script)
        if words is None:
            printed = commands.printed(command.argv)
            there = (*known, *added.values())
            lists = runner_of(command.argv, script) == "cargo" or lists_tests(printed, there)
            untold |= {*own} if not lists and (rose is None or rose > 0) else set()
            continue
        commands.tell(Message(text=say("runs.tests_that_ran.looked_for")))
        ran = commands.run(words)
        if ran is None or ran[0].timed_out or (ran[0].tests is None and words[0] != "go"):
            untold |= {*own}
        elif ran[0].tests != 0:
            left = _without_seen(left, ran[1], words, script)
    return [name for name in left if name not in untold], [name for name in left if name in untold]


def _without_seen(
    tests: Mapping[str, TestPlace], output: str, argv: Sequence[str], script: str
) -> dict[str, TestPlace]:
    """Return the tests that an output does not show to have run."""
    return {name: place for name, place in tests.items() if not ran_in(output, place, argv, script)}
