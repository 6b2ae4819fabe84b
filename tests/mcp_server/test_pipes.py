"""Stdin and stdout as a client has them: only the protocol is on them, and the process ends when it
is told to.
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

from tests.fakes.sample import Sample
from tests.mcp_server.host import hosting

pytestmark = pytest.mark.slow

TASK = "Nobody is on call before the start"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


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


def configure_slow_tests(sample: Sample, seconds: str) -> None:
    config = sample.path / ".forge" / "config.yml"
    config.parent.mkdir()
    config.write_text(f"commands:\n  test: [[sleep, '{seconds}']]\n", encoding="utf-8")
    sample.git("add", ".forge")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "slow tests")


@pytest.mark.parametrize("number", [0, signal.SIGINT, signal.SIGTERM])
async def test_a_server_whose_client_leaves_or_that_is_stopped_ends_its_commands_and_itself(
    sample: Sample, number: int
) -> None:
    seconds = str(30_000 + number)
    configure_slow_tests(sample, seconds)
    async with hosting(sample) as host:
        await host.begin(TASK)
    async with started(*forge(sample)) as raw:
        await raw.write(tool(1, "pipeline_next_action", workspace=host.workspace))
        # Progress says that the slow command is running now.
        while f"sleep {seconds}".encode() not in await raw.stdout.readline():
            pass
        if number:
            raw.process.send_signal(number)
        else:
            raw.stdin.close()
        assert await raw.left() == -number
    async with asyncio.timeout(20):
        while f"sleep {seconds}" in await asyncio.to_thread(running):
            pass
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
