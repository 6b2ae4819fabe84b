"""Read test outcomes of `go test` and `cargo test`.

The formats were taken from real runs of go 1.27 and cargo 1.95.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile

from forge_bot.verification.diagnostics import read_rust_errors
from forge_bot.verification.runner_result import Lines, RunnerResult, matches

_GO_PACKAGE = re.compile(r"(?P<state>ok|FAIL|\?) *\t(?P<package>\S+)[\t ](?P<rest>.*)")
_GO_TEST = re.compile(r"\s*--- (?P<state>PASS|FAIL|SKIP): (?P<name>.+) \([\d.]+s\)")
_GO_NOT_FOUND = re.compile(r"\.{1,2}(?:/\S*)? \[setup failed\]")
"""A package that is still named by its folder: there is none that the command could run."""
_GO_LEFT_OUT = re.compile(r"package (?P<package>\S+): build constraints exclude all Go files in .+")
_GO_ERROR = re.compile(r"(?:vet: )?(?P<path>\S+\.go):\d+(?::\d+)?: (?P<message>.+)")

_CARGO_RESULT = re.compile(
    r"test result: (?:ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; .*"
)
_CARGO_NAME = re.compile(r"    (?P<name>\S.*)")
_CARGO_TEST = re.compile(r"test (?P<name>\S+)(?: - should panic)? \.\.\.(?: .*)?")
_CARGO_TARGET = re.compile(r"error: (?:test|doctest) failed, to rerun pass `(?P<words>[^`]+)`")
_CARGO_STOPPED = re.compile(r"error: (?:test|doctest) failed, to rerun pass .*")
_CARGO_ALL = re.compile(r"error: \d+ targets? failed:")


def read_go(lines: Lines) -> RunnerResult | None:
    """Read the output of `go test` (see `go help test`): one line for each package.

    Tests are named only with -v or when they fail, so the count may be unknown. A package that does
    not build or that panics is one item: its other tests did not run.
    """
    failing: list[str] = []
    idle: list[bool] = []
    chunk: list[str] = []
    ran, verbose = 0, False
    left_out = {match["package"] for match in matches(_GO_LEFT_OUT, lines)}
    for line in lines:
        package = _GO_PACKAGE.fullmatch(line)
        if package is None:
            chunk.append(line)
            continue
        verbose = verbose or any(entry.startswith("=== RUN") for entry in chunk)
        tests = matches(_GO_TEST, chunk)
        ran += sum(test["state"] != "SKIP" for test in tests)
        idle.append(package["rest"].endswith(("[no test files]", "[no tests to run]")))
        if package["state"] == "FAIL" and package["package"] not in left_out:
            named = [test["name"] for test in tests if test["state"] == "FAIL"]
            failing += _go_items(package["package"], package["rest"], named, chunk)
        chunk = []
    if not idle:
        return None
    failing += _go_build_errors(lines)
    tests_ran = 0 if all(idle) else ran if verbose else None
    return RunnerResult(
        tests=tests_ran,
        failing=tuple(failing),
        whole=not any(line.startswith("panic: ") for line in lines),
    )


def _go_items(package: str, rest: str, named: list[str], chunk: Lines) -> Iterator[str]:
    yield from (f"{package} {name}" for name in named)
    broken = re.search(r"\[(?:build|setup) failed\]", rest)
    if broken is not None:
        said = f"{package} {broken[0]}"
        if _GO_NOT_FOUND.fullmatch(said) is None:
            yield said
    elif any(line.startswith("panic: ") for line in chunk):
        yield f"{package} panicked"
    elif not named:
        yield package


def _go_build_errors(lines: Lines) -> Iterator[str]:
    """Yield the compiler's complaints, which follow a line `# package`."""
    inside = False
    for line in lines:
        error = _GO_ERROR.fullmatch(line)
        inside = line.startswith("# ") or (inside and error is not None)
        if inside and error is not None:
            yield f"{error['path']}: {error['message']}"


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
    ran = sum(int(match["passed"]) for match in results) + failed
    return RunnerResult(
        tests=ran,
        failing=(*names, *errors),
        whole=len(names) >= failed and not (stopped or crashed or errors),
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
            following = takewhile(lambda each: each != "failures:", lines[number + 1 :])
            target = next(iter(matches(_CARGO_TARGET, [*following])), None)
            for match in names:
                name = re.sub(r" \(line \d+\)$", "", match["name"])
                twice = target is not None and counted[name] > 1
                yield f"{name} ({target['words']})" if twice and target is not None else name
