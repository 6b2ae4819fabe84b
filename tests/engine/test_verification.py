"""What project commands said, and whether the change made anything newly red. The outputs are those
of real runs.
"""

from pathlib import Path
from time import process_time

import pytest

from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import TAIL_CHARACTERS, TAIL_LINES, read_outcome
from forge_bot.verification.judgement import UNNAMED, Judgement, judge, newly_failing
from forge_bot.verification.red_tests import is_red_script, of_files, red_at_base
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
TAP = ("/home/dev/project/nodetest/b.test.js", "fails plainly", "suite", "suite > inner fails")
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
    "node_tap": (1, 5, TAP),
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
    assert tail.startswith("  1 passing\n  1 failing\n\n  ● group fails\n\nError: boom\n")


def test_the_events_of_go_are_shown_as_people_read_them() -> None:
    tail = outcome("go_events").tail
    assert "    a_test.go:4: boom\n--- FAIL: TestBad/one (0.00s)\n" in tail
    assert "TestGood" not in tail
    assert "{" not in tail.split("panic:")[0]


def test_a_run_that_stopped_early_is_told_from_the_output() -> None:
    lines = "1 failed\n!!!!!!!!!! stopping after 1 failures !!!!!!!!!!"
    report = '<a><testcase file="a.py" classname="a" name="test_a"><failure/></testcase></a>'
    read = read_outcome(TEST, ["pytest"], 1, lines, 1, reports={"pytest.xml": report})
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
PARTLY = RED.replace(failures=("a", "b", UNNAMED))
UNKNOWN = result(exit_code=1)
LATE = result(timed_out=True)
MANY = result(exit_code=1, failures="a a a b c d e")
RUFF_FINE = result(LINT, argv="ruff check")
SETUP_FAILS = result(SETUP, 1, "a")
Judged = CommandResult | None
REASONS: list[tuple[Judged, Judged, str]] = [
    (
        GREEN,
        RED,
        "test (`make test`) failed with exit code 1; it was green before the change: a, b.",
    ),
    (result(BUILD), result(BUILD, 2), "it was green before the change."),
    (RED, result(exit_code=1, failures="a b c d"), "these are new: c, d."),
    (RED, result(exit_code=1, failures="c"), "these are new: c."),
    (RED, result(exit_code=1).replace(failures=("c", UNNAMED)), f"these are new: c, {UNNAMED}."),
    (UNKNOWN, RED, "it cannot be told whether anything new fails."),
    (RED, UNKNOWN, "it cannot be told whether anything new fails."),
    (RED, PARTLY, "it cannot be told whether anything new fails."),
    (PARTLY, RED, "it cannot be told whether anything new fails."),
    (RED, result(exit_code=139, failures="a b"), "it cannot be told whether anything new fails."),
    (LATE, result(exit_code=1, failures="a"), "it cannot be told whether anything new fails."),
    (GREEN, result(tests=0), "test (`make test`) ran no test."),
    (GREEN, result(tests=None), "no longer tells that any test ran; before, 10 did."),
    (RUFF_FINE, result(LINT, 127, argv="ruff check"), "could not be started: command not found."),
    (None, result(LINT, 126), "could not be started: not executable."),
    (GREEN, LATE, "test (`make test`) did not end in time."),
    (SETUP_FAILS, SETUP_FAILS, "without it nothing after it can be trusted."),
    (RUFF_FINE, None, "lint (`ruff check`) ran before the change but not after it."),
    (None, RED, "there is no run from before the change to compare with: a, b."),
    (
        GREEN,
        result(exit_code=1, failures=" ".join(f"t{number:02}" for number in range(13))),
        "t08, t09 and 3 more.",
    ),
]
NOTES: list[tuple[CommandResult, CommandResult, str]] = [
    (GREEN, GREEN, ""),
    (RED, GREEN, ""),
    (result(LINT), result(LINT), ""),
    (result(tests=None), result(tests=None), ""),
    (GREEN, result(tests=11), ""),
    (RED, RED, "test (`make test`) was red before the change and still is: a, b."),
    (RED, result(exit_code=1, failures="a"), "was red before the change and still is: a."),
    (MANY, MANY, "was red before the change and still is: a, b, c and 2 more."),
    # Mocha's exit code counts the failures.
    (
        result(exit_code=3, failures="a b c"),
        result(exit_code=2, failures="a b"),
        "was red before the change and still is: a, b.",
    ),
    (GREEN, result(tests=9), "ran fewer tests than before the change: 9 instead of 10."),
    (GREEN, result(failures="a"), "ended well although its output tells of failures: a."),
    (
        GREEN,
        read(TEST, ["make", "test"], 0, "Ran 10 tests in 0.1s\n\nFAILED (errors=1)"),
        f"ended well although its output tells of failures: {UNNAMED}.",
    ),
]


@pytest.mark.parametrize(("before", "after", "reason"), REASONS)
def test_what_is_newly_red_or_may_be_has_one_reason(
    before: Judged, after: Judged, reason: str
) -> None:
    baseline = [before] if before is not None else []
    judgement = judge(baseline, [after] if after is not None else [])
    (why,) = judgement.reasons
    assert judgement.red
    assert why.endswith(reason)


@pytest.mark.parametrize(("before", "after", "note"), NOTES)
def test_what_is_as_before_or_better_is_at_most_a_note(
    before: CommandResult, after: CommandResult, note: str
) -> None:
    judgement = judge([before], [after])
    assert not judgement.red
    assert len(judgement.notes) == bool(note)
    assert "".join(judgement.notes).endswith(note)


def test_each_command_is_compared_with_its_own_and_none_at_all_verifies_nothing() -> None:
    one, two = (
        result(exit_code=1, failures="a", argv="one"),
        result(exit_code=1, failures="b", argv="two"),
    )
    assert not judge([one, two], [two, one]).red
    assert len(judge([result(argv="make old")], [RED]).reasons) == 2
    nothing = Judgement(red=False, notes=("No project command ran, so nothing was verified.",))
    assert judge([], []) == nothing


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
