"""Many clients over HTTP: only with the token, only from this machine, only in the served folders,
one after the other in a run.
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from tests.fakes.sample import Sample
from tests.fakes.sampled import sampled
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import Host, Refusal

TASK = "Nobody is on call before the start"
TOKEN = "a-token-of-this-test"
LIST: dict[str, Any] = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/list",
    "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}},
}  # fmt: skip
HEADERS = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/list",
    "Accept": "application/json, text/event-stream",
}


class Served(NamedTuple):
    """A server and its process."""

    url: str
    process: asyncio.subprocess.Process


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def words(sample: Sample, port: int) -> tuple[str, ...]:
    return ("-m", "forge_bot", "mcp", "--http", "--port", str(port), "--repo", str(sample.path))


@asynccontextmanager
async def served(sample: Sample) -> AsyncGenerator[str]:
    """The address of `forge-bot mcp --http` for the sample repository."""
    async with process_of(sample) as result:
        yield result.url


@asynccontextmanager
async def process_of(sample: Sample, python: str = "") -> AsyncGenerator[Served]:
    """The same, with the process."""
    port = free_port()
    environ = {**os.environ, "FORGE_BOT_MCP_TOKEN": TOKEN}
    process = await asyncio.create_subprocess_exec(
        python or warm_python(), *words(sample, port), env=environ
    )
    try:
        for _ in range(600):
            try:
                _reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                break
        yield Served(f"http://127.0.0.1:{port}/mcp", process)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@asynccontextmanager
async def over_http(sample: Sample, url: str, **more: Any) -> AsyncGenerator[Host]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), **more) as client,
    ):
        yield Host(client, sample.path)


GUARDS: dict[str, tuple[int, dict[str, str | None]]] = {
    "as it should be": (200, {}),
    "from a page of its own": (200, {"Origin": "http://localhost:PORT"}),
    "with the scheme in another case": (200, {"Authorization": f"bearer {TOKEN}"}),
    "no token": (401, {"Authorization": None}),
    "another token": (401, {"Authorization": "Bearer wrong"}),
    "the token without its scheme": (401, {"Authorization": TOKEN}),
    "the token in another case": (401, {"Authorization": f"Bearer {TOKEN.upper()}"}),
    "a page elsewhere": (403, {"Origin": "https://evil.test"}),
    "a page without an origin": (403, {"Origin": "null"}),
    "a page of another program here": (403, {"Origin": "http://127.0.0.1:1"}),
    "a name that was bound to this machine": (421, {"Host": "evil.test:PORT"}),
    "another port's name": (421, {"Host": "127.0.0.1:1"}),
    "a form": (400, {"Content-Type": "application/x-www-form-urlencoded"}),
    "text, which needs no leave of a browser": (400, {"Content-Type": "text/plain"}),
    "a client that wants a page": (406, {"Accept": "text/html"}),
}


async def test_only_who_shows_the_token_from_this_machine_is_answered(sample: Sample) -> None:
    async with served(sample) as url, httpx2.AsyncClient() as http:
        port = url.rpartition(":")[2].partition("/")[0]
        answered: dict[str, int] = {}
        for what, (_, changes) in GUARDS.items():
            headers = {
                **HEADERS,
                "Authorization": f"Bearer {TOKEN}",
                "Content-Type": "application/json",
                **changes,
            }
            sent = {
                name: value.replace("PORT", port)
                for name, value in headers.items()
                if value is not None
            }
            answer = await http.post(url, content=json.dumps(LIST), headers=sent)
            answered[what] = answer.status_code
            assert TOKEN not in answer.text
            assert "access-control-allow-origin" not in answer.headers
        assert answered == {what: code for what, (code, _) in GUARDS.items()}
        # A browser asks before it sends a token; it is told nothing.
        asked = await http.options(
            url,
            headers={
                "Origin": "https://evil.test",
                "Access-Control-Request-Headers": "authorization",
            },
        )
        assert (
            asked.status_code,
            [name for name in asked.headers if name.startswith("access-control")],
        ) == (401, [])
        shown = {**HEADERS, "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        assert (await http.post(url, content=b"x" * 5_000_000, headers=shown)).status_code == 413
        assert (await http.post(url, content=b"{", headers=shown)).json()["error"]["code"] == -32700
        assert (
            await http.post(url.replace("/mcp", "/"), json=LIST, headers=shown)
        ).status_code == 404


@pytest.mark.parametrize("mode", sampled(["auto", "legacy"], 2))
async def test_clients_at_once_lose_no_report_and_a_long_call_blocks_nobody_else(
    sample: Sample, mode: str
) -> None:
    async with (
        served(sample) as url,
        over_http(sample, url, mode=mode) as one,
        over_http(sample, url, mode=mode) as other,
    ):
        await one.begin(TASK, "M")
        other.workspace = one.workspace
        # Setup and the baseline run in this call; lists and other questions are answered meanwhile.
        first = asyncio.create_task(one.next())
        assert len((await other.client.list_tools()).tools) == 9
        one.perform(action := await first)
        reply: dict[str, Any] = {"previous_action_complete": True, "action_id": action["action_id"]}
        answers = await asyncio.gather(*(host.next(**reply) for host in (one, other, one, other)))
        assert {answer["phase"] for answer in answers} == {"phase-2"}
        assert sum(answer["report_result"] is not None for answer in answers) == 1
        with pytest.raises(Refusal, match="MCP-002"):
            await other.call("pipeline_next_action", workspace="/etc/.specs/x")


async def test_where_many_clients_share_a_server_a_contract_is_not_kept_and_says_so(
    sample: Sample,
) -> None:
    async with served(sample) as url, over_http(sample, url, mode="legacy") as host:
        content = (await host.client.get_prompt("forge/audit", {})).messages[0].content
        assert isinstance(content, TextContent)
        assert "Hidden tools: none. This server has many clients" in content.text
        assert len((await host.client.list_tools()).tools) == 9
