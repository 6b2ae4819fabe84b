"""Read what test runners write: reports in JUnit XML and JSON, the events of `go test -json`, and
the text of unittest, cargo and node's own runner.

The forms were taken from real runs of pytest 9.2, jest 30, vitest 4, mocha 11, go 1.27, Maven's
Surefire 3, RSpec 3.12, Python 3.11, cargo 1.95 and node 20.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from xml.etree import ElementTree as ET

from forge_bot.values import Frozen

Lines = Sequence[str]


class RunnerResult(Frozen):
    """The outcome that a runner tells.

    `tests` counts the tests that ran, without skipped ones; it is None if the output does not say.
    `whole` is False if a failure has no name here, or if the runner stopped early. `passed` is None
    if the runner does not list the tests that passed. `shown` is what it would print.
    """

    tests: int | None = None
    failing: tuple[str, ...] = ()
    whole: bool = True
    passed: tuple[str, ...] | None = None
    shown: str = ""


_Case = tuple[str, str]
"""The name of a test, and how it ended: passed, failed, error or skipped."""


def matches(pattern: re.Pattern[str], lines: Iterable[str]) -> list[re.Match[str]]:
    return [match for line in lines if (match := pattern.fullmatch(line)) is not None]


def _result(cases: Sequence[_Case], *, whole: bool = True, shown: str = "") -> RunnerResult:
    ended = [case for case in cases if case[1] in {"passed", "failed"}]
    return RunnerResult(
        tests=len(ended),
        failing=tuple(
            dict.fromkeys(
                name if end == "failed" else f"{name} (error)"
                for name, end in cases
                if end in {"failed", "error"}
            )
        ),
        passed=tuple(dict.fromkeys(name for name, end in ended if end == "passed")),
        whole=whole,
        shown=shown,
    )


# -- JUnit XML


def _junit(text: str) -> ET.Element:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("no runner declares entities")
    return ET.fromstring(text)  # noqa: S314 - without declarations there is nothing to expand


def _end_of(case: ET.Element) -> str:
    skipped = case.find("skipped")
    if skipped is not None:
        return "passed" if skipped.get("type") == "pytest.xfail" else "skipped"
    failed, error = case.find("failure") is not None, case.find("error") is not None
    return "failed" if failed else "error" if error else "passed"


def read_pytest(text: str) -> RunnerResult:
    return _result([(_node(case), _end_of(case)) for case in _junit(text).iter("testcase")])


def _node(case: ET.Element) -> str:
    """Return how pytest names a test: `tests/a.py::TestA::test_b[1]`, or the file of an error."""
    file = case.get("file", "")
    module = file.removesuffix(".py").replace("/", ".")
    dotted, name = case.get("classname", ""), case.get("name", "")
    if name == module:
        return file
    classes = dotted.removeprefix(module).strip(".")
    return "::".join(filter(None, (file, *classes.split("."), name)))


def read_java(text: str) -> RunnerResult:
    """Read a report of Surefire or Gradle. An error of a test is a failure too."""
    return _result(
        [
            (
                f"{case.get('classname')}.{case.get('name')}",
                _end_of(case).replace("error", "failed"),
            )
            for case in _junit(text).iter("testcase")
        ]
    )


# -- JSON


def read_jest(text: str, sign: str = " › ") -> RunnerResult:
    """Read the report of Jest, which Vitest writes too."""
    report = json.loads(text)
    cases: list[_Case] = []
    for file in report["testResults"]:
        path = file["name"].removeprefix("./")
        tests = [
            (sign.join((path, *of["ancestorTitles"], of["title"])), of)
            for of in file["assertionResults"]
        ]
        cases += [(name, of["status"]) for name, of in tests]
        if file["status"] == "failed" and "failed" not in {of["status"] for _, of in tests}:
            cases.append((path, "error"))
    return _result(cases, whole=not report.get("wasInterrupted"))


def read_mocha(text: str) -> RunnerResult:
    """Read the report of Mocha, which prints nothing else: what is shown is made of it."""
    report = json.loads(text)
    failures = report["failures"]
    words = "\n\n".join(
        f"  ● {test['fullTitle']}\n\n{test['err'].get('stack', '')}" for test in failures
    )
    counts = f"  {report['stats']['passes']} passing\n  {len(failures)} failing\n\n"
    return _result(
        [
            *((test["fullTitle"], "passed") for test in report["passes"]),
            *((test["fullTitle"], "failed") for test in failures),
        ],
        shown=counts + words,
    )


def read_rspec(text: str) -> RunnerResult:
    report = json.loads(text)
    outside = report["summary"].get("errors_outside_of_examples_count", 0)
    return _result(
        [
            (f"{test['file_path'].removeprefix('./')} > {test['full_description']}", test["status"])
            for test in report["examples"]
        ],
        whole=not outside,
    )


# -- go test -json, https://pkg.go.dev/cmd/test2json

_GO_FRAME = re.compile(r"\s*(?:=== (?:RUN|PAUSE|CONT|NAME)\b.*|--- (?:PASS|SKIP): .*|PASS)")
_GO_ENDS = {"pass": "passed", "fail": "failed", "skip": "skipped"}


def read_go(lines: Lines) -> tuple[RunnerResult | None, Lines]:
    """Read the events of `go test -json`; None if there are none. A package that does not build or
    that panics is one failure: its other tests did not run.

    Return also what `go test` prints without `-json`, but for the tests that passed.
    """
    read = [(line, _event(line)) for line in lines]
    events = [event for _, event in read if event]
    if not events:
        return None, lines
    tests = [event for event in events if event.get("Test") and event["Action"] in _GO_ENDS]
    cases = [(f"{event['Package']} {event['Test']}", _GO_ENDS[event["Action"]]) for event in tests]
    red = {event["Package"] for event in tests if event["Action"] == "fail"}
    packages = [
        event["Package"] for event in events if event["Action"] == "fail" and not event.get("Test")
    ]
    panicked = {
        event["Package"]
        for event in events
        if "Package" in event and event.get("Output", "").startswith("panic: ")
    }
    cases += [(name, "error") for name in packages if name not in red or name in panicked]
    silent = {(event["Package"], event["Test"]) for event in tests if event["Action"] != "fail"}
    shown = [
        printed
        for line, event in read
        if (printed := event.get("Output", "").rstrip("\n") if event else line)
        and (event.get("Package"), event.get("Test")) not in silent
        and not (event and _GO_FRAME.fullmatch(printed))
    ]
    return _result(cases, whole=not panicked), shown


def _event(line: str) -> dict[str, str]:
    """Return the event in a line; empty for another line."""
    try:
        event: dict[str, str] = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        return {}
    return event if "Action" in event and ("Package" in event or "ImportPath" in event) else {}


# -- text

_UNITTEST_RAN = re.compile(r"Ran (\d+) tests? in [\d.]+s")
_UNITTEST_END = re.compile(
    r"(?:OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[a-z ]+=\d+(?:, [a-z ]+=\d+)*)\))?"
)
_UNITTEST_ITEM = re.compile(r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): (?P<name>.+)")
_UNITTEST_PASSED = re.compile(r"(?P<name>\w+ \([\w.]+\))(?:\n.*)? \.\.\. (?:ok|expected failure)")

_CARGO_RESULT = re.compile(
    r"test result: (?:ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; .*"
)
_CARGO_NAME = re.compile(r"    (?P<name>\S.*)")
_CARGO_TEST = re.compile(
    r"test (?P<name>\S+(?: - (?!should panic)\S+)?)(?: \(line \d+\))?(?: - [a-z ]+)? \.\.\."
    r"(?P<end> .*)?"
)
_CARGO_STOPPED = re.compile(r"error: (?:test|doctest) failed, to rerun pass .*")
_CARGO_ALL = re.compile(r"error: \d+ targets? failed:")

_NODE_COUNT = re.compile(r"(?:#|ℹ) (?P<what>tests|pass|fail|cancelled) (?P<number>\d+)")
_TAP_SUBTEST = re.compile(r"(?P<indent> *)# Subtest: (?P<name>.*)")
_TAP_END = re.compile(
    r"(?P<indent> *)(?P<end>ok|not ok) \d+ - (?P<name>.*?)(?P<excused> # (?:TODO|SKIP)\b.*)?"
)
_SPEC_PLACE = re.compile(r"test at (?P<path>.+?):\d+:\d+")
_SPEC_END = re.compile(
    r" *(?P<end>[✖✔]) (?P<name>.*?) \([\d.…]+ ?m?s\)(?P<excused> # (?:TODO|SKIP)\b.*)?"
)
_SPEC_FAILING = "✖ failing tests:"


def read_unittest(lines: Lines) -> RunnerResult | None:
    """Read the text runner of unittest, which Django uses too. It lists passed tests with `-v`.

    Source: https://docs.python.org/3/library/unittest.html
    """
    ran = [int(match[1]) for match in matches(_UNITTEST_RAN, lines)]
    if not ran:
        return None
    ends = matches(_UNITTEST_END, lines)
    counts = Counter[str]()
    for end in ends:
        for word, number in re.findall(r"([a-z][a-z ]*)=(\d+)", end["counts"] or ""):
            counts[word] += int(number)
    failed = counts["failures"] + counts["errors"] + counts["unexpected successes"]
    headed = [line for above, line in pairwise(lines) if above.startswith("=====")]
    failing = [item["name"] for item in matches(_UNITTEST_ITEM, headed)]
    passed = tuple(match["name"] for match in _UNITTEST_PASSED.finditer("\n".join(lines)))
    return RunnerResult(
        tests=max(sum(ran) - counts["skipped"], 0),
        failing=tuple(dict.fromkeys(failing)),
        whole=len(ends) >= len(ran) and len(failing) >= failed,
        passed=passed or None,
    )


def read_cargo(lines: Lines) -> RunnerResult | None:
    """Read the output of `cargo test` with libtest.

    Without --no-fail-fast cargo stops at the first target with a failure:
    https://doc.rust-lang.org/cargo/commands/cargo-test.html
    """
    results = matches(_CARGO_RESULT, lines)
    if not results:
        return None
    failed = sum(int(match["failed"]) for match in results)
    names = [*_cargo_names(lines)]
    stopped = any(map(_CARGO_STOPPED.fullmatch, lines)) and not any(
        map(_CARGO_ALL.fullmatch, lines)
    )
    crashed = any("process didn't exit successfully" in line for line in lines)
    ended = matches(_CARGO_TEST, lines)
    return RunnerResult(
        tests=sum(int(match["passed"]) for match in results) + failed,
        failing=tuple(names),
        whole=len(names) >= failed and not (stopped or crashed),
        passed=tuple(match["name"] for match in ended if match["end"] == " ok"),
    )


def _cargo_names(lines: Lines) -> Iterator[str]:
    """Yield the names in the second list under `failures:`.

    The first list holds what the tests printed. Doc tests are named by their line.
    """
    for number, line in enumerate(lines):
        if line == "failures:":
            for match in matches(_CARGO_NAME, takewhile(bool, lines[number + 1 :])):
                yield re.sub(r" \(line \d+\)$", "", match["name"])


def read_node(lines: Lines) -> RunnerResult | None:
    """Read node's own runner: TAP, or spec as from version 23 on
    (https://nodejs.org/api/test.html#test-reporters).
    """
    counts: dict[str, int] = dict.fromkeys(("tests", "pass", "fail", "cancelled"), 0)
    counted = matches(_NODE_COUNT, lines)
    for match in counted:
        counts[match["what"]] += int(match["number"])
    if {match["what"] for match in counted} < {"tests", "pass", "fail"}:
        return None
    ended = [*_tap(lines)] or [*_spec(lines)]
    failing = tuple(name for name, passed in ended if not passed)
    failed = counts["fail"] + counts["cancelled"]
    return RunnerResult(
        tests=counts["pass"] + failed,
        failing=failing,
        whole=len(failing) >= failed,
        passed=tuple(name for name, passed in ended if passed),
    )


def _tap(lines: Lines) -> Iterator[tuple[str, bool]]:
    above: list[str] = []
    for line in lines:
        if (subtest := _TAP_SUBTEST.fullmatch(line)) is not None:
            above = [*above[: len(subtest["indent"]) // 4], subtest["name"]]
        elif (ended := _TAP_END.fullmatch(line)) is not None and not ended["excused"]:
            names = [*above[: len(ended["indent"]) // 4], ended["name"]]
            yield " > ".join(names), ended["end"] == "ok"


def _spec(lines: Lines) -> Iterator[tuple[str, bool]]:
    """Yield each test, and whether it passed. The place of a failed one stands at the end."""
    path, start = "", lines.index(_SPEC_FAILING) if _SPEC_FAILING in lines else len(lines)
    for number, line in enumerate(lines):
        if (place := _SPEC_PLACE.fullmatch(line)) is not None:
            path = place["path"]
        elif (ended := _SPEC_END.fullmatch(line)) is None or ended["excused"]:
            continue
        elif ended["end"] == "✔":
            yield ended["name"], True
        elif number > start:
            yield (f"{path} > {ended['name']}" if path else ended["name"]), False
