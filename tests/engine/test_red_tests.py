"""A newly red test is told from a flaky one by running it again, at both commits; and a name in a
document is that of a test which a runner reports, or it is not.

The runner below is small but whole: it runs planted tests by name and prints what pytest or a
runner without selection prints, and the outputs are read as real ones are.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import read_outcome
from forge_bot.verification.judgement import UNNAMED, judge
from forge_bot.verification.red_tests import (
    MOST_RERUN,
    RERUNS,
    Moment,
    flaky_tests,
    is_listed,
    names_test,
    newly_red,
)
from forge_bot.verification.runners import (
    Selection,
    report_environment,
    reporting,
    select_tests,
    uncached,
)
from tests.fakes.rows import rows
from tests.fakes.sampled import sampled

ROWS = rows(__file__)

PYTEST, MAKE = ("pytest", "-q"), ("make", "test")
Fails = Callable[[Moment, Sequence[str]], bool]
"""Whether a planted test fails at a commit, in the company of the tests that ran before it."""


@dataclass
class Runner:
    """A test runner in this process."""

    argv: tuple[str, ...]
    planted: Mapping[str, Fails]
    new: frozenset[str] = frozenset()
    calls: list[tuple[Moment, tuple[str, ...]]] = field(
        default_factory=list[tuple[Moment, tuple[str, ...]]]
    )

    def run(self, moment: Moment, names: Sequence[str] = ()) -> CommandResult:
        self.calls.append((moment, tuple(names)))
        there = [name for name in self.planted if moment is Moment.AFTER or name not in self.new]
        if any(name not in there for name in names):
            return read_outcome(CommandName.TEST, self.argv, 4, "ERROR: not found", 1).result
        chosen = [name for name in there if not names or name in names]
        failed = [
            name for place, name in enumerate(chosen) if self.planted[name](moment, chosen[:place])
        ]
        return CommandResult(
            name=CommandName.TEST,
            argv=self.argv,
            exit_code=int(bool(failed)),
            duration_ms=1,
            tests=len(chosen),
            failures=tuple(sorted(failed)),
        )

    def verified(self) -> tuple[CommandResult, CommandResult]:
        """The baseline, and the result after the change with its flaky tests."""
        before, after = self.run(Moment.BEFORE), self.run(Moment.AFTER)
        again = flaky_tests(before, after, self.run)
        return before, after.replace(flaky=again)


def steady(_moment: Moment, _earlier: Sequence[str]) -> bool:
    return False


def broken(moment: Moment, _earlier: Sequence[str]) -> bool:
    return moment is Moment.AFTER


def chancy(share: float, seed: int) -> Fails:
    """A test that fails in a share of its runs, whatever the commit."""
    chance = Random(seed)  # noqa: S311 - not for secrets
    return lambda _moment, _earlier: chance.random() < share


def scripted(*outcomes: bool) -> Fails:
    """A test with these outcomes, in the order of its runs, then with the last one."""
    left = [*outcomes]
    return lambda _moment, _earlier: left.pop(0) if len(left) > 1 else left[0]


def test_a_second_failing_test_of_a_name_that_failed_before_is_not_taken_for_flaky() -> None:
    """As node names tests, without their file. Each rerun at the base shows the name too."""

    def failed(count: int) -> CommandResult:
        text = "ℹ tests 2\n✖ failing tests:\n" + "✖ works (1ms)\n" * count
        text += f"ℹ pass {2 - count}\nℹ fail {count}"
        return read_outcome(CommandName.TEST, MAKE, 1, text, 1).result

    again = flaky_tests(
        failed(1), failed(2), lambda moment, _: failed(2 if moment is Moment.AFTER else 1)
    )
    assert again == ()
    assert judge([failed(1)], [failed(2)]).red


@pytest.mark.parametrize("argv", [PYTEST, MAKE], ids=["selected", "whole"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_of_a_hundred_verifications_with_flaky_tests_at_most_one_is_red(
    argv: tuple[str, ...], share: float
) -> None:
    red = 0
    suspected = 0
    for seed in range(100):
        planted = {
            **{f"t.py::test_steady_{each}": steady for each in range(5)},
            "t.py::test_flaky": chancy(share, seed),
            "t.py::test_also_flaky": chancy(share, seed + 1_000),
        }
        before, after = Runner(argv, planted).verified()
        suspected += bool(newly_red(before, after))
        red += judge([before], [after]).red
    assert suspected > 10, "without reruns these would have been red"
    assert red <= 1


@pytest.mark.parametrize("argv", [PYTEST, MAKE], ids=["selected", "whole"])
def test_twenty_regressions_among_flaky_tests_are_all_found(argv: tuple[str, ...]) -> None:
    for seed in range(20):
        planted = {
            "t.py::test_flaky": chancy(0.5, seed),
            f"t.py::test_broken_{seed}": broken,
            "t.py::test_steady": steady,
        }
        before, after = Runner(argv, planted).verified()
        judgement = judge([before], [after])
        assert judgement.red
        assert f"test_broken_{seed}" in judgement.reasons[0]


def test_a_flaky_test_is_named_and_not_judged() -> None:
    runner = Runner(PYTEST, {"t.py::test_flaky": scripted(False, True, True, False, False)})
    before, after = runner.verified()
    judgement = judge([before], [after])
    assert after.flaky == ("t.py::test_flaky",)
    assert not judgement.red
    assert "flaky tests, which are not judged" in judgement.notes[0]
    assert "t.py::test_flaky" in judgement.notes[0]
    assert [moment for moment, _ in runner.calls[2:]] == [
        Moment.AFTER,
        Moment.AFTER,
        Moment.BEFORE,
    ], "it ends with the first disagreement, once the base commit has the test too"


def test_a_regression_runs_alone_five_times_at_both_commits() -> None:
    runner = Runner(PYTEST, {"t.py::test_a": broken, "t.py::test_b": steady})
    before, after = runner.verified()
    assert judge([before], [after]).red
    alone = ("t.py::test_a",)
    each = [(moment, alone) for moment in (Moment.AFTER, Moment.BEFORE) for _ in range(RERUNS)]
    assert runner.calls[2:] == each, "so each commit is built once"


def after_the_others(moment: Moment, earlier: Sequence[str]) -> bool:
    return moment is Moment.AFTER and bool(earlier)


def alone(moment: Moment, earlier: Sequence[str]) -> bool:
    return moment is Moment.AFTER or not earlier


@pytest.mark.parametrize(
    ("argv", "fails", "is_new"),
    [
        (PYTEST, after_the_others, False),
        (MAKE, after_the_others, False),
        (PYTEST, alone, False),
        (PYTEST, scripted(True, True, False, True, False), True),
    ],
    ids=["fails with the others", "the same unselected", "needs the others", "flaky and new"],
)
def test_a_test_that_needs_others_or_is_new_with_the_change_is_red(
    argv: tuple[str, ...], fails: Fails, *, is_new: bool
) -> None:
    planted = {"t.py::test_first": steady, "t.py::test_second": fails}
    runner = Runner(argv, planted, new=frozenset(["t.py::test_second"] if is_new else []))
    before, after = runner.verified()
    assert judge([before], [after]).red
    assert after.flaky == ()


@pytest.mark.parametrize(("count", "reruns"), [(MOST_RERUN, True), (MOST_RERUN + 1, False)])
def test_very_many_newly_red_tests_are_red_without_reruns(count: int, *, reruns: bool) -> None:
    planted = {f"t.py::test_{each}": broken for each in range(count)}
    runner = Runner(PYTEST, {**planted, "t.py::test_steady": steady})
    before, after = runner.verified()
    assert judge([before], [after]).red
    assert (len(runner.calls) > 2) is reruns


def test_without_more_time_what_is_newly_red_stays_red() -> None:
    runner = Runner(PYTEST, {"t.py::test_flaky": scripted(False, True)})
    before, after = runner.run(Moment.BEFORE), runner.run(Moment.AFTER)
    assert flaky_tests(before, after, lambda _moment, _names: None) == ()
    assert judge([before], [after]).red


def unread(exit_code: int) -> CommandResult:
    return read_outcome(
        CommandName.TEST, ("make", "test"), exit_code, "no format we know", 1
    ).result


def test_a_command_that_names_nothing_is_flaky_if_it_passes_again() -> None:
    again = iter([unread(1), unread(0), unread(0)])
    flaky = flaky_tests(unread(0), unread(1), lambda _moment, _names: next(again))
    assert flaky == (UNNAMED,)
    after = unread(1).model_copy(update={"flaky": flaky})
    assert not judge([unread(0)], [after]).red
    always = {Moment.BEFORE: unread(0), Moment.AFTER: unread(1)}
    assert flaky_tests(unread(0), unread(1), lambda moment, _names: always[moment]) == ()


@pytest.mark.parametrize(
    ("moment", "untold"),
    [
        (Moment.AFTER, unread(0).model_copy(update={"tests": 0})),
        (Moment.BEFORE, unread(124).model_copy(update={"timed_out": True})),
    ],
    ids=["ran none", "timed out"],
)
def test_a_rerun_that_timed_out_or_ran_no_test_makes_nothing_flaky(
    moment: Moment, untold: CommandResult
) -> None:
    again = {Moment.BEFORE: unread(0), Moment.AFTER: unread(1), moment: untold}
    assert flaky_tests(unread(0), unread(1), lambda moment, _names: again[moment]) == ()


def test_a_command_that_timed_out_or_ran_no_test_is_not_run_again() -> None:
    def refuse(moment: Moment, names: Sequence[str]) -> CommandResult:
        raise AssertionError((moment, names))

    slow = unread(1).model_copy(update={"timed_out": True})
    for now in (slow, unread(127)):
        assert flaky_tests(unread(0), now, refuse) == ()


# -- selecting
# --------------------------------------------------------------------------------------------------

SELECTIONS = ROWS["selections"]


@pytest.mark.parametrize(("command", "name", "expected"), SELECTIONS)
def test_a_test_is_selected_by_its_name(command: str, name: str, expected: str) -> None:
    selection = select_tests(command.split(), [name])
    assert selection is not None
    before, words = expected.split("|")
    assert " ".join(selection.argv).endswith(f"{before} {words}")
    assert selection.tests == 1


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("make test", "a"),
        ("pytest", "tests/a.py (error)"),
        ("python -m unittest", "setUpClass (m.S)"),
        ("go test ./...", "e.com/m/p (error)"),
        ("cargo test", "src/lib.rs - add"),
        ("npm test", "a.test.js › Test suite failed to run"),
        ("npm test", "suite > deep"),
        ("pytest", UNNAMED),
    ],
)
def test_what_a_runner_cannot_select_runs_with_the_others(command: str, name: str) -> None:
    assert select_tests(command.split(), [name]) is None
    assert select_tests(command.split(), []) is None


def test_several_tests_are_selected_at_once_and_counted_once_each() -> None:
    names = ["test_a (m.T.test_a) (i=1)", "test_a (m.T.test_a) (i=2)", "test_b (m.T.test_b)"]
    selection = select_tests(["python3", "-m", "unittest"], names)
    assert selection == Selection(
        ("python3", "-m", "unittest", "-k", "*m.T.test_a", "-k", "*m.T.test_b"), 2
    )


def test_go_is_asked_not_to_answer_from_its_cache() -> None:
    assert uncached(["go", "test", "./..."]) == ("go", "test", "-count=1", "./...")
    for words in ("go -C a test", "go -C=a test", "go test -C a"):
        argv = uncached([*words.split(), "./..."])
        assert argv == (*words.split(), "-count=1", "./...")
    assert uncached(["go", "vet", "test"]) == ("go", "vet", "test")
    assert uncached(MAKE) == MAKE


@pytest.mark.parametrize(
    "words",
    sampled(
        [["unittest"], ["unittest", "discover"], ["pytest", "-q", "-p", "no:cacheprovider"]], 3
    ),
)
def test_pytest_and_unittest_of_this_machine_run_what_is_selected(
    tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "test_a.py").write_text(
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_good(self): pass\n"
        "    def test_bad(self): self.fail('x')\n    def test_worse(self): self.fail('y')\n"
    )

    def ran(argv: Sequence[str]) -> CommandResult:
        env = {**os.environ, **report_environment(str(tmp_path), os.environ)}
        report = tmp_path / "pytest.xml"
        report.unlink(missing_ok=True)
        words = reporting(tuple(argv), str(tmp_path))
        done = subprocess.run(
            words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        output = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
        reports = {report.name: report.read_text()} if report.exists() else {}
        outcome = read_outcome(CommandName.TEST, argv, done.returncode, output, 1, reports=reports)
        assert {name.rpartition(":")[2].split(" ")[0] for name in outcome.passed or ()} <= {
            "test_good"
        }
        assert (outcome.passed is None) == bool(outcome.result.tests == 1 and not reports)
        return outcome.result

    whole = ran([sys.executable, "-m", *words])
    assert (whole.tests, len(whole.failures)) == (3, 2)
    selection = select_tests(whole.argv, whole.failures[:1])
    assert selection is not None
    alone = ran(selection.argv)
    assert (alone.tests, alone.failures) == (1, whole.failures[:1])


# -- names of tests in documents


@pytest.mark.parametrize(("name", "test", "same"), ROWS["a_name_is_that_of"])
def test_a_name_is_that_of_a_test_of_its_class_or_of_its_file(
    name: str, test: str, same: bool
) -> None:
    assert names_test(name, test) is same


def test_a_test_that_failed_elsewhere_is_listed_by_its_name_its_part_or_its_title() -> None:
    passed = {"a.py::test_a", "test_b (m.T.test_b)", "works (x)", "adds"}
    for name in (
        "a.py::test_a",
        "test_b (m.T.test_b) (i=1)",
        "a.test.js > adds",
    ):
        assert is_listed(name, passed), name
    for name in ("b.py::test_a", "test_c (m.T.test_c)", "a.test.js > subtracts"):
        assert not is_listed(name, passed), name
