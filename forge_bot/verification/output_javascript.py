"""Read test outcomes of node:test, jest, vitest, mocha, ava and bun.

The formats were taken from real runs of node 20, jest 30, vitest 4, mocha 11, ava 7 and bun 1.4.
"""

import re
from collections import Counter
from collections.abc import Iterator

from forge_bot.verification.runner_result import COVERAGE, Lines, RunnerResult, matches

_NODE_COUNT = re.compile(r"(?:#|ℹ) (?P<what>tests|pass|fail|cancelled) (?P<number>\d+)")
_TAP_SUBTEST = re.compile(r"(?P<indent> *)# Subtest: (?P<name>.*)")
_TAP_FAILED = re.compile(
    r"(?P<indent> *)not ok \d+ - (?P<name>.*?)(?P<excused> # (?:TODO|SKIP)\b.*)?"
)
_SPEC_PLACE = re.compile(r"test at (?P<path>.+?):\d+:\d+")
_SPEC_FAILED = re.compile(r"✖ (?P<name>.*?) \([\d.]+m?s\)(?P<excused> # (?:TODO|SKIP)\b.*)?")

_JEST_TESTS = re.compile(r"Tests: +(?P<counts>.*(?<!\d)\d+ total)")
_JEST_SUITES = re.compile(r"Test Suites: +(?P<counts>.*(?<!\d)\d+ total)")
_JEST_FILE = re.compile(r"(?P<state>FAIL|PASS) +(?:\S.* )?(?P<path>\S+?)(?: \([\d.]+ m?s\))?")
"""A file of tests; the name of its project stands before the path."""
_JEST_FAILED = re.compile(r"  ● (?P<name>.+)")
_NO_TESTS = re.compile(r"No test(?: file)?s found, exiting with code \d+")
_JEST_LOW = re.compile(r"Jest: .*coverage threshold .*not met.*")

_VITEST_TESTS = re.compile(r" +Tests  (?P<counts>.*\(\d+\))")
_VITEST_FILES = re.compile(r" +Test Files  (?P<counts>.*\(\d+\))")
_VITEST_FAILED = re.compile(r" FAIL  (?:\|[^|]+\| | [^\s|]+  )?(?P<name>\S.*?)(?: \[ [^\[\]]* \])?")
"""A failed test; the name of its project stands before the path, which begins in the project."""
_VITEST_LOW = re.compile(r"ERROR: Coverage for .* does not meet .*threshold.*")

_MOCHA_COUNT = re.compile(r"  (?P<number>\d+) (?P<what>passing|failing)(?: \(.*\))?")
_MOCHA_FAILED = re.compile(r"  \d+\) (?P<name>.*)")

_AVA_COUNT = re.compile(
    r"  (?P<number>\d+) (?P<what>tests? (?:passed|failed)|hooks? failed|uncaught exceptions?"
    r"|unhandled rejections?)"
)
_AVA_PASSED = re.compile(r"  [✔√] .+")
_AVA_FAILED = re.compile(r"  [✘✖×] (?:\[fail\]: )?(?P<name>.+)")
_AVA_RULE = "  ─"

_BUN_END = re.compile(r"Ran \d+ tests? across \d+ files?\..*")
_BUN_COUNT = re.compile(r" +(?P<number>\d+) (?P<what>pass|fail)")
_BUN_FILE = re.compile(r"(?P<path>\S.*\.\w+):")
_BUN_FAILED = re.compile(r"\(fail\) (?P<name>.+?)(?: \[[\d.]+m?s\])?")
_BUN_AGAIN = re.compile(r"\d+ tests? failed:")
_BUN_BROKEN = "# Unhandled error between tests"
_BUN_NONE = "No tests found!"


def read_node(lines: Lines) -> RunnerResult | None:
    """Read node's own runner, TAP or spec (https://nodejs.org/api/test.html#test-reporters)."""
    counts: dict[str, int] = dict.fromkeys(("tests", "pass", "fail", "cancelled"), 0)
    found = matches(_NODE_COUNT, lines)
    for match in found:
        counts[match["what"]] += int(match["number"])
    if {match["what"] for match in found} < {"tests", "pass", "fail"}:
        return None
    failing = [*_tap(lines)] or [*_spec(lines)]
    failed = counts["fail"] + counts["cancelled"]
    return RunnerResult(
        tests=counts["pass"] + failed, failing=tuple(failing), whole=len(failing) >= failed
    )


