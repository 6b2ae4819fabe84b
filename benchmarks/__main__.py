"""`python -m benchmarks [TIMES]`: our own time, beside what nobody can do without.

Each go starts all of them in turn, so that what slows the machine slows them alike; a ratio is that
of two medians of one run. Nothing fails because it is slow.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bot.stage import Job, Stage, heard
from tests.fakes.github import FakeGitHub

_TIMES = 7
_FILES = 2_000
_IMPORTS = "python -c 'import pydantic, typer'"
_BARE_SERVER = "the bare SDK, to its first answer"
_SERVER = """
from mcp.server import MCPServer
MCPServer("bare").run("stdio")
"""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
_BESIDE = {
    "forge-bot --help": _IMPORTS,
    "forge-bot list": _IMPORTS,
    "forge-bot status": _IMPORTS,
    "forge-bot mcp, to its first answer": _BARE_SERVER,
}
"""What each command is compared with."""

_LEFT_OUT = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
"""What makes Python slow in a way that no user has."""


def main() -> None:
    """Measure, and print one table."""
    times = int(sys.argv[1]) if sys.argv[1:] else _TIMES
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        first = _used(lambda: _run(folder, "demo", str(folder / "demo"), "--yes"))
        measures = _measures(folder / "demo")
        for measure in measures.values():
            measure()
        seconds = {what: list[float]() for what in measures}
        processor = {what: list[float]() for what in measures}
        for _ in range(times):
            for what, measure in measures.items():
                used, took = _used(measure)
                seconds[what].append(took)
                processor[what].append(used)
        threads = list(_in_a_thread(folder))
    print(
        f"{_machine()}\n\n| what | seconds | of a processor | ratio |\n| --- | ---: | ---: | ---: |"
    )
    middle = {what: statistics.median(taken) for what, taken in seconds.items()}
    for what in measures:
        beside = _BESIDE.get(what)
        ratio = f"{middle[what] / middle[beside]:.2f}" if beside else ""
        print(
            f"| {what} | {middle[what]:.2f} | {statistics.median(processor[what]):.2f} | {ratio} |"
        )
    print(f"| forge-bot demo --yes, once | {first[1]:.1f} | {first[0]:.1f} | |")
    for what, used, took in threads:
        print(f"| {what} | {took:.1f} | {used:.1f} | |")


def _measures(folder: Path) -> dict[str, Callable[[], object]]:
    return {
        _IMPORTS: lambda: _python(folder, "-c", "import pydantic, typer"),
        "forge-bot --help": lambda: _run(folder, "--help"),
        "forge-bot list": lambda: _run(folder, "list"),
        "forge-bot status": lambda: _run(folder, "status"),
        _BARE_SERVER: lambda: _greet(folder, "-c", _SERVER),
        "forge-bot mcp, to its first answer": lambda: _greet(folder, "-m", "forge_bot", "mcp"),
    }


def _in_a_thread(folder: Path) -> Iterator[tuple[str, float, float]]:
    """Yield two jobs of a run in a repository of many files, and the seconds that each used of a
    processor and those that passed without those of the project's commands. The model's answers
    are recorded, and the remote is on this machine.
    """
    with FakeGitHub(folder / "github") as hub:
        stage = Stage(hub, folder / "jobs", folder / "script.jsonl", python=sys.executable)
        texts = {f"parts/part_{n // 50}/file_{n}.py": _module(n) for n in range(_FILES)}
        hub.commit(stage.repo, "main", texts)
        before = 0.0
        jobs: dict[str, Callable[[], Job]] = {
            "from label to question": stage.label,
            "from approve to pull request": lambda: heard(stage.say("/approve")),
        }
        for what, start in jobs.items():
            used, took = _used(start)
            commands = _command_seconds(stage)
            yield f"{what}, {_FILES:,} files, without commands", used, took - commands + before
            before = commands


def _module(number: int) -> str:
    return (
        f"from parts.part_{number // 60} import file_{number // 2}\n\n\n"
        f"def value_{number}(day: int) -> int:\n"
        f'    """Return the value of a day."""\n'
        f"    return day * {number} + len(file_{number // 2}.__name__)\n"
    )


def _command_seconds(stage: Stage) -> float:
    """Return how long the project's own commands took until now."""
    reports = [json.loads(line) for line in stage.document("reports.jsonl").splitlines()]
    results = [result for report in reports for result in report.get("results", ())]
    return sum(result["durationMs"] for result in results) / 1000


def _run(folder: Path, *words: str) -> None:
    _python(folder, "-m", "forge_bot", *words)


def _python(folder: Path, *words: str) -> None:
    subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=_environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _greet(folder: Path, *words: str) -> None:
    """Start a server, and end it after its first answer."""
    request = (json.dumps(_HELLO) + "\n").encode()
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(request)
        server.stdin.flush()
        assert b"serverInfo" in server.stdout.readline()
        server.kill()


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    return {**kept, "PYTHONPATH": str(Path(__file__).parents[1])}


def _used(measure: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of a processor that one go used, and those that passed."""
    before, began = os.times(), time.perf_counter()
    measure()
    after, took = os.times(), time.perf_counter() - began
    children = after.children_user + after.children_system
    return children - before.children_user - before.children_system, took


def _machine() -> str:
    done = subprocess.run(["git", "version"], capture_output=True, text=True, check=True)
    return (
        f"Python {platform.python_version()}, {done.stdout.strip()}, {platform.system()}"
        f" {platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
