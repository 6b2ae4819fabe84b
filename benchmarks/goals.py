"""The goals of our own time, each beside what was measured and the least that is possible."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks import action_start, command_line, many_runs, mcp_serving
from benchmarks.measuring import Figure, Row, as_a_user, measured, summed_up, timed
from forge_bot.git import Repository
from forge_bot.knowledge.past_runs import DocumentNames
from forge_bot.runs.past_runs.past_run_reader import history_at
from forge_bot.settings import Config
from forge_bot.settings.load_pipeline import load_pipeline
from tests.actions.runner import uv_cache
from tests.fakes.finished import demo, finished
from tests.fakes.made_up import MadeUp

_PAST = 200
_TITLE = "Nobody is on call before the start"
_IN_A_PROCESS = (
    "from forge_bot.quick_start import start_quickly; start_quickly();"
    " import sys; from pathlib import Path; from benchmarks import goals;"
    " print(*getattr(goals, sys.argv[1])(Path.cwd(), sys.argv[2]))"
)
"""A process that begins as that of a command does."""

Measured = Mapping[tuple[str, str], Row]


class Goal(NamedTuple):
    """One line: what it is about, the row that measures it, what is aimed at, and the least."""

    what: str
    row: tuple[str, str]
    goal: str
    least: str = ""


_AMONG = "40 branches, 1,000 past runs"
_LARGE = "20,000 files"
_GOALS = (
    Goal("`list`: calls of git", ("runs, calls of git", "40 branches, 60 past runs"), "5", "2"),
    Goal("`list`, 40 branches beside none", ("list, beside no branches", ""), "1.2 ×"),
    *(
        Goal(f"{tool}, {when}, 1,000 past runs", (f"{tool}, {when}", _AMONG), goal)
        for tool in ("orient", "run_list", "resume_info")
        for when, goal in (("first of a process", "30 ms"), ("asked again", "5 ms"))
    ),
    *(
        Goal(f"`{command}`", (f"forge-bot {command}, one run", ""), "300 ms", "120 ms")
        for command in ("status", "list", "show")
    ),
    *(
        Goal(
            f"{tool}, with the greeting, 1,000 past runs",
            (f"{tool}, with the greeting", _AMONG),
            "",
        )
        for tool in ("orient", "history_search")
    ),
    Goal("`mcp`, to its first answer", ("MCP first answer", "forge-bot mcp"), "450 ms"),
    Goal("the bare SDK, to its first answer", ("MCP first answer", "the bare SDK"), ""),
    Goal("first prompt of a process, 200 past runs", ("first prompt", ""), "500 ms", "20 ms"),
    Goal("search, 200 past runs", ("search", ""), "10 ms"),
    Goal("resident, 200 past runs", ("resident", ""), "150 MB"),
    Goal("`run`, 20,000 files", ("forge-bot run", _LARGE), "2.2 s"),
    Goal("`approve`, 20,000 files", ("forge-bot approve", _LARGE), "1.5 s"),
    Goal("`git worktree add` alone", ("git worktree add", _LARGE), "", "0.7 s"),
    Goal("label → first push", (action_start.KEPT, action_start.KEEPS), "1.5 s"),
    Goal("label → first push, a new machine", (action_start.KEPT, action_start.NEW), ""),
    Goal("the step that installs", (action_start.INSTALL, action_start.NEW), "2 s"),
)


def rows() -> Iterator[Row]:
    """Measure all of it in one go. The size of a row names the goal and the least."""
    uv_cache()  # What is missing is told now, and not after minutes.
    known = {
        (row.what, row.size): row
        for measure in (command_line, many_runs, mcp_serving, action_start)
        for row in _told(measure.rows())
    }
    known |= {(row.what, row.size): row for row in _told(_among_past_runs())}
    known["list, beside no branches", ""] = _beside_none(known)
    for goal in _GOALS:
        least = f", least {goal.least}" if goal.least else ""
        aim = f"goal {goal.goal}{least}" if goal.goal else f"least{goal.least and ' '}{goal.least}"
        yield known[goal.row]._replace(what=goal.what, size=aim)


def _told(found: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows, and say on the error stream which is there: all of it takes minutes."""
    for row in found:
        print(f"{row.what}, {row.size}", file=sys.stderr, flush=True)
        yield row


def _beside_none(known: Measured) -> Row:
    some = known["forge-bot list", "40 branches, 60 past runs"]
    none = known["forge-bot list", "0 branches, 60 past runs"]
    ratio = some.figure.median / none.figure.median
    return Row("list, beside no branches", "", some.times, Figure(ratio, ratio, ratio, "×"))


def _among_past_runs() -> Iterator[Row]:
    """The cost of past runs in a process that has not read them."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        os.environ["XDG_STATE_HOME"] = f"{name}/state"
        place = Path(name) / "past"
        place.mkdir()
        run = finished(demo(Path(name)).repository, place, _PAST)
        repository = run.repository
        told = [_in_a_process(searched.__name__, repository.root, run.base) for _ in range(3)]
        for what, unit, values in zip(
            ("first prompt", "search", "resident"),
            ("s", "s", "MB"),
            zip(*told, strict=True),
            strict=True,
        ):
            yield Row(what, "", len(told), summed_up(values, unit))


def _in_a_process(what: str, root: Path, base: str) -> tuple[float, ...]:
    done = subprocess.run(
        [sys.executable, "-c", _IN_A_PROCESS, what, base],
        cwd=root,
        env=as_a_user(PYTHONPATH=str(Path(__file__).parents[1])),
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(map(float, done.stdout.split()))


def searched(root: Path, base: str) -> tuple[float, float, float]:
    """Return the seconds of this process's first recall and of a later search, and the megabytes
    that it has resident at most: proc(5), VmHWM.
    """
    repository = Repository.find(root)
    first = timed(lambda: _history(repository, base))
    made_up, history = MadeUp(), history_at(repository, base, _documents())
    later = measured(lambda: history.recall(made_up.text(8)), 5)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return first, later.median, int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _history(repository: Repository, base: str) -> object:
    return history_at(repository, base, _documents()).recall(_TITLE)


def _documents() -> DocumentNames:
    return DocumentNames.of(load_pipeline(Config().pipeline, None))
