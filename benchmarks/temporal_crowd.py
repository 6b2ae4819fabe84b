"""Many runs that a Temporal server leads: waiting and answered, and at work at the same time."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError

from benchmarks.measuring import Figure, Row, all_processor_time, processor_time
from forge_bot.engine import REPORT
from forge_bot.engine.reports import Answer, RunFlags
from forge_bot.git import Repository
from forge_bot.runs.create_run import NewRun, create_run, plan_for
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.finding_runs.resolve_run import run_named
from forge_bot.runs.open_run import open_run
from forge_bot.runs.request_draft import draft_from_words
from forge_bot.runs.session import answer
from forge_bot.runs.typed_answer import PersonAnswer
from forge_bot.settings import Config, load_config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.temporal.payloads import RunBegin, RunStanding
from forge_bot.temporal.run_place import queue_of, workflow_id
from forge_bot.temporal.run_workflow import ForgeRunWorkflow
from forge_bot.temporal.thread_address import ORCHESTRATION
from tests.temporal.scene import Clone, Server, clone, server

RunHandle = WorkflowHandle[ForgeRunWorkflow, str]

_WAITING = os.environ.get("FORGE_BENCHMARK_RUNS", "10 100 1000")
_AT_ONCE = int(os.environ.get("FORGE_BENCHMARK_AT_ONCE", "50"))
_WORKERS = os.environ.get("FORGE_BENCHMARK_WORKERS", "1 2 4")
_OWN = "waiting"
_PIPELINE = """\
pipeline_id: waiting
inputs: {file: {description: the file to write}}
steps:
  - step: put
    kind: fs_write
    gate: true
    input_map: {path: inputs.file, content: inputs.file}
"""
"""One question, and a file when it is answered: the project's own commands would hide our part."""

_SIDE_BY_SIDE = 50
_APART = {
    *("at", "key", "run", "title", "branch", "digest", "by", "via", "detail"),
    *("effort_reason", "recalls_from", "records", "request_blob", "request_hash"),
}
"""Names in reports that differ between two runs of the same pipeline."""


class _Crowd(NamedTuple):
    place: Clone
    server: Server
    repository: Repository


class _Cost(NamedTuple):
    """What workers and server have used up to now."""

    seconds: float
    worker_mb: float
    server_mb: float


def rows() -> Iterator[Row]:
    """Runs that wait for a person, then runs that work at once."""
    for count in map(int, _WAITING.split()):
        yield from _waiting(count)
    for workers in map(int, _WORKERS.split()):
        yield from _at_once(workers)


def _waiting(count: int) -> Iterator[Row]:
    said = f"{count:,} runs"
    with _crowd() as crowd:
        worker = _worker(crowd)
        expected = _alone(crowd)
        own = all_processor_time()
        infos = [_begun(crowd, number, _OWN) for number in range(count)]
        own = (all_processor_time() - own) / count
        yield _row("to begin it here, processor time, each", said, own)
        before = _cost(crowd, worker.pid)
        start = time.perf_counter()
        asyncio.run(_started(crowd, infos))
        asyncio.run(_settled(crowd, infos))
        yield _row("to the question, each", said, (time.perf_counter() - start) / count)
        asked = _cost(crowd, worker.pid)
        used = (asked.seconds - before.seconds) / count
        yield _row("to the question, processor time, each", said, used)
        for what, more in (
            ("memory of the worker", asked.worker_mb - before.worker_mb),
            ("memory of the server", asked.server_mb - before.server_mb),
        ):
            yield _row(f"{what}, more for each", said, more / count, "MB")
        start = time.perf_counter()
        asyncio.run(_answered(crowd, infos))
        yield _row(
            "from the approval to the end, each", said, (time.perf_counter() - start) / count
        )
        used = (_cost(crowd, worker.pid).seconds - asked.seconds) / count
        yield _row("from the approval to the end, processor time, each", said, used)
        same = sum(_log(crowd, info) == expected for info in infos)
        yield _row("runs whose report log is the local host's", said, same, "")


def _at_once(count: int) -> Iterator[Row]:
    """Small runs with a scripted model and the project's own tests, up to their first question."""
    said = f"{_AT_ONCE} runs, {count} worker{'s' if count > 1 else ''}"
    with _crowd() as crowd:
        infos = [_begun(crowd, number, "") for number in range(_AT_ONCE)]
        workers = [_worker(crowd).pid for _ in range(count)]
        before, start = _cost(crowd, *workers), time.perf_counter()
        asyncio.run(_started(crowd, infos))
        asyncio.run(_settled(crowd, infos))
        seconds = time.perf_counter() - start
        used = _cost(crowd, *workers).seconds - before.seconds
        yield _row(
            "small runs to the first question, in an hour", said, 3600 * _AT_ONCE / seconds, ""
        )
        yield _row("… processor time of each", said, used / _AT_ONCE)
        yield _row("… processors that were at work for them", said, used / seconds, "")


def _row(what: str, said: str, figure: float, unit: str = "s") -> Row:
    return Row(what, said, 1, Figure(figure, figure, figure, unit))


