"""How many files three journeys lead through, and which of their calls climb: from a file to one
that stands above it, by the imports between files.
"""

import ast
import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import forge_bot
from benchmarks.call_trace import FOLDER, CallTrace, Move, moves_in
from benchmarks.measuring import Figure, Row
from tests.bot.stage import Stage
from tests.fakes.github import FakeGitHub
from tests.fakes.kept_samples import made
from tests.mcp_server.host import hosting_in

PACKAGE = Path(forge_bot.__file__).parent
_TASK = "`rota who` names somebody for days before the rota starts"
_START = """
from pathlib import Path
from benchmarks.call_trace import trace_this_process
trace_this_process(Path({package!r}))
"""


def rows() -> Iterator[Row]:
    """Each journey once: nothing of it depends on the hour."""
    with tempfile.TemporaryDirectory(
        prefix="forge-bot-benchmarks-", ignore_cleanup_errors=True
    ) as name:
        for journey, moves in _in_thread(Path(name) / "thread"):
            yield from _counted(journey, moves)
        yield from _counted("MCP: a report → the next action", _over_mcp(Path(name) / "mcp"))


def _in_thread(folder: Path) -> Iterator[tuple[str, set[Move]]]:
    """Trace the supervisor of a job, which is a process of its own."""
    start = folder / "start"
    start.mkdir(parents=True)
    (start / "sitecustomize.py").write_text(_START.format(package=str(PACKAGE)), encoding="utf-8")
    with FakeGitHub(folder / "github") as hub:
        stage = Stage(hub, folder / "jobs", folder / "script.jsonl")
        stage.python = sys.executable
        stage.environ["PYTHONPATH"] = os.pathsep.join((str(start), str(PACKAGE.parent)))
        for journey, go in (
            ("thread: label → first question", stage.label),
            ("thread: /approve → pull request", lambda: stage.say("/approve")),
        ):
            stage.environ[FOLDER] = str(folder / f"moves-{stage.jobs}")
            Path(stage.environ[FOLDER]).mkdir()
            go()
            yield journey, moves_in(Path(stage.environ[FOLDER]))


def _over_mcp(folder: Path) -> set[Move]:
    """Trace the report of an analysis, and the answer that is the next action."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    folder.mkdir()
    made(folder / "rota")
    trace = CallTrace(PACKAGE)

    async def reported() -> None:
        async with hosting_in(folder / "rota") as host:
            await host.begin(_TASK)
            action = await host.drive(await host.next(), "spawn_agent")
            host.perform(action)
            trace.on = True
            await host.next(previous_action_complete=True, action_id=action["action_id"])
            trace.on = False

    asyncio.run(reported())
    return trace.moves


def _counted(journey: str, moves: set[Move]) -> Iterator[Row]:
    between = {(left, entered) for left, entered in moves if left}
    climbs = [move for move in between if floor(Path(move[0])) < floor(Path(move[1]))]
    yield _row(f"{journey}, files", len({entered for _, entered in moves}))
    yield _row("… ways from file to file", len(between))
    yield _row("… of them up", len(climbs))


def _row(what: str, number: int) -> Row:
    return Row(what, "", 1, Figure(number, number, number, ""))


@cache
def floor(path: Path) -> int:
    """Return on which floor a file stands: above all that it imports, when it is read or later."""
    return 1 + max((floor(each) for each in _imported(path)), default=0)


def _imported(path: Path) -> Iterator[Path]:
    """Yield the files that a file imports, also those inside functions and for types alone."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("forge_bot"):
            continue
        folder = PACKAGE.joinpath(*str(node.module).split(".")[1:])
        for alias in node.names:
            places = (
                folder / f"{alias.name}.py",
                folder.with_suffix(".py"),
                folder / "__init__.py",
            )
            yield from [each for each in places if each.is_file() and each != path][:1]
