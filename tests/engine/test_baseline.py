"""Which results of the baseline tell nothing, and what a person is asked about them."""

import pytest

from forge_bot.engine import Checkpoint, Exec, SpawnAgent
from forge_bot.engine.reports import Prepared
from forge_bot.engine.state import Reason
from forge_bot.values import CommandName, CommandResult, Effort
from forge_bot.verification.judgement import Cause, UnusableCommand, cause_of, judge, unusable
from tests.engine.test_verification import RUNS, outcome, result
from tests.fakes.bench import GREEN, RED, Bench, blob

TEST, LINT, SETUP = CommandName.TEST, CommandName.LINT, CommandName.SETUP
CAUSES = {
    "unittest_import": Cause.NOT_COLLECTED,
    "cargo_compile": Cause.NOT_COLLECTED,
    "unittest_zero": Cause.NO_TESTS,
    "go_elsewhere": Cause.UNREADABLE,
    "cargo_none": Cause.NO_TESTS,
    "cargo_features": Cause.UNREADABLE,
    "cargo_no_target": Cause.UNREADABLE,
}


@pytest.mark.parametrize("name", RUNS)
def test_of_real_outputs_those_that_tell_nothing_are_found_and_no_other(name: str) -> None:
    assert cause_of(outcome(name, RUNS[name][0])) is CAUSES.get(name)


def test_a_command_without_tests_beside_one_with_tests_is_no_question() -> None:
    empty, full = outcome("unittest_zero", RUNS["unittest_zero"][0]), result(TEST, 0)
    full = full.model_copy(update={"tests": 3})
    assert [one.cause for one in unusable((empty,))] == [Cause.NO_TESTS]
    assert unusable((empty, full)) == ()


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        (result(LINT, 127), Cause.MISSING_TOOL),
        (result(LINT, 2), Cause.UNREADABLE),
        (result(LINT, 1, "a.py: F401"), None),
        (result(timed_out=True), Cause.TIMED_OUT),
        (result(exit_code=1, failures="a b c", tests=3), Cause.ALL_RED),
        (result(exit_code=1, failures="a", tests=1), None),
        (result(exit_code=1, failures="a b", tests=3), None),
        (result(exit_code=2, tests=None), Cause.UNREADABLE),
        (result(SETUP, 1), Cause.SETUP_FAILED),
        (result(SETUP), None),
        (result(tests=None), None),
    ],
)
def test_a_result_tells_nothing_for_one_reason(found: CommandResult, cause: Cause | None) -> None:
    assert cause_of(found) is cause


def test_a_missing_module_of_python_is_a_missing_tool() -> None:
    argv = "{env}/bin/python -m pytest -q"
    tail = "/home/dev/env/bin/python: No module named pytest"
    missing = result(exit_code=1, tests=None, argv=argv).model_copy(update={"tail": tail})
    assert cause_of(missing) is Cause.MISSING_TOOL


@pytest.mark.parametrize(
    "name", [name for name in RUNS if RUNS[name][0] and CAUSES.get(name) is not Cause.UNREADABLE]
)
def test_the_same_failure_before_and_after_is_never_new(name: str) -> None:
    run = outcome(name, RUNS[name][0])
    judgement = judge([run], [run])
    assert not judgement.red
    assert len(judgement.notes) == 1


def test_what_a_person_left_out_is_not_judged_and_is_said() -> None:
    none = result(tests=0)
    left_out = unusable([none])
    assert left_out == (UnusableCommand(name=TEST, argv=none.argv, cause=Cause.NO_TESTS),)
    judgement = judge([none], [RED.model_copy(update={"argv": none.argv})], left_out)
    assert not judgement.red
    assert judgement.notes == (
        "test (`make test`) ran no test before the change; a person agreed that it is not judged.",
    )
    lint = result(LINT, 1, "a", argv="ruff check")
    assert judge([none, result(LINT, argv="ruff check")], [none, lint], left_out).red


def test_without_setup_nothing_is_judged() -> None:
    broken = result(SETUP, 1, argv="make setup")
    left_out = unusable([broken])
    assert not judge([], [broken], left_out).red
    assert not judge([], [RED], left_out).red


# -- the question
# --------------------------------------------------------------------------------------------------


def asked(bench: Bench, *results: CommandResult) -> Checkpoint:
    name = bench.action.action_id
    bench.tell(
        Prepared(
            key=f"{name}/{bench.ticks}",
            at=bench.now(),
            action_id=name,
            results=results,
            unusable=unusable(results),
            artifact="baseline.md",
            blob=blob(f"baseline {bench.ticks}"),
        )
    )
    action = bench.action
    assert isinstance(action, Checkpoint)
    return action


def empty() -> CommandResult:
    return GREEN.model_copy(update={"tests": 0, "exit_code": 5})


def test_a_baseline_that_tells_nothing_asks_before_any_model() -> None:
    bench = Bench(Effort.S)
    gate = asked(bench, empty())
    assert (gate.name, gate.reason) == ("checkpoint-c", Reason.BASELINE)
    assert gate.subject == "test (`python3 -m unittest`) ran no test before the change."
    assert [file.name for file in gate.files] == ["baseline.md"]
    assert gate.options == ("approve", "reject")
    assert bench.state.usage.calls == 0


def test_an_approved_baseline_goes_on_and_buys_no_fix_round() -> None:
    bench = Bench(Effort.S)
    asked(bench, empty())
    bench.approve()
    assert isinstance(bench.action, SpawnAgent)
    bench.until("final-verification")
    bench.ran(empty())
    verification = bench.state.verification
    assert verification is not None
    assert not verification.red
    assert "a person agreed that it is not judged" in verification.notes[0]


def test_a_rejected_baseline_runs_once_more_and_may_be_well_then() -> None:
    bench = Bench(Effort.S)
    asked(bench, empty())
    bench.reject("commands.test is set now")
    assert isinstance(bench.action, Exec)
    assert bench.action.operation == "prepare"
    bench.prepared(GREEN)
    assert isinstance(bench.action, SpawnAgent)
    assert bench.state.unusable == ()
    bench.until("final-verification")
    bench.ran(empty())
    assert bench.state.tasks[-1].origin == "final-verification.md"
