"""Commands of an older version and of this one, in turns and with the same inputs: the ratio of the
two depends little on the machine. `python -m benchmarks.beside_older FOLDER [NAME …]` wants a
checkout of the older version that has its own `.venv`.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.many_runs import large_repository
from benchmarks.mcp_client import HELLO, ROOT
from benchmarks.measuring import CHILDREN, as_a_user, processor_time, timed
from forge_bot.runs.outcome import Outcome
from tests.fakes.finished import demo, finished
from tests.fakes.many_branches import repository_with

_PAST = (1_000, 10_000)
_TASK = ("run", "Nobody is on call before the start", "--effort", "M")


class Took(NamedTuple):
    """Seconds of one go, by the clock and of a processor."""

    clock: float
    processor: float


class Version:
    """A checkout with its own Python, and a script that its agents answer from."""

    def __init__(self, root: Path, place: Path) -> None:
        self.place = place
        self._python = str(root / ".venv" / "bin" / "python")
        self._environment = as_a_user(PYTHONPATH=str(root), XDG_STATE_HOME=str(place / "state"))
        place.mkdir()
        write = "import sys; from pathlib import Path; from tests.fakes import script;"
        self.model = self._run(
            root,
            "-c",
            f"{write} print(script.write(Path(sys.argv[1])))",
            str(place / "script.jsonl"),
        ).strip()
        known = self._run(place, "-m", "forge_bot", "approve", "--help")
        self.by_script = ("--by-script",) if "--by-script" in known else ()

    def command(self, folder: Path, *words: str) -> Took:
        """What a command takes in a folder."""
        before = CHILDREN()
        clock = timed(lambda: self._run(folder, "-m", "forge_bot", *words))
        return Took(clock, CHILDREN() - before)

    def greeting(self, folder: Path) -> Took:
        """What a server takes to its answer to `initialize`."""
        start = time.perf_counter()
        with subprocess.Popen(
            [self._python, "-m", "forge_bot", "mcp"],
            cwd=folder,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
            server.stdin.write(json.dumps(asked).encode() + b"\n")
            server.stdin.flush()
            assert b"result" in server.stdout.readline()
            took = Took(time.perf_counter() - start, processor_time(server.pid))
            server.stdin.close()
        return took

    def _run(self, folder: Path, *words: str) -> str:
        done = subprocess.run(
            [self._python, *words],
            cwd=folder,
            env=self._environment,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode not in {Outcome.DONE, Outcome.WAITING}:
            raise RuntimeError(f"{words} ended with {done.returncode}: {done.stderr}")
        return done.stdout


Measure = Callable[[Version], Mapping[str, Took]]


def main(older: Path, names: Sequence[str]) -> None:
    """Print a table: each row once for each version, and the newer one's share of the older one."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        folder = Path(name)
        versions = (Version(older.resolve(), folder / "older"), Version(ROOT, folder / "newer"))
        print("| measure | times | older | newer | ratio | older, processor | newer | ratio |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for what, times, measure in _measures(folder):
            if names and what not in names:
                continue
            gone = [[measure(version) for version in versions] for _ in range(times)]
            for row in gone[0][0]:
                cells = _cells([[each[row] for each in go] for go in gone])
                print(f"| {row} | {times} | {cells} |", flush=True)


def _cells(gone: Sequence[Sequence[Took]]) -> str:
    def sides(of: Callable[[Took], float]) -> str:
        old, new = (median(of(go[side]) for go in gone) for side in (0, 1))
        return f"{old:.3f} s | {new:.3f} s | {new / old:.2f}"

    return f"{sides(lambda took: took.clock)} | {sides(lambda took: took.processor)}"


def _measures(folder: Path) -> Iterator[tuple[str, int, Measure]]:
    yield "commands", 9, _of_one_run
    yield "mcp", 11, lambda version: {"`mcp`, to its first answer": version.greeting(folder)}
    yield "large", 3, _large
    yield "branches", 1, _branches
    for past in _PAST:
        yield f"past-{past}", 1, lambda version, past=past: _first_begin(version, past)


def _of_one_run(version: Version) -> Mapping[str, Took]:
    folder = version.place / "demo"
    if not folder.exists():
        version.command(version.place, "demo", str(folder), "--yes")
    return {
        f"`{words[0]}`": version.command(folder, *words)
        for words in (("status",), ("list",), ("show", "design.md"))
    }


def _large(version: Version) -> Mapping[str, Took]:
    """A run and its approval in a repository that was just made."""
    root = version.place / "large"
    large_repository(root)
    model = ("--model", version.model)
    took = {
        "`run`, 20,000 files": version.command(root, *_TASK, *model),
        "`approve`, 20,000 files": version.command(root, "approve", *version.by_script, *model),
    }
    _removed(version)
    return took


def _branches(version: Version) -> Mapping[str, Took]:
    root = version.place / "branches"
    repository_with(root, merged=60, branches=40)
    return {"`list`, 40 branches, 60 past runs": version.command(root, "list")}


def _first_begin(version: Version, past: int) -> Mapping[str, Took]:
    place = version.place / f"past-{past}"
    place.mkdir()
    root = finished(demo(place).repository, place, past).repository.root
    subprocess.run(["git", "-C", str(root), "reset", "--quiet", "--hard", "main"], check=True)
    took = version.command(root, *_TASK, "--model", version.model)
    return {f"`run`, the first among {past:,} past runs": took}


def _removed(version: Version) -> None:
    """Remove what a run has made, here and in the folder of states."""
    for name in ("large", "state"):
        # An ended run's trees are removed behind its command.
        while (version.place / name).exists():
            shutil.rmtree(version.place / name, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
