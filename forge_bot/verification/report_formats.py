"""Read the reports that test runners write: JUnit XML, JSON, and the events of `go test -json`.

The forms were taken from real runs of pytest 9.2, jest 30, vitest 4, mocha 11, go 1.27,
Maven's Surefire 3 and RSpec 3.12.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from xml.etree import ElementTree as ET

from forge_bot.verification.runner_result import Lines, RunnerResult

_Case = tuple[str, str]
"""The name of a test, and how it ended: passed, failed, error or skipped."""

_GO_FRAME = re.compile(r"\s*(?:=== (?:RUN|PAUSE|CONT|NAME)\b.*|--- (?:PASS|SKIP): .*|PASS)")
_GO_ERROR = re.compile(r"(?:vet: )?(?P<path>\S+\.go):\d+(?::\d+)?: (?P<message>.+)")
_GO_BROKEN = re.compile(r"FAIL\t\S+ (?P<why>\[(?:build|setup) failed\])")
_GO_LEFT_OUT = re.compile(r"package (?P<package>\S+): build constraints exclude all Go files in .+")


def read_report(name: str, text: str) -> RunnerResult | None:
    """Return the outcome in a report; None if it cannot be read. Its name tells its form."""
    reader = _READERS.get(name, _read_java)
    try:
        return reader(text)
    except (ValueError, LookupError, TypeError, AttributeError, ET.ParseError):
        return None


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


def _read_pytest(text: str) -> RunnerResult:
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


def _read_java(text: str) -> RunnerResult:
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


def _read_jest(text: str, sign: str = " › ") -> RunnerResult:
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


def _read_vitest(text: str) -> RunnerResult:
    return _read_jest(text, " > ")


def _read_mocha(text: str) -> RunnerResult:
    """Read the report of Mocha, which prints nothing else: what it would print is made of it."""
    report = json.loads(text)
    failures = report["failures"]
    words = "\n\n".join(
        f"  {number}) {test['fullTitle']}:\n{test['err'].get('stack', '')}"
        for number, test in enumerate(failures, 1)
    )
    counts = f"  {report['stats']['passes']} passing\n  {len(failures)} failing\n\n"
    return _result(
        [
            *((test["fullTitle"], "passed") for test in report["passes"]),
            *((test["fullTitle"], "failed") for test in failures),
        ],
        shown=counts + words,
    )


def _read_rspec(text: str) -> RunnerResult:
    report = json.loads(text)
    outside = report["summary"].get("errors_outside_of_examples_count", 0)
    return _result(
        [
            (f"{test['file_path'].removeprefix('./')} > {test['full_description']}", test["status"])
            for test in report["examples"]
        ],
        whole=not outside,
    )


_READERS: Mapping[str, Callable[[str], RunnerResult]] = {
    "pytest.xml": _read_pytest,
    "jest.json": _read_jest,
    "vitest.json": _read_vitest,
    "mocha.json": _read_mocha,
    "rspec.json": _read_rspec,
}


# -- go test -json, https://pkg.go.dev/cmd/test2json


def read_go(lines: Lines) -> RunnerResult | None:
    """Read the events of `go test -json`; None if there are none. A package that does not build or
    that panics is one failure: its other tests did not run.
    """
    events = [event for event in map(_event, lines) if event is not None]
    if not events:
        return None
    ends = [event for event in events if event["Action"] in {"pass", "fail", "skip"}]
    tests = [event for event in ends if event.get("Test")]
    shown = shown_by_go(lines)
    panicked = {
        event["Package"]
        for event in events
        if "Package" in event and event.get("Output", "").startswith("panic: ")
    }
    cases = [
        (
            f"{event['Package']} {event['Test']}",
            {"pass": "passed", "fail": "failed", "skip": "skipped"}[event["Action"]],
        )
        for event in tests
    ]
    result = _result(cases, whole=not panicked)
    red = {event["Package"] for event in tests if event["Action"] == "fail"}
    left_out = {match["package"] for match in map(_GO_LEFT_OUT.fullmatch, shown) if match}
    packages = [
        event["Package"]
        for event in ends
        if not event.get("Test") and event["Action"] == "fail" and event["Package"] not in left_out
    ]
    broken = {
        line.split("\t")[1].split(" ")[0]: match["why"]
        for line in shown
        if (match := _GO_BROKEN.fullmatch(line)) is not None
    }
    names = (
        _name_package(name, broken.get(name, ""), name in panicked)
        for name in packages
        if name not in red or name in panicked
    )
    return result.replace(failing=(*result.failing, *filter(None, names), *_go_errors(shown)))


def shown_by_go(lines: Lines) -> list[str]:
    """Return what `go test` prints without `-json`, but for the tests that passed."""
    events = [(line, _event(line)) for line in lines]
    silent = {
        (event["Package"], event.get("Test"))
        for _, event in events
        if event is not None and event["Action"] in {"pass", "skip"} and event.get("Test")
    }
    return [
        printed
        for line, event in events
        if (printed := line if event is None else event.get("Output", "").rstrip("\n"))
        and (event is None or (event.get("Package"), event.get("Test")) not in silent)
        and not (event is not None and _GO_FRAME.fullmatch(printed))
    ]


def _event(line: str) -> dict[str, str] | None:
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if "Action" in event and ("Package" in event or "ImportPath" in event) else None


def _name_package(package: str, broken: str, panicked: bool) -> str:
    """Return the name of a package's failure; "" for one that is still named by its folder: there
    is none that the command could run.
    """
    if broken:
        return "" if package.startswith(".") else f"{package} {broken}"
    return f"{package} panicked" if panicked else package


def _go_errors(lines: Lines) -> Iterator[str]:
    """Yield the compiler's complaints, which follow a line `# package`."""
    inside = False
    for line in lines:
        error = _GO_ERROR.fullmatch(line)
        inside = line.startswith("# ") or (inside and error is not None)
        if inside and error is not None:
            yield f"{error['path']}: {error['message']}"
