"""The MCP server: its size, its start, a call at a gate, and a call with a prompt, beside servers
that do nothing.
"""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.mcp_client import Client, connected
from benchmarks.measuring import PROCESSOR, WALL, Figure, Row, measured, summed_up, timed
from forge_bot.git.process import git
from forge_bot.mcp_server.sdk_server.server import make_server
from forge_bot.mcp_server.service import Service
from forge_bot.resources import templates
from tests.fakes.made_up import MadeUp, workspace
from tests.fakes.processes import started_by
from tests.mcp_server.host import hosting_in

SIZES = (0, 200)
STARTS = 21
CALLS = 50
_TASK = "Nobody is on call before the start"
_LOOP = ("-m", "benchmarks.mcp_servers", "loop")
_SDK = ("-m", "benchmarks.mcp_servers", "sdk")
_OURS = ("-m", "forge_bot", "mcp")


def rows() -> Iterator[Row]:
    """Everything in one go, so that all figures are of the same machine at the same hour."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        gate = _repository(folder / "gate", 0)
        yield from _size()
        yield from _starts(gate)
        yield from _gate(gate)
        for size in SIZES:
            yield from _prompts(
                _repository(folder / f"prompts-{size}", size), f"{size:,} past runs"
            )


def _size() -> Iterator[Row]:
    tools = asyncio.run(make_server(None).list_tools())
    seen = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in tools
    ]
    tokens = sum(len(json.dumps(each, separators=(",", ":"))) for each in seen) / 4
    yield Row(
        "tools/list, characters / 4",
        f"{len(tools)} tools",
        1,
        Figure(tokens, tokens, tokens, "tokens"),
    )


# -- the start
# --------------------------------------------------------------------------------------------------


def _starts(folder: Path) -> Iterator[Row]:
    """Each go starts all three in turn."""
    programs = {"a loop by hand": _LOOP, "the bare SDK": _SDK, "forge-bot mcp": _OURS}
    for words in programs.values():
        _started(words, folder)
    gone = [
        {what: _started(words, folder) for what, words in programs.items()} for _ in range(STARTS)
    ]
    for number, which in enumerate(("first answer", "list of tools")):
        for what in programs:
            yield Row(
                f"MCP {which}", what, STARTS, summed_up([each[what][number] for each in gone])
            )
        ratios = [each["forge-bot mcp"][number] / each["the bare SDK"][number] for each in gone]
        yield Row(
            f"… {which}, beside the bare SDK", "forge-bot mcp", STARTS, summed_up(ratios, "×")
        )


def _started(words: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """Seconds from the start of the process to its first answer, and to its list of tools."""
    client = Client(*words, folder=folder)
    first = client.greet()
    client.ask("tools/list", {})
    listed = time.perf_counter() - client.began
    client.close()
    return first, listed


# -- a gate
# --------------------------------------------------------------------------------------------------


def _gate(folder: Path) -> Iterator[Row]:
    """The open question asked for again and again, in turns with a tool that answers a word."""
    place = asyncio.run(_begun(folder, gate=True))
    with (
        connected(*_LOOP, folder=folder) as loop,
        connected(*_SDK, folder=folder) as sdk,
        connected(*_OURS, folder=folder) as ours,
    ):
        once: dict[str, Callable[[], object]] = {
            "a trivial tool, a loop by hand": lambda: loop.call("trivial", place),
            "a trivial tool, the bare SDK": lambda: sdk.call("trivial", place),
            "next_action at a gate": lambda: ours.call("pipeline_next_action", place),
        }
        _check_gate(ours, place)
        gone = [{what: timed(call) for what, call in once.items()} for _ in range(CALLS)]
    for what in once:
        yield Row(what, "", CALLS, summed_up([each[what] for each in gone]))
    ratios = [each["next_action at a gate"] / each["a trivial tool, the bare SDK"] for each in gone]
    yield Row("… beside the bare SDK", "next_action at a gate", CALLS, summed_up(ratios, "×"))


def _check_gate(ours: Client, place: str) -> None:
    answer = ours.call("pipeline_next_action", place)["structuredContent"]
    assert answer["type"] == "checkpoint", answer


# -- a prompt
# --------------------------------------------------------------------------------------------------


def _prompts(folder: Path, said: str) -> Iterator[Row]:
    """The action of an analyst: the whole prompt is made anew; own time is what is left without
    starting git.
    """
    place = asyncio.run(_begun(folder, gate=False))
    desk = Service(folder)

    def once() -> object:
        return desk.next_action(place, {}, "benchmark", lambda _notice: None)

    first = timed(once)
    calls = len(started_by(once))
    start = (
        measured(lambda: git(folder, "version"), 15, inner=calls, clock=PROCESSOR).median * calls
        if calls
        else 0.0
    )
    whole = measured(once, 15, clock=WALL)
    busy = measured(once, 15, clock=PROCESSOR)
    yield Row("next_action with a prompt, the first in a process", said, 1, summed_up([first]))
    yield Row("next_action with a prompt", said, 15, whole)
    yield Row("… calls of git", said, 1, Figure(calls, calls, calls, ""))
    yield Row(
        "… our own time", said, 15, Figure(busy.median - start, busy.low - start, busy.high - start)
    )


async def _begun(folder: Path, *, gate: bool) -> str:
    """The workspace of a run that has begun: at its first prompt, or at its first question."""
    async with hosting_in(folder) as host:
        await host.begin(_TASK)
        action = await host.next()
        if gate:
            assert (await host.drive(action))["type"] == "checkpoint"
        return host.workspace


def _repository(folder: Path, past: int) -> Path:
    """The sample repository with so many past runs."""
    shutil.copytree(templates() / "demo" / "repository", folder)
    made_up = MadeUp()
    for run in (made_up.run(number) for number in range(past)):
        place = folder / ".specs" / run.name
        place.mkdir(parents=True)
        for name, text in workspace(run):
            (place / name).write_text(text, encoding="utf-8")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "-A"),
        (*identity, "commit", "-qm", "start"),
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    return folder
