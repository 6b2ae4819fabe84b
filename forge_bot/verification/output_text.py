"""Read test outcomes from what unittest, cargo and node's own runner print.

The formats were taken from real runs of Python 3.11, cargo 1.95 and node 20.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile

from forge_bot.verification.diagnostics import read_rust_errors
from forge_bot.verification.runner_result import Lines, RunnerResult, matches

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
_CARGO_TARGET = re.compile(r"error: (?:test|doctest) failed, to rerun pass `(?P<words>[^`]+)`")
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
    errors = read_rust_errors(lines)
    if not results:
        compiled = any(line.startswith("error: could not compile") for line in lines)
        return RunnerResult(failing=tuple(errors), whole=False) if compiled else None
    failed = sum(int(match["failed"]) for match in results)
    names = [*_cargo_names(lines)]
    stopped = any(map(_CARGO_STOPPED.fullmatch, lines)) and not any(
        map(_CARGO_ALL.fullmatch, lines)
    )
    crashed = any("process didn't exit successfully" in line for line in lines)
    ended = matches(_CARGO_TEST, lines)
    return RunnerResult(
        tests=sum(int(match["passed"]) for match in results) + failed,
        failing=(*names, *errors),
        whole=len(names) >= failed and not (stopped or crashed or errors),
        passed=tuple(match["name"] for match in ended if match["end"] == " ok"),
    )


def _cargo_names(lines: Lines) -> Iterator[str]:
    """Yield the names in the second list under `failures:`.

    The first list holds what the tests printed. Doc tests are named by their line. Cargo says
    behind a list how its target is called; where several targets have a test of one name, that
    belongs to the name.
    """
    counted = Counter(match["name"] for match in matches(_CARGO_TEST, lines))
    for number, line in enumerate(lines):
        if line == "failures:":
            names = matches(_CARGO_NAME, takewhile(bool, lines[number + 1 :]))
            following = takewhile(lambda line: line != "failures:", lines[number + 1 :])
            target = next(iter(matches(_CARGO_TARGET, [*following])), None)
            for match in names:
                name = re.sub(r" \(line \d+\)$", "", match["name"])
                twice = target is not None and counted[name] > 1
                yield f"{name} ({target['words']})" if twice and target is not None else name


def read_node(lines: Lines) -> RunnerResult | None:
    """Read node's own runner, TAP or spec (https://nodejs.org/api/test.html#test-reporters)."""
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
