"""Small mistakes put into the code one at a time, and which tests notice each.

    uv run --with pytest-cov python -m benchmarks.seeded_faults record FOLDER
    uv run --with pytest-cov python -m benchmarks.seeded_faults run FOLDER [--first 100]
    uv run python -m benchmarks.seeded_faults confirm FOLDER

`record` runs the tests of some rooms once and keeps which lines each test runs; `run` plants each
fault of seeded_faults.jsonl, runs the quickest tests that run its line, and appends a line to
FOLDER/caught.jsonl. `confirm` plants those that seeded_faults_caught.jsonl names tests for, runs
just these, and says how many are still noticed. The work tree is changed meanwhile, so give it one
of its own.
"""

import argparse
import importlib
import json
import os
import sqlite3
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
FAULTS = Path(__file__).with_suffix(".jsonl")
CAUGHT = FAULTS.with_stem("seeded_faults_caught")
ROOMS = ("engine", "gate", "git", "store", "sandbox", "interaction", "security", "runs")
MOST_TESTS, MOST_SECONDS, DEADLINE = 200, 40.0, 240
HEAVY = ("pytest", "hypothesis", "pydantic", "mcp.server", "mcp.client.client", "xdist", "yaml")


_LINES = """
select distinct arc.fromno, context.context from arc, file, context
where arc.fromno > 0 and context.context != "" and context.id = arc.context_id
and file.id = arc.file_id and file.path = ?
"""
"""What coverage has written down of a file, by line."""


class Fault(NamedTuple):
    """One line of a file, and the line that stands there instead."""

    kind: str
    file: str
    old: str
    new: str

    @property
    def path(self) -> Path:
        """The file."""
        return ROOT / self.file

    def line(self) -> int | None:
        """The number of its line; None if the line is not there, or not once."""
        if not self.path.exists():
            return None
        lines = [line.strip() for line in self.path.read_text(encoding="utf-8").splitlines()]
        return lines.index(self.old) + 1 if lines.count(self.old) == 1 else None

    @contextmanager
    def planted(self, line: int) -> Generator[None]:
        """Have the other line there for a while."""
        before, written = self.path.read_text(encoding="utf-8"), self.path.stat().st_mtime_ns
        lines = before.splitlines(keepends=True)
        lines[line - 1] = lines[line - 1].replace(self.old, self.new)
        self.path.write_text("".join(lines), encoding="utf-8")
        try:
            yield
        finally:
            self.path.write_text(before, encoding="utf-8")
            # Or Python takes what it compiled of the fault for what stands there again.
            os.utime(self.path, ns=(written, written))


def record(folder: Path) -> None:
    """Run the tests of each room once, and keep which test runs which line, and for how long."""
    folder.mkdir(parents=True, exist_ok=True)
    for room in ROOMS:
        began = time.monotonic()
        words = [sys.executable, "-m", "pytest", "-q", "-m", "not slow and not clients"]
        words += ["--cov=forge_bot", "--cov-branch", "--cov-context=test", "--cov-report="]
        done = subprocess.run(
            [*words, f"--junitxml={folder / room}.xml", f"tests/{room}"],
            cwd=ROOT,
            env={**os.environ, "COVERAGE_FILE": str(folder / f"{room}.coverage")},
            capture_output=True,
            text=True,
            check=False,
        )
        last = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1]
        print(f"{room}: {time.monotonic() - began:.0f} s, {last}", flush=True)


class Recording:
    """Which tests run which lines, and how long they take."""

    def __init__(self, folder: Path) -> None:
        self._kept = [sqlite3.connect(file) for file in sorted(folder.glob("*.coverage"))]
        self._seconds: dict[str, float] = {}
        for file in folder.glob("*.xml"):
            for case in ET.parse(file).iter("testcase"):  # noqa: S314 - our own file
                name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
                if case.find("failure") is None and case.find("error") is None:
                    self._seconds[name] = float(case.get("time") or 0)

    def tests(self, path: Path, line: int) -> list[str]:
        """The quickest tests that run this line; where it is only read when its file is imported,
        those that run anything of the file.
        """
        by_line: dict[int, set[str]] = {}
        for kept in self._kept:
            for number, context in kept.execute(_LINES, (str(path),)):
                by_line.setdefault(int(number), set()).add(str(context).partition("|")[0])
        names = by_line.get(line) or set[str]().union(*by_line.values())
        chosen: list[str] = []
        left = MOST_SECONDS
        for name in sorted(names & self._seconds.keys(), key=self._seconds.__getitem__):
            left -= self._seconds[name]
            if len(chosen) == MOST_TESTS or (left < 0 and chosen):
                break
            chosen.append(name)
        return chosen


