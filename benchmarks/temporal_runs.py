"""Runs that a Temporal server leads: own cost beside the local host, and many runs that wait."""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter

from benchmarks.measuring import Figure, Row, summed_up
from forge_bot.engine import REPORT
from forge_bot.engine.reports import Answer, RunFlags
from forge_bot.git import Repository
from forge_bot.runs.create import NewRun, create_run, draft_from_words, plan_for
from forge_bot.runs.resolve import RunInfo, resolve_run
from forge_bot.runs.run import open_run
from forge_bot.runs.session import PersonAnswer, answer
from forge_bot.settings import load_config, load_pipeline
from forge_bot.temporal.payloads import RunBegin, RunStanding
from forge_bot.temporal.run_place import queue_of, workflow_id
from forge_bot.temporal.run_workflow import ForgeRunWorkflow
from forge_bot.temporal.thread_address import ORCHESTRATION
from tests.temporal.scene import Clone, clone, server

_TASK = "Nobody is on call before the start"
_TIMES = 3
_MANY = tuple(int(each) for each in os.environ.get("FORGE_BENCHMARK_RUNS", "10 100").split())


def rows() -> Iterator[Row]:
    """Whole runs first, then those that wait."""
    yield from _whole()
    for count in _MANY:
        yield from _waiting(count)


def _whole() -> Iterator[Row]:
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


def _waiting(count: int) -> Iterator[Row]:
    with (
        tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name,
        server(Path(name) / "server") as its_own,
        clone(Path(name) / "clone", its_own) as place,
        chdir(place.path),
    ):
        os.environ["XDG_STATE_HOME"] = place.environ["XDG_STATE_HOME"]
        worker = place.start_worker()
        repository = Repository.find(place.path)
        infos = [_begun(repository, number) for number in range(count)]
        asyncio.run(_started(place, repository, infos))
        start = time.perf_counter()
        asyncio.run(_settled(place, repository, infos))
        said = f"{count:,} runs"
        took = (time.perf_counter() - start) / count
        yield Row("to the first question, each", said, 1, Figure(took, took, took))
        yield _memory("memory of the worker, each", said, worker.pid, count)
        if its_own.process is not None:
            yield _memory("memory of the server, each", said, its_own.process.pid, count)
        start = time.perf_counter()
        asyncio.run(_answered(place, repository, infos))
        took = (time.perf_counter() - start) / count
        yield Row("from the approval to the end, each", said, 1, Figure(took, took, took))
        done = sum(resolve_run(repository, info.name).status == "completed" for info in infos)
        yield Row("runs that are done", said, 1, Figure(done, done, done, ""))


def _memory(what: str, said: str, process: int, count: int) -> Row:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    kilobytes = int(status.partition("VmRSS:")[2].split()[0])
    each = kilobytes / 1024 / count
    return Row(what, said, 1, Figure(each, each, each, "MB"))


def _begun(repository: Repository, number: int) -> RunInfo:
    config = load_config(repository.text_here)
    draft = draft_from_words(f"{_TASK}, number {number}", token=None, api_url=None)
    plan = plan_for(repository, draft, effort="S", name=None, branch=None, here=False)
    beginning = NewRun(draft=draft, plan=plan, flags=RunFlags(), by="benchmark")
    return create_run(repository, beginning, load_pipeline(config.pipeline, repository.text_here))


async def _handles(
    place: Clone, repository: Repository, infos: list[RunInfo]
) -> list[WorkflowHandle[ForgeRunWorkflow, str]]:
    client = await Client.connect(place.server.address, data_converter=pydantic_data_converter)
    return [
        client.get_workflow_handle_for(ForgeRunWorkflow.run, workflow_id(repository, info.name))
        for info in infos
    ]


async def _started(place: Clone, repository: Repository, infos: list[RunInfo]) -> None:
    client = await Client.connect(place.server.address, data_converter=pydantic_data_converter)
    for info in infos:
        begin = RunBegin(
            repository=str(repository.root),
            run=info.name,
            queue=queue_of(repository),
            heartbeat_seconds=60,
        )
        await client.start_workflow(
            ForgeRunWorkflow.run,
            begin,
            id=workflow_id(repository, info.name),
            task_queue=ORCHESTRATION,
        )


async def _settled(place: Clone, repository: Repository, infos: list[RunInfo]) -> None:
    for handle in await _handles(place, repository, infos):
        standing = RunStanding()
        while not standing.asks:
            await asyncio.sleep(0.1)
            standing = await handle.query(ForgeRunWorkflow.standing)
            if standing.trouble is not None:
                raise RuntimeError(standing.trouble.message)


async def _answered(place: Clone, repository: Repository, infos: list[RunInfo]) -> None:
    config = load_config(repository.text_here)
    handles = await _handles(place, repository, infos)
    for info, handle in zip(infos, handles, strict=True):
        with open_run(repository, info, config) as run:
            digest = getattr(run.action, "digest", None)
            said = answer(run, PersonAnswer(answer=Answer.APPROVE), "benchmark", digest)
        # One of its overloads takes arguments that have no types.
        await handle.execute_update(  # pyright: ignore[reportUnknownMemberType]
            ForgeRunWorkflow.tell, REPORT.dump_json(said).decode(), id=said.key
        )
    for handle in handles:
        await handle.result()