def _tap(lines: Lines) -> Iterator[str]:
    above: list[str] = []
    for line in lines:
        if (subtest := _TAP_SUBTEST.fullmatch(line)) is not None:
            above = [*above[: len(subtest["indent"]) // 4], subtest["name"]]
        elif (failed := _TAP_FAILED.fullmatch(line)) is not None and not failed["excused"]:
            yield " > ".join([*above[: len(failed["indent"]) // 4], failed["name"]])


def _spec(lines: Lines) -> Iterator[str]:
    path = ""
    for line in lines[lines.index("✖ failing tests:") :] if "✖ failing tests:" in lines else ():
        if (place := _SPEC_PLACE.fullmatch(line)) is not None:
            path = place["path"]
        elif (failed := _SPEC_FAILED.fullmatch(line)) is not None and not failed["excused"]:
            yield f"{path} > {failed['name']}" if path else failed["name"]


def read_jest(lines: Lines) -> RunnerResult | None:
    """Read jest's default and verbose reporters.

    Source: https://jestjs.io/docs/configuration#reporters-arraymodulename--modulename-options
    """
    ends = matches(_JEST_TESTS, lines)
    if not ends:
        return RunnerResult(tests=0) if any(map(_NO_TESTS.fullmatch, lines)) else None
    failing: dict[str, None] = {}
    path = ""
    for line in lines:
        if (file := _JEST_FILE.fullmatch(line)) is not None:
            path = file["path"] if file["state"] == "FAIL" else ""
        elif (
            path
            and (failed := _JEST_FAILED.fullmatch(line)) is not None
            and failed["name"] != "Console"
        ):
            failing[f"{path} › {failed['name']}"] = None
    suites = matches(_JEST_SUITES, lines)
    stopped = any(
        int(part[1]) + _sum([each], "skipped") < int(part[2])
        for each in suites
        if (part := re.search(r"(\d+) of (\d+) total", each["counts"])) is not None
    )
    failed_tests = _sum(ends, "failed")
    named = sum(not name.endswith("› Test suite failed to run") for name in failing)
    low = [COVERAGE] if any(map(_JEST_LOW.fullmatch, lines)) else []
    return RunnerResult(
        tests=failed_tests + _sum(ends, "passed"),
        failing=(*failing, *low),
        whole=named >= failed_tests and not stopped,
    )


def read_vitest(lines: Lines) -> RunnerResult | None:
    """Read vitest's default and verbose reporters (https://vitest.dev/guide/reporters)."""
    tests = matches(_VITEST_TESTS, lines)
    files = matches(_VITEST_FILES, lines)
    if not files:
        return None
    failing = dict.fromkeys(match["name"] for match in matches(_VITEST_FAILED, lines))
    unhandled = any(re.fullmatch(r" +Errors  \d+ errors?", line) for line in lines)
    named = sum(" > " in name for name in failing)
    low = [COVERAGE] if any(map(_VITEST_LOW.fullmatch, lines)) else []
    return RunnerResult(
        tests=_sum(tests, "failed") + _sum(tests, "passed"),
        failing=(*failing, *low),
        whole=named >= _sum(tests, "failed")
        and len(failing) >= _sum(files, "failed")
        and not unhandled,
    )


def read_mocha(lines: Lines) -> RunnerResult | None:
    """Read mocha's reporters that end with an epilogue: spec, dot, list and others.

    Source: https://mochajs.org/#reporters
    """
    counts = [(match["what"], int(match["number"])) for match in matches(_MOCHA_COUNT, lines)]
    if "passing" not in {what for what, _ in counts}:
        return None
    failed = sum(number for what, number in counts if what == "failing")
    failing = [*_mocha_failures(lines)]
    return RunnerResult(
        tests=sum(number for _, number in counts),
        failing=tuple(failing),
        whole=len(failing) >= failed,
    )


def _mocha_failures(lines: Lines) -> Iterator[str]:
    """Yield the numbered blocks after `N failing`.

    A block holds the suite titles, each indented deeper than the last. The test's title comes last
    and ends in a colon.
    """
    title: list[str] | None = None
    after = False
    for line in lines:
        after = after or re.fullmatch(r"  \d+ failing", line) is not None
        first = _MOCHA_FAILED.fullmatch(line) if after else None
        if first is not None:
            title = [first["name"].strip()]
        elif title is not None:
            title.append(line.strip())
        if title is not None and (title[-1].endswith(":") or not title[-1]):
            yield " > ".join(part for part in title if part).removesuffix(":")
            title = None


def read_ava(lines: Lines) -> RunnerResult | None:
    """Read ava's default reporter.

    Behind the name of a failed test stands the
    message of its error, and below a rule the name alone.
    Source: https://github.com/avajs/ava/blob/main/docs/05-command-line.md#reporters
    """
    ends = [(match["what"], int(match["number"])) for match in matches(_AVA_COUNT, lines)]
    passed, failed = matches(_AVA_PASSED, lines), matches(_AVA_FAILED, lines)
    if not ends or not (passed or failed):
        return None
    below = lines[lines.index(_AVA_RULE) :] if _AVA_RULE in lines else ()
    titles = {line.strip() for line in below if line.strip()}
    failing = [
        max((each for each in titles if f"{name} ".startswith(f"{each} ")), key=len, default=name)
        for name in (match["name"] for match in failed)
    ]
    wrong = [(what, number) for what, number in ends if not what.endswith("passed")]
    return RunnerResult(
        tests=len(passed) + sum(number for what, number in wrong if what.startswith("test")),
        failing=tuple(failing),
        whole=len(failing) >= sum(number for _, number in wrong),
    )


def read_bun(lines: Lines) -> RunnerResult | None:
    """Read `bun test` (https://bun.com/docs/test/reporters). A long output ends with its failures
    once more.
    """
    if not any(map(_BUN_END.fullmatch, lines)):
        return RunnerResult(tests=0) if _BUN_NONE in lines else None
    counts = Counter[str]()
    for match in matches(_BUN_COUNT, lines):
        counts[match["what"]] += int(match["number"])
    failing = [*_bun_failures(lines)]
    return RunnerResult(
        tests=counts["pass"] + counts["fail"],
        failing=tuple(failing),
        whole=len(failing) >= counts["fail"],
    )


def _bun_failures(lines: Lines) -> Iterator[str]:
    path, again = "", False
    for line in lines:
        if (file := _BUN_FILE.fullmatch(line)) is not None:
            path, again = file["path"], False
        if line == _BUN_BROKEN:
            yield f"{path} (error)"
        again = again or _BUN_AGAIN.fullmatch(line) is not None
        if not again and (failed := _BUN_FAILED.fullmatch(line)) is not None:
            yield f"{path} > {failed['name']}" if path else failed["name"]


def _sum(ends: list[re.Match[str]], word: str) -> int:
    return sum(
        int(number) for end in ends for number in re.findall(rf"(\d+) {word}", end["counts"])
    )
