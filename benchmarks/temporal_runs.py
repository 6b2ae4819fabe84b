"""One run that a Temporal server leads: its own cost beside the local host."""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from benchmarks.measuring import (
    Figure,
    Row,
    all_processor_time,
    measured,
    processor_time,
    summed_up,
)
from forge_bot.git import Repository
from forge_bot.runs.finding_runs.resolve_run import run_named
from forge_bot.runs.open_run import open_run
from forge_bot.settings import load_config
from forge_bot.temporal.run_place import workflow_id
from forge_bot.temporal.run_workflow import ForgeRunWorkflow
from tests.temporal.scene import Clone, clone, server

_TASK = "Nobody is on call before the start"
_TIMES = 3
_WAKES = 20


def rows() -> Iterator[Row]:
    """Whole runs on this machine, and on a server that the command brings along."""
    ways: dict[str, tuple[str, ...]] = {
        "this machine": (),
        "embedded server and worker": ("--on", "temporal", "--dev"),
    }
    for said, on in ways.items():
        spent: list[float] = []
        for _ in range(_TIMES):
            with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
                spent.append(_processor_time(Path(name), on))
        yield Row("whole small run, processor time", said, _TIMES, summed_up(spent))
    yield from _each_step()


def _each_step() -> Iterator[Row]:
    """What a step costs that finds nothing to do, here and as an activity."""
    with (
        tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name,
        server(Path(name) / "server") as its_own,
        clone(Path(name) / "clone", its_own) as place,
    ):
        worker = place.start_worker()
        place.begin(_TASK)
        watched = [worker.pid] + ([its_own.process.pid] if its_own.process is not None else [])
        before = sum(map(processor_time, watched))
        for _ in range(_WAKES):
            asyncio.run(_woken(place))
        each = (sum(map(processor_time, watched)) - before) / _WAKES
        yield Row(
            "one step, server and worker, processor time", "", _WAKES, Figure(each, each, each)
        )
        with chdir(place.path):
            os.environ["XDG_STATE_HOME"] = place.environ["XDG_STATE_HOME"]
            repository = Repository.find(place.path)
            info, config = run_named(repository, place.run), load_config(repository.root)

            def opened() -> None:
                with open_run(repository, info, config) as run:
                    run.keep_record()

            spent = measured(opened, _WAKES, clock=all_processor_time)
        yield Row("of it, the run opened and let go", "", _WAKES, spent)


async def _woken(place: Clone) -> None:
    """Let a worker look at the branch once, and wait until it has."""
    client = await Client.connect(place.server.address, data_converter=pydantic_data_converter)
    name = workflow_id(Repository.find(place.path), place.run)
    handle = client.get_workflow_handle_for(ForgeRunWorkflow.run, name)
    await handle.signal(ForgeRunWorkflow.wake)
    asks = False
    while not asks:
        await asyncio.sleep(0.02)
        asks = (await handle.query(ForgeRunWorkflow.standing)).asks


def _processor_time(folder: Path, on: tuple[str, ...]) -> float:
    """Seconds of a processor for the two commands of a small run, with all that they start."""
    with server(folder / "unused") as unused, clone(folder / "clone", unused) as place:
        unused.kill()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for words in (("run", _TASK, "--effort", "S", "--yes", *on), ("approve", "--by-script")):
            subprocess.run(
                [sys.executable, "-m", "forge_bot", *words],
                cwd=place.path,
                env=place.environ,
                capture_output=True,
                check=False,
            )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
