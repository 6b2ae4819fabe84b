"""Read test outcomes of pytest and unittest.

The formats were taken from real runs of pytest 9.2 and Python 3.11.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from forge_bot.verification.runner_result import COVERAGE, Lines, RunnerResult, matches

_WORDS = (
    r"passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests"
    r" (?:passed|failed)"
)
_COUNTS = rf"\d+ (?:{_WORDS})(?:, \d+ (?:{_WORDS}))*"
_PYTEST_END = re.compile(
    rf"(?:=+ )?(?P<counts>no tests ran|{_COUNTS}) in [\d.]+s(?: \([\d:]+\))?(?: =+)?"
)
_PYTEST_SUMMARY = re.compile(r"=+ short test summary info =+")
_PYTEST_ITEM = re.compile(
    r"(?P<kind>FAILED|ERROR) (?P<id>[^\s\[]+(?:\[.*?\](?= - |$))?|.+?)(?: - .*)?"
)
_PYTEST_SUBTEST = re.compile(r"SUBFAILED(?P<label>.*?) (?P<id>\S+::\S+)(?: - .*)?")
_PYTEST_STOPPED = re.compile(
    r"!+ (?:stopping after|Interrupted:|xdist\.dsession\.Interrupted|_pytest\.outcomes\.Exit).*"
)

_UNITTEST_RAN = re.compile(r"Ran (\d+) tests? in [\d.]+s")
_UNITTEST_END = re.compile(
    r"(?:OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[a-z ]+=\d+(?:, [a-z ]+=\d+)*)\))?"
)
_UNITTEST_ITEM = re.compile(r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): (?P<name>.+)")


def read_pytest(lines: Lines) -> RunnerResult | None:
    """Read the last line of pytest and its short summary.

    Source: https://docs.pytest.org/en/stable/how-to/output.html
    """
    counts: dict[str, int] = {}
    failing: list[str] = []
    ended = stopped = in_summary = low_coverage = False
    for line in lines:
        if (end := _PYTEST_END.fullmatch(line)) is not None:
            ended, in_summary = True, False
            for number, word in re.findall(r"(\d+) ([a-z ]+)", end["counts"]):
                counts[word.rstrip("s")] = counts.get(word.rstrip("s"), 0) + int(number)
        elif _PYTEST_SUMMARY.fullmatch(line):
            in_summary = True
        elif in_summary:
            failing += _pytest_items(line)
        low_coverage = low_coverage or line.startswith("FAIL Required test coverage")
        stopped = stopped or _PYTEST_STOPPED.fullmatch(line) is not None
    if not ended:
        return None
    ran = sum(counts.get(word, 0) for word in ("passed", "failed", "xfailed", "xpassed"))
    whole = not stopped and len(failing) >= counts.get("failed", 0) + counts.get("error", 0)
    return RunnerResult(
        tests=ran,
        failing=(*dict.fromkeys(failing), *([COVERAGE] if low_coverage else [])),
        whole=whole,
    )


def _pytest_items(line: str) -> Iterator[str]:
    if (item := _PYTEST_ITEM.fullmatch(line)) is not None:
        yield item["id"] if item["kind"] == "FAILED" else f"{item['id']} (error)"
    elif (subtest := _PYTEST_SUBTEST.fullmatch(line)) is not None:
        yield f"{subtest['id']} {subtest['label'].strip()}"


def read_unittest(lines: Lines) -> RunnerResult | None:
    """Read the text runner of unittest, which Django uses too.

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
    whole = len(ends) >= len(ran) and len(failing) >= failed
    return RunnerResult(
        tests=max(sum(ran) - counts["skipped"], 0),
        failing=tuple(dict.fromkeys(failing)),
        whole=whole,
    )