@contextmanager
def _crowd() -> Generator[_Crowd]:
    with (
        tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name,
        server(Path(name) / "server") as its_own,
        clone(Path(name) / "clone", its_own) as place,
        chdir(place.path),
    ):
        os.environ["XDG_STATE_HOME"] = place.environ["XDG_STATE_HOME"]
        file = place.path / ".forge" / "pipelines" / f"{_OWN}.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(_PIPELINE, encoding="utf-8")
        place.git("add", "-A")
        place.git("-c", "user.name=Ann", "-c", "user.email=a@example.org", "commit", "-qm", "own")
        yield _Crowd(place, its_own, Repository.find(place.path))


def _worker(crowd: _Crowd) -> "subprocess.Popen[str]":
    """A worker that writes into a file: nobody reads the lines of hundreds of runs, and a pipe that
    is full would hold it up.
    """
    place = crowd.place
    log = place.folder / f"worker-{len(place.workers)}.log"
    words = ("-m", "forge_bot", "worker", "--address", place.server.address)
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=place.path,
            env=place.environ,
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
        )
    place.workers.append(process)
    while not log.read_text(encoding="utf-8").startswith("Working for "):
        if process.poll() is not None:
            raise RuntimeError(log.read_text(encoding="utf-8"))
        time.sleep(0.05)
    return process


def _cost(crowd: _Crowd, *workers: int) -> _Cost:
    process = crowd.server.process
    if process is None:
        raise RuntimeError("The server has ended.")
    seconds = sum(map(processor_time, workers)) + processor_time(process.pid)
    return _Cost(seconds, sum(map(_memory, workers)), _memory(process.pid))


def _memory(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _alone(crowd: _Crowd) -> list[dict[str, Any]]:
    """The log of such a run that no server leads."""
    words = ("--pipeline", _OWN, "--branch", "feature/alone")
    crowd.place.forge("run", "Write it\nfile: notes.txt", *words)
    crowd.place.forge("approve")
    return _log(crowd, run_named(crowd.repository, "feature/alone"))


def _log(crowd: _Crowd, info: RunInfo) -> list[dict[str, Any]]:
    """The reports of a run on its branch. Whoever approves here is shown nothing."""
    path = f".specs/{info.name}/reports.jsonl"
    lines = (crowd.repository.read(f"refs/heads/{info.branch}", path) or b"").splitlines()
    reports = [json.loads(line) for line in lines]
    return [
        {name: value for name, value in report.items() if name not in _APART}
        for report in reports
        if report["type"] != "gate_shown"
    ]


def _begun(crowd: _Crowd, number: int, pipeline: str) -> RunInfo:
    repository = crowd.repository
    config = load_config(repository.root)
    words = f"Write it, number {number}\nfile: notes.txt"
    draft = draft_from_words(words, token=None, api_url=None)
    plan = plan_for(repository, draft, effort="S", name=None, branch=None, here=False)
    flags, records = RunFlags(), config.records
    beginning = NewRun(draft=draft, plan=plan, flags=flags, by="benchmark", records=records)
    chosen = load_pipeline(pipeline or config.pipeline, repository.root)
    return create_run(repository, beginning, chosen)


async def _connected(crowd: _Crowd) -> Client:
    return await Client.connect(crowd.place.server.address, data_converter=pydantic_data_converter)


async def _handles(crowd: _Crowd, infos: Sequence[RunInfo]) -> list[RunHandle]:
    client = await _connected(crowd)
    return [
        client.get_workflow_handle_for(
            ForgeRunWorkflow.run, workflow_id(crowd.repository, info.name)
        )
        for info in infos
    ]


async def _started(crowd: _Crowd, infos: Sequence[RunInfo]) -> None:
    client, repository = await _connected(crowd), crowd.repository
    for info in infos:
        begin = RunBegin(
            repository=str(repository.root),
            run=info.name,
            queue=queue_of(repository),
            heartbeat_seconds=120,
        )
        await client.start_workflow(
            ForgeRunWorkflow.run,
            begin,
            id=workflow_id(repository, info.name),
            task_queue=ORCHESTRATION,
        )


async def _settled(crowd: _Crowd, infos: Sequence[RunInfo]) -> None:
    for handle in await _handles(crowd, infos):
        standing = RunStanding()
        while not standing.asks:
            # A worker with a thousand runs to begin does not always answer in time.
            with suppress(RPCError):
                standing = await handle.query(ForgeRunWorkflow.standing)
            if standing.trouble is not None:
                raise RuntimeError(standing.trouble.message)
            if not standing.asks:
                await asyncio.sleep(0.2)


def _approval(repository: Repository, info: RunInfo, config: Config) -> tuple[str, str]:
    with open_run(repository, info, config) as run:
        digest = getattr(run.action, "digest", None)
        said = answer(run, PersonAnswer(answer=Answer.APPROVE), "benchmark", digest)
    return REPORT.dump_json(said).decode(), said.key


async def _answered(crowd: _Crowd, infos: Sequence[RunInfo]) -> None:
    room = asyncio.Semaphore(_SIDE_BY_SIDE)
    config = load_config(crowd.repository.root)

    async def told(info: RunInfo, handle: RunHandle) -> None:
        async with room:
            line, key = await asyncio.to_thread(_approval, crowd.repository, info, config)
            # One of its overloads takes arguments that have no types.
            await handle.execute_update(  # pyright: ignore[reportUnknownMemberType]
                ForgeRunWorkflow.tell, line, id=key
            )
            await handle.result()

    handles = await _handles(crowd, infos)
    await asyncio.gather(*(told(*each) for each in zip(infos, handles, strict=True)))