def caught_by(tests: list[str], folder: Path) -> list[str]:
    """Return the tests that fail now, three of them at most; `(hangs)` if they do not end."""
    report = folder / "now.xml"
    report.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        os.setsid()
        with suppress(BaseException):
            _run_tests(tests, report)
        os._exit(0)
    end = time.monotonic() + DEADLINE
    while os.waitpid(process, os.WNOHANG)[0] == 0:
        if time.monotonic() > end:
            os.killpg(process, 9)
            os.waitpid(process, 0)
            return ["(hangs)"]
        time.sleep(0.1)
    if not report.exists():
        return ["(cannot be imported)"]
    cases = ET.parse(report).iter("testcase")  # noqa: S314 - our own file
    return [
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]


def _run_tests(tests: list[str], report: Path) -> None:
    import pytest

    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    options = ["-q", "-p", "no:cacheprovider", "--maxfail=3"]
    # They were imported before the fork.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    pytest.main([*options, f"--junitxml={report}", *tests])


def listed() -> list[Fault]:
    """Return all faults; what tests need is imported once, before they fork."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    for name in HEAVY:
        with suppress(ImportError):
            importlib.import_module(name)
    return [Fault(*json.loads(line)) for line in FAULTS.read_text("utf-8").splitlines()]


def run(folder: Path, first: int) -> None:
    """Plant one fault after the other, but for those that were planted before."""
    faults = listed()[:first]
    recording, results = Recording(folder), folder / "caught.jsonl"
    known = len(results.read_text(encoding="utf-8").splitlines()) if results.exists() else 0
    for number, fault in enumerate(faults[known:], known):
        line = fault.line()
        tests = recording.tests(fault.path, line) if line is not None else []
        caught: list[str] | None = None
        if line is not None:
            with fault.planted(line):
                caught = caught_by(tests, folder) if tests else []
        row = {"fault": number, "file": fault.file, "line": line, "tests": len(tests)}
        with results.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({**row, "caught": caught}) + "\n")
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    there = [row for row in rows if row["line"] is not None]
    print(f"{sum(bool(row['caught']) for row in there)} of {len(there)} caught, {len(rows)} listed")


def confirm(folder: Path) -> None:
    """Plant each fault that has tests by name, and run those of them that are still there."""
    folder.mkdir(parents=True, exist_ok=True)
    faults, noticed, asked = listed(), 0, 0
    words = [sys.executable, "-m", "pytest", "--collect-only", "-m", "", "tests"]
    told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    there = set(told.stdout.splitlines())
    for row in map(json.loads, CAUGHT.read_text("utf-8").splitlines()):
        fault = faults[int(row["fault"])]
        line = fault.line()
        named = [name.partition("::") for name in row["caught"]]
        tests = [f"{file.replace('.', '/')}.py::{test}" for file, _, test in named if test]
        tests = [test for test in tests if test in there]
        caught: list[str] = []
        if line is not None and tests:
            with fault.planted(line):
                caught = caught_by(tests, folder)
        asked, noticed = asked + bool(named), noticed + bool(caught)
        if named and not caught:
            why = "they pass" if tests else "they are gone"
            why = "its line is gone" if line is None else why
            print(f"{row['fault']}: {why}", flush=True)
    print(f"{noticed} of {asked} with tests by name are noticed, {len(faults)} listed")


def main() -> None:
    """Record, run or confirm."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seeded_faults")
    parser.add_argument("what", choices=["record", "run", "confirm"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=1000, help="so many faults of the list")
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    if given.what == "run":
        run(folder, given.first)
    else:
        (record if given.what == "record" else confirm)(folder)


if __name__ == "__main__":
    main()
