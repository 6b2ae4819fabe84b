"""What project commands said, and whether the change made anything newly red. The outputs are those
of real runs.
"""

from pathlib import Path
from time import process_time

import pytest

from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import read_outcome
from forge_bot.verification.judgement import UNNAMED, Judgement, judge, newly_failing
from forge_bot.verification.red_tests import is_red_script, of_files, red_at_base
from forge_bot.verification.shown_output import TAIL_CHARACTERS, TAIL_LINES
from tests.fakes.rows import rows

ROWS = rows(__file__)

FIXTURES = Path(__file__).parent.parent / "fixtures"
OUTPUTS = FIXTURES / "outputs"
TEST, LINT, BUILD, SETUP = CommandName.TEST, CommandName.LINT, CommandName.BUILD, CommandName.SETUP

UNITTEST = (
    "setUpClass (unit_sample.S)",
    "test_bad (unit_sample.T.test_bad)",
    "test_err (unit_sample.T.test_err)",
    "test_sub (unit_sample.T.test_sub) (i=1)",
    "test_unexpected (unit_sample.T.test_unexpected)",
)
CARGO = ("fails", "src/lib.rs - add", "tests::fails", "tests::must_panic")
SPEC = (
    "nodetest/a.test.js > fails plainly",
    "nodetest/a.test.js > inner fails",
    "nodetest/b.test.js > /home/dev/project/nodetest/b.test.js",
)
RUSTC = (
    "src/lib.rs: E0308 mismatched types",
    "src/lib.rs: E0425 cannot find value `missing` in this scope",
)

GO = (
    "x TestBad",
    "x TestBad/one",
    "x/bad (error)",
    "x/panics (error)",
    "x/panics TestPanic",
    UNNAMED,
)
RUNS: dict[str, tuple[int, int | None, tuple[str, ...]]] = {
    "unittest_fail": (1, 5, UNITTEST),
    "unittest_verbose": (1, 5, UNITTEST),
    "unittest_import": (1, 1, ("nomodule (unittest.loader._FailedTest.nomodule)",)),
    "unittest_zero": (0, 0, ()),
    "go_events": (1, 5, GO),
    "go_elsewhere": (1, None, ()),
    "cargo_nofast": (101, 6, CARGO),
    "cargo_quiet": (101, 6, CARGO),
    "cargo_test": (101, 3, ("tests::fails", "tests::must_panic", UNNAMED)),
    "cargo_compile": (101, None, ()),
    "cargo_none": (0, 0, ()),
    "cargo_features": (101, None, ()),
    "cargo_no_target": (101, None, ()),
    "node_spec": (1, 5, SPEC),
}
REPORTS: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = ROWS["reports"]
"""Reports of runners: how many tests ran, which failed, and which passed."""
RUFF = (
    "lint/a.py: F401 `os` imported but unused",
    "lint/a.py: F401 `sys` imported but unused",
    "lint/a.py: F811 Redefinition of unused `f` from line N",
    "lint/a.py: F821 Undefined name `undefined_name`",
    "lint/a.py: F841 Local variable `y` is assigned to but never used",
    "lint/a.py: I001 Import block is un-sorted or un-formatted",
    "lint/b.py: invalid-syntax: Expected a parameter or the end of the parameter list",
    "lint/b.py: invalid-syntax: unexpected EOF while parsing",
)
RUFF_CONCISE = tuple(item.replace("line N", "line N: `f` redefined here") for item in RUFF)
MYPY = (
    (
        'lint/a.py: Incompatible types in assignment (expression has type "str", variable has type'
        ' "int") [assignment]'
    ),
    'lint/a.py: Name "f" already defined on line N [no-redef]',
)
ESLINT = (
    "/home/dev/project/lint/a.js: 'missing' is not defined no-undef",
    "/home/dev/project/lint/a.js: 'unused' is assigned a value but never used no-unused-vars",
    (
        "/home/dev/project/lint/a.js: Function 'f' has a complexity of 2. Maximum allowed is 1"
        " complexity"
    ),
    "/home/dev/project/lint/b.js: Parsing error: Unexpected token ;",
    "/home/dev/project/lint/eslint.config.js: 'module' is not defined no-undef",
)
TSC = (
    "ts/a.ts: TS2322: Type 'string' is not assignable to type 'number'.",
    "ts/a.ts: TS2339: Property 'foo' does not exist on type 'number'.",
)
GOLANGCI = (
    "main.go: Error return value of `os.Remove` is not checked (errcheck)",
    "pkg/store/store.go: func `unused` is unused (unused)",
    "pkg/store/store.go: ineffectual assignment to err (ineffassign)",
)
COMPLAINTS: dict[str, tuple[str, ...]] = {
    "ruff_full": RUFF,
    "ruff_concise": RUFF_CONCISE,
    "ruff_grouped": RUFF_CONCISE,
    "ruff_format": (
        "lint/a.py: unformatted: File would be reformatted",
        "lint/b.py: invalid-syntax: Expected a parameter or the end of the parameter list",
    ),
    "black": ("lint/a.py: would be reformatted",),
    "mypy": MYPY,
    "mypy_syntax": (
        "lint/b.py: Expected a parameter or the end of the parameter list [syntax]",
        "lint/b.py: Unexpected EOF while parsing [syntax]",
    ),
    "eslint": ESLINT,
    "eslint_warn": ("/home/dev/project/lint/a.js: Expected '===' and instead saw '==' eqeqeq",),
    "eslint_fatal": (),
    "tsc": TSC,
    "tsc_pretty": TSC,
    "golangci": GOLANGCI,
    "go_vet": ("broken/a_test.go: undefined: missing",),
    "cargo_clippy": ("src/lib.rs: unneeded `return` statement",),
    "cargo_build": RUSTC,
}
MOVED = [path.stem.removesuffix("_moved") for path in sorted(OUTPUTS.glob("*_moved.txt"))]


