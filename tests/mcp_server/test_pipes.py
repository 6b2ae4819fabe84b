"""Stdin and stdout as a client has them: every line is answered, whatever it is, and the process
ends when it is told to.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from forge_bot.git import Repository
from forge_bot.runs.finding_runs.find_runs import run_in
from forge_bot.runs.open_run import open_run
from forge_bot.settings import load_config
from tests.fakes.sample import Sample
from tests.mcp_server.host import Refusal, hosting, over_stdio

pytestmark = pytest.mark.slow

TASK = "Nobody is on call before the start"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}
PRINTING = """
import sys
from pathlib import Path
from forge_bot.mcp_server.service_calls import LazyService
from forge_bot.mcp_server.sdk_server.server import make_server
server = make_server(LazyService([Path(sys.argv[1])]))
@server.tool(description="Prints.", structured_output=False)
async def chatty() -> str:
    print("a library says hello", end="")
    return "done"
server.run("stdio")
"""


class Raw:
    """A client that writes lines as they come."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin, self.stdout = process.stdin, process.stdout

    async def write(self, *lines: bytes) -> None:
        self.stdin.writelines(line + b"\n" for line in lines)
        await self.stdin.drain()

    async def said(self) -> dict[str, Any]:
        return json.loads(await asyncio.wait_for(self.stdout.readline(), 60))

    async def left(self) -> int:
        """The exit code, waited for without touching the pipes."""
        return await asyncio.wait_for(self.process.wait(), 60)


def message(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def tool(number: int, called: str, **arguments: Any) -> bytes:
    return message(
        number, "tools/call", name=called, arguments=arguments, _meta={"progressToken": number}
    )


@asynccontextmanager
async def started(*words: str) -> AsyncGenerator[Raw]:
    """A server that has been greeted."""
    pipe = asyncio.subprocess.PIPE
    # Buffered, as a client starts it; without a buffer what is printed could not come late.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdin=pipe, stdout=pipe, env=environ
    )
    raw = Raw(process)
    await raw.write(
        message(0, "initialize", **HELLO), b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    )
    try:
        assert (await raw.said())["id"] == 0
        yield raw
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def running() -> list[str]:
    """The command lines of this machine's processes."""
    return subprocess.run(
        ["ps", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def forge(sample: Sample) -> tuple[str, ...]:
    return ("-m", "forge_bot", "mcp", "--repo", str(sample.path))


async def test_a_line_that_is_no_message_is_answered_and_so_is_the_next(sample: Sample) -> None:
    half = (
        rb'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"pipeline_init","arguments":{"arguments":"half'
        rb' \ud800"}}}'
    )
    async with started(*forge(sample)) as raw:
        await raw.write(b"not JSON", half, b"[" * 100_000, message(8, "ping"))
        answers = [await raw.said() for _ in range(4)]
    assert [answer["error"]["code"] for answer in answers if answer["id"] is None] == [
        -32700,
        -32700,
    ]
    # Half of a character is mended, and what is answered can be written.
    told = {answer["id"]: answer["result"] for answer in answers if answer["id"] is not None}
    assert (told[7]["structuredContent"]["core_text"], told[8]) == ("half \ufffd", {})


async def test_a_file_whose_name_is_no_utf8_ends_no_server(sample: Sample) -> None:
    odd = sample.path / "rota" / os.fsdecode(b"b\xff.py")
    odd.write_text("x = 1\n", encoding="utf-8")
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "odd name")
    async with over_stdio(sample) as host:
        await host.begin(TASK)
        host.perform(action := await host.next())
        odd.write_text("y = 2\n", encoding="utf-8")
        with pytest.raises(Refusal, match=r"MCP-007(.|\n)*rota/b\uFFFD\.py"):
            await host.next(previous_action_complete=True, action_id=action["action_id"])
        assert len((await host.call("run_list"))["runs"]) == 1


async def test_what_a_library_prints_reaches_no_client(sample: Sample) -> None:
    async with started("-c", PRINTING, str(sample.path)) as raw:
        await raw.write(tool(1, "chatty"))
        assert (await raw.said())["id"] == 1
        raw.stdin.close()
        assert await raw.left() == 0
        assert await raw.stdout.read() == b""


async def test_calls_that_wait_for_a_run_keep_the_server_from_nothing_else(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.next()
    repository = Repository.find(sample.path)
    info = run_in(sample.path, host.workspace.removeprefix(".specs/"))
    assert info is not None
    # Another process holds the run: each of these calls waits for it, more of them than the SDK has
    # threads.
    with open_run(repository, info, load_config(repository.root), external_worktree=True):
        async with started(*forge(sample)) as raw:
            calls = [
                tool(number, "pipeline_next_action", workspace=host.workspace)
                for number in range(1, 51)
            ]
            await raw.write(*calls, message(51, "tools/list"), message(52, "resources/list"))
            assert {(await raw.said())["id"] for _ in range(2)} == {51, 52}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_server_that_is_told_to_stop_stops_its_commands_and_itself(
    sample: Sample, number: signal.Signals
) -> None:
    config = sample.path / ".forge" / "config.yml"
    config.parent.mkdir()
    seconds = str(30_000 + number)
    config.write_text(f"commands:\n  test: [[sleep, '{seconds}']]\n", encoding="utf-8")
    sample.git("add", ".forge")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "slow tests")
    async with hosting(sample) as host:
        await host.begin(TASK)
    async with started(*forge(sample)) as raw:
        await raw.write(tool(1, "pipeline_next_action", workspace=host.workspace))
        # Progress says that the slow command is running now. The client keeps its end of the pipe
        # open.
        while f"sleep {seconds}".encode() not in await raw.stdout.readline():
            pass
        raw.process.send_signal(number)
        assert await raw.left() == 128 + number
    assert f"sleep {seconds}" not in running()
    record = (sample.path / host.workspace / "reports.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["type"] for line in record.splitlines()] == ["run_started"]


async def test_a_call_that_is_called_off_is_recorded_whole_and_not_twice(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
    async with started(*forge(sample)) as raw:
        await raw.write(tool(1, "pipeline_next_action", workspace=host.workspace))
        assert (await raw.said())["method"] == "notifications/progress"
        off = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        await raw.write(
            json.dumps(off).encode(), tool(2, "pipeline_next_action", workspace=host.workspace)
        )
        while (answer := await raw.said()).get("id") != 2:
            assert answer.get("id") != 1 or "error" in answer
        assert answer["result"]["structuredContent"]["type"] == "spawn_agent"
    record = (sample.path / host.workspace / "reports.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["type"] for line in record.splitlines()] == ["run_started", "prepared"]