def outcome(name: str, exit_code: int = 1, command: CommandName = TEST) -> CommandResult:
    output = (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8")
    return read_outcome(command, ["make", command.value], exit_code, output, 1_200).result


def read(command: CommandName, argv: list[str], exit_code: int, output: str) -> CommandResult:
    return read_outcome(command, argv, exit_code, output, 1).result


@pytest.mark.parametrize("name", RUNS)
def test_a_runner_tells_how_many_tests_ran_and_which_failed(name: str) -> None:
    exit_code, tests, failures = RUNS[name]
    result = outcome(name, exit_code)
    assert (result.tests, result.failures) == (tests, failures)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_tells_how_many_tests_ran_and_how_each_ended(name: str) -> None:
    tests, failures, passed = REPORTS[name]
    text = (FIXTURES / "reports" / name).read_text(encoding="utf-8")
    read = read_outcome(TEST, ["make"], 1, "", 1, reports={name: text})
    assert (read.result.tests, read.result.failures, read.passed) == (tests, failures, passed)
    for broken in (text[:-30], "<!DOCTYPE x>" + text, "", "[]", "{}", "<a/>" * 2):
        assert read_outcome(TEST, ["make"], 1, "", 1, reports={name: broken}).result.tests is None


def test_what_mocha_would_print_is_made_of_its_report() -> None:
    text = (FIXTURES / "reports" / "mocha.json").read_text(encoding="utf-8")
    tail = read_outcome(TEST, ["npx", "mocha"], 1, "", 1, reports={"mocha.json": text}).result.tail
    assert tail.startswith("  1 passing\n  1 failing\n\n  1) group fails:\nError: boom\n")


def test_the_events_of_go_are_shown_as_people_read_them() -> None:
    tail = outcome("go_events").tail
    assert "    a_test.go:4: boom\n--- FAIL: TestBad/one (0.00s)\n" in tail
    assert "TestGood" not in tail
    assert "{" not in tail.split("panic:")[0]


def test_a_run_that_stopped_early_is_told_from_the_output() -> None:
    line = "!!!!!!!!!! stopping after 1 failures !!!!!!!!!!"
    report = '<a><testcase file="a.py" classname="a" name="test_a"><failure/></testcase></a>'
    read = read_outcome(TEST, ["pytest"], 1, line, 1, reports={"pytest.xml": report})
    assert read.result.failures == ("a.py::test_a", UNNAMED)


@pytest.mark.parametrize("name", COMPLAINTS)
def test_a_linter_or_compiler_tells_its_complaints(name: str) -> None:
    assert outcome(name, command=LINT).failures == COMPLAINTS[name]
    assert outcome(name, command=BUILD).failures == COMPLAINTS[name]
    assert outcome(name, exit_code=0, command=LINT).failures == ()


@pytest.mark.parametrize("name", MOVED)
def test_a_complaint_stays_itself_when_its_line_moves(name: str) -> None:
    before, after = outcome(name, command=LINT), outcome(f"{name}_moved", command=LINT)
    assert before.failures
    assert before.failures == after.failures
    assert before.tail != after.tail
    assert not judge([before], [after]).red


def test_every_output_that_was_kept_is_used() -> None:
    used = {*RUNS, *COMPLAINTS, *(f"{name}_moved" for name in MOVED), *MOVED}
    also = {"pylint", "pyright", "cargo_clippy_all", "pytest_default", "pytest_green"}
    assert {path.stem for path in OUTPUTS.glob("*.txt")} == used | also


def test_pylint_and_pyright_are_read_too() -> None:
    assert len(outcome("pylint", 6, LINT).failures) == 6
    assert len(outcome("pyright", 1, LINT).failures) == 3


def test_warnings_are_complaints_only_where_nothing_worse_is_said() -> None:
    assert outcome("cargo_clippy_all", command=LINT).failures == (
        "src/lib.rs: unneeded `return` statement",
    )
    both = "a.c:1:2: warning: unused variable\nb.c:3:4: error: expected ';'\n"
    assert read(BUILD, ["make"], 2, both).failures == ("b.c: expected ';'",)


def test_one_complaint_more_of_a_kind_that_its_file_had_is_not_new() -> None:
    line = "{}.py:{}:1: E501 line too long\n"
    once, twice, elsewhere = (
        read(LINT, ["flake8"], 1, "".join(line.format(*at) for at in places))
        for places in ([("a", 3)], [("a", 3), ("a", 9)], [("a", 3), ("b", 9)])
    )
    assert twice.failures == ("a.py: E501 line too long",) * 2
    assert not judge([once], [twice]).red
    assert newly_failing(once, twice) == ()
    judgement = judge([once], [elsewhere])
    assert judgement.reasons[0].endswith("these are new: b.py: E501 line too long.")
    green = read(LINT, ["flake8"], 0, "")
    assert judge([green], [once]).red


def test_two_runners_in_one_script_count_together() -> None:
    text = (OUTPUTS / "node_spec.txt").read_text(encoding="utf-8")
    report = (FIXTURES / "reports" / "jest.json").read_text(encoding="utf-8")
    read = read_outcome(TEST, ["npm", "test"], 1, text, 1, reports={"jest.json": report})
    assert read.result.tests == 7
    assert {*SPEC, "t/b.test.js (error)"} < {*read.result.failures}


def test_the_tail_is_the_end_of_the_output_without_colours_and_progress_bars() -> None:
    numbered = "\n".join(f"line {number}" for number in range(100))
    assert read(BUILD, ["make"], 0, numbered).tail.split("\n") == [
        f"line {number}" for number in range(40, 100)
    ]
    assert (
        read(BUILD, ["make"], 0, "\x1b[31mred\x1b[0m \x1b]8;;x\x07link\r\n10%\r50%\r100%\n\n").tail
        == "red link\n100%"
    )
    long = read(BUILD, ["make"], 0, ("x" * 1_000 + "\n") * 50 + "end\n").tail
    assert len(long) == TAIL_CHARACTERS
    assert long.endswith("end")
    assert len(long.split("\n")) <= TAIL_LINES


# -- judging
# --------------------------------------------------------------------------------------------------


def result(
    name: CommandName = TEST,
    exit_code: int = 0,
    failures: str = "",
    tests: int | None = 10,
    *,
    argv: str = "make test",
    timed_out: bool = False,
) -> CommandResult:
    return CommandResult(
        name=name,
        argv=tuple(argv.split()),
        exit_code=exit_code,
        duration_ms=1,
        tests=tests if name is TEST else None,
        failures=tuple(sorted(failures.split())),
        timed_out=timed_out,
    )


GREEN = result()
RED = result(exit_code=1, failures="a b")


def reason(before: CommandResult | None, after: CommandResult) -> str:
    """The one reason why it is red."""
    judgement = judge([before] if before is not None else [], [after])
    assert judgement.red
    (why,) = judgement.reasons
    return why


def notes(before: CommandResult, after: CommandResult) -> tuple[str, ...]:
    judgement = judge([before], [after])
    assert judgement == Judgement(red=False, notes=judgement.notes)
    return judgement.notes


def test_green_stays_green_without_a_word() -> None:
    assert judge([GREEN], [GREEN]) == Judgement(red=False)
    assert judge([RED], [GREEN]) == Judgement(red=False)
    assert judge([], [GREEN]) == Judgement(red=False)


def test_what_was_green_and_fails_now_is_red_and_names_what_fails() -> None:
    assert (
        reason(GREEN, RED)
        == "test (`make test`) failed with exit code 1; it was green before the change: a, b."
    )
    assert "green before the change." in reason(result(BUILD), result(BUILD, 2))


def test_what_was_red_before_in_the_same_way_is_a_note() -> None:
    assert notes(RED, RED) == ("test (`make test`) was red before the change and still is: a, b.",)
    assert notes(RED, result(exit_code=1, failures="a")) == (
        "test (`make test`) was red before the change and still is: a.",
    )


def test_of_many_old_failures_a_note_names_three_each_once() -> None:
    many = result(exit_code=1, failures="a a a b c d e")
    (note,) = notes(many, many)
    assert note.endswith("was red before the change and still is: a, b, c and 2 more.")


def test_what_was_red_before_is_red_if_something_new_fails() -> None:
    assert reason(RED, result(exit_code=1, failures="a b c d")).endswith("these are new: c, d.")
    assert reason(RED, result(exit_code=1, failures="c")).endswith("these are new: c.")
    partly = result(exit_code=1).model_copy(update={"failures": ("c", UNNAMED)})
    assert f"these are new: c, {UNNAMED}" in reason(RED, partly)


def test_what_was_red_before_is_red_if_it_cannot_be_told_what_fails() -> None:
    unknown = result(exit_code=1)
    partly = RED.model_copy(update={"failures": ("a", "b", UNNAMED)})
    other = unknown.model_copy(update={"tail": "another error"})
    for before, after in (
        (unknown, other),
        (unknown, RED),
        (RED, unknown),
        (RED, partly),
        (partly, RED),
    ):
        assert "it cannot be told whether anything new fails" in reason(before, after)


def test_the_same_failures_with_another_exit_code_cannot_be_told_apart_from_new_ones() -> None:
    assert "cannot be told" in reason(RED, result(exit_code=139, failures="a b"))
    assert "cannot be told" in reason(
        result(exit_code=1, failures="a"), result(exit_code=2, failures="a")
    )


def test_an_exit_code_that_counts_the_failures_may_fall_with_them() -> None:
    assert (
        len(notes(result(exit_code=3, failures="a b c"), result(exit_code=2, failures="a b"))) == 1
    )


def test_a_test_command_that_ran_no_test_is_red_even_if_it_says_all_is_well() -> None:
    assert reason(GREEN, result(tests=0)) == "test (`make test`) ran no test."
    for name in ("unittest_zero", "cargo_none"):
        empty = outcome(name, RUNS[name][0])
        assert reason(GREEN, empty) == "test (`make test`) ran no test."
    assert not judge([result(LINT)], [result(LINT)]).red


def test_a_test_command_whose_output_no_longer_tells_of_tests_is_red() -> None:
    assert "no longer tells that any test ran; before, 10 did" in reason(GREEN, result(tests=None))
    assert judge([result(tests=None)], [result(tests=None)]) == Judgement(red=False)


def test_a_command_that_could_not_start_is_red_if_it_could_before() -> None:
    missing, there = result(LINT, 127, argv="ruff check"), result(LINT, argv="ruff check")
    assert reason(there, missing) == "lint (`ruff check`) could not be started: command not found."
    assert "not executable" in reason(None, result(LINT, 126))


def test_a_command_that_did_not_end_is_red_if_it_ended_before() -> None:
    late = result(exit_code=0, timed_out=True)
    assert reason(GREEN, late) == "test (`make test`) did not end in time."
    assert "cannot be told" in reason(
        result(exit_code=1, failures="a", timed_out=True), result(exit_code=1, failures="a")
    )


def test_a_setup_that_fails_is_red_whatever_was_before() -> None:
    failed = result(SETUP, 1, "a")
    assert "nothing after it can be trusted" in reason(failed, failed)


def test_a_command_that_is_not_run_again_is_red() -> None:
    judgement = judge([GREEN, result(LINT, argv="ruff check")], [GREEN])
    assert judgement == Judgement(
        red=True, reasons=("lint (`ruff check`) ran before the change but not after it.",)
    )


def test_a_failure_without_a_run_from_before_is_red() -> None:
    assert "there is no run from before the change to compare with: a, b." in reason(None, RED)
    other = judge([result(argv="make old")], [RED])
    assert len(other.reasons) == 2


def test_commands_of_one_name_are_compared_each_with_its_own() -> None:
    one, two = (
        result(exit_code=1, failures="a", argv="one"),
        result(exit_code=1, failures="b", argv="two"),
    )
    assert not judge([one, two], [two, one]).red


def test_fewer_tests_than_before_are_a_note() -> None:
    assert notes(GREEN, result(tests=9)) == (
        "test (`make test`) ran fewer tests than before the change: 9 instead of 10.",
    )
    assert notes(GREEN, result(tests=11)) == ()
    assert len(notes(RED, result(exit_code=1, failures="a b", tests=9))) == 2


def test_failures_beside_a_good_end_are_a_note() -> None:
    assert notes(GREEN, result(failures="a")) == (
        "test (`make test`) ended well although its output names failures: a.",
    )
    hidden = read(TEST, ["make", "test"], 0, "Ran 10 tests in 0.1s\n\nFAILED (errors=1)")
    assert notes(GREEN, hidden) == (
        "test (`make test`) ended well although its output counts failures, without naming them.",
    )


def test_no_commands_at_all_verify_nothing() -> None:
    assert judge([], []) == Judgement(
        red=False, notes=("No project command ran, so nothing was verified.",)
    )


def test_a_reason_names_ten_items_and_counts_the_rest() -> None:
    many = " ".join(f"t{number:02}" for number in range(13))
    assert reason(GREEN, result(exit_code=1, failures=many)).endswith("t08, t09 and 3 more.")


@pytest.mark.parametrize(
    "text",
    [
        "." * 200_000,
        "a." * 100_000 + "\n",
        "\x1b]" * 50_000,
        " FAIL  " + " [ " * 30_000,
        "(" * 100_000,
        "/a" * 50_000 + ":",
    ],
)
def test_a_hostile_output_is_read_in_a_moment(text: str) -> None:
    start = process_time()
    read(LINT, ["x"], 1, text)
    read(TEST, ["x"], 1, f"{text}\n Test Files  1 failed (1)\n")
    assert process_time() - start < 5


def test_vitest_names_a_test_below_its_project_by_the_file_as_the_project_sees_it() -> None:
    failures = ("src/tests/range.test.ts > draft 4",)
    inside = ["packages/zod/src/tests/range.test.ts"]
    assert of_files(failures, inside) == failures
    assert of_files(failures, ["packages/zod/src/tests/ange.test.ts"]) == ()


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("NameError: name 'new' is not defined", 1),
        ("AttributeError: type object 'Sub' has no attribute 'new'", 1),
        ("AttributeError: type object 'Sub' has no attribute '__args__'", 2),
    ],
)
def test_a_test_that_lacks_a_name_at_the_base_shows_no_defect(error: str, shown: int) -> None:
    output = (
        "FAIL: test_wrong (t.T.test_wrong)\n" + "-" * 70 + "\nAssertionError: 1 != 2\n"
        "\n" + "=" * 70 + "\nERROR: test_new (t.T.test_new)\n" + "-" * 70 + "\n"
        f"{error}\n\n" + "-" * 70 + "\n"
        "Ran 2 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n"
    )
    argv = ("python3", "-m", "unittest")
    there = read_outcome(TEST, argv, 1, "=" * 70 + "\n" + output, 1)
    assert red_at_base(there.result, ()) == there.result.failures
    told = red_at_base(there.result, (), there.output)
    assert "test_wrong (t.T.test_wrong)" in told
    assert len(told) == shown


@pytest.mark.parametrize(
    ("before", "there", "now", "shows"),
    [(0, 1, 0, True), (1, 1, 0, False), (0, 0, 0, False), (0, 1, 1, False), (0, 127, 0, False)],
)
def test_a_script_that_names_no_tests_shows_a_defect_by_its_exit_code(
    before: int, there: int, now: int, *, shows: bool
) -> None:
    results = [
        read_outcome(TEST, ("sh", "tests/repro.sh"), code, "wrong\n", 1).result
        for code in (before, there, now)
    ]
    assert is_red_script(results[0], results[1], results[2]) is shows
