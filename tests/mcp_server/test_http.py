"""Many clients over HTTP: only with the token, only from this machine, only in the served folders, one after the other in a run."""

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from forge_bot.mcp_server.calling import LazyDesk
from forge_bot.mcp_server.listening import application
from forge_bot.mcp_server.offering import make_server
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Refusal

TASK = "Nobody is on call before the start"
TOKEN = "a-token-of-this-test"
LIST: dict[str, Any] = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/list",
    "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}},
}  # fmt: skip
HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list", "Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def served(sample: Sample) -> AsyncGenerator[str]:
    """The address of `forge-bot mcp --http` for the sample repository."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ("-m", "forge_bot", "mcp", "--http", "--port", str(port), "--repo", str(sample.path))
    process = await asyncio.create_subprocess_exec(sys.executable, *words, env={**os.environ, "FORGE_BOT_MCP_TOKEN": TOKEN})
    try:
        for _ in range(600):
            try:
                _reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def over_http(sample: Sample, url: str, **more: Any) -> AsyncGenerator[Host]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), **more) as client,
    ):
        yield Host(client, sample.path)


@pytest.mark.promise("mcp-http", "cli-option-http", "cli-option-port")
async def test_only_who_shows_the_token_from_this_machine_is_answered(sample: Sample) -> None:
    async with served(sample) as url, httpx2.AsyncClient() as http:
        for changes, code in (
            ({}, 401),
            ({"Authorization": "Bearer wrong"}, 401),
            ({"Authorization": f"Bearer {TOKEN}"}, 200),
            ({"Authorization": f"Bearer {TOKEN}", "Origin": "https://evil.test"}, 403),
            ({"Authorization": f"Bearer {TOKEN}", "Host": "evil.test"}, 421),
        ):
            answer = await http.post(url, json=LIST, headers={**HEADERS, **changes})
            assert (answer.status_code, changes) == (code, changes)
            assert TOKEN not in answer.text


@pytest.mark.promise("mcp-many", "cli-mcp-repo")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_clients_at_once_lose_no_report_and_a_long_call_blocks_nobody_else(sample: Sample, mode: str) -> None:
    async with served(sample) as url, over_http(sample, url, mode=mode) as one, over_http(sample, url, mode=mode) as other:
        await one.begin(TASK, "M")
        other.workspace = one.workspace
        # Setup and the baseline run in this call; lists and other questions are answered meanwhile.
        first = asyncio.create_task(one.next())
        assert len((await other.client.list_tools()).tools) == 12
        one.perform(action := await first)
        said: dict[str, Any] = {"previous_action_complete": True, "action_id": action["action_id"]}
        answers = await asyncio.gather(*(host.next(**said) for host in (one, other, one, other)))
        assert {answer["phase"] for answer in answers} == {"phase-2"}
        assert sum(answer["report_result"] is not None for answer in answers) == 1
        with pytest.raises(Refusal, match="MCP-002"):
            await other.call("pipeline_next_action", workspace="/etc/.specs/x")


async def test_a_client_that_vanishes_in_the_middle_of_a_call_loses_nothing(sample: Sample) -> None:
    async with served(sample) as url:
        async with over_http(sample, url) as one:
            await one.begin(TASK, "S")
            # The baseline runs in this call, and takes longer than this client waits.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(one.next(), 0.2)
        async with over_http(sample, url) as other:
            other.workspace = one.workspace
            assert (await other.next())["phase"] == "phase-1"
    record = (sample.path / one.workspace / "reports.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["type"] for line in record.splitlines()] == ["run_started", "prepared"]


@asynccontextmanager
async def here(sample: Sample) -> AsyncGenerator[httpx2.AsyncClient]:
    """The application behind the port, in this process, to which anything can be sent."""
    server = make_server(LazyDesk([sample.path]))
    headers = {**HEADERS, "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    transport = httpx2.ASGITransport(app=application(server, TOKEN, 1))
    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:1", headers=headers) as http,
    ):
        yield http


@pytest.mark.parametrize("body", [b"hello", b"\xff\xfe", b'{"a":' * 3000 + b"1" + b"}" * 3000])
async def test_a_body_that_is_no_message_is_answered(sample: Sample, body: bytes) -> None:
    async with here(sample) as http:
        answer = await http.post("/mcp", content=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
        assert (await http.post("/mcp", json=LIST)).status_code == 200


async def test_text_that_no_file_can_hold_comes_in_with_a_sign_in_its_place(sample: Sample) -> None:
    async with here(sample) as http:

        async def call(tool: str, **arguments: object) -> Any:
            params = {**LIST["params"], "name": tool, "arguments": arguments}
            body = json.dumps({**LIST, "method": "tools/call", "params": params})
            answer = await http.post("/mcp", content=body, headers={"Mcp-Method": "tools/call", "Mcp-Name": tool})
            return answer.json()["result"]

        said = await call("pipeline_init", arguments="Fix the \ud800 thing")
        assert said["structuredContent"]["core_text"] == "Fix the \ufffd thing"
        said = await call("pipeline_next_action", workspace=".specs/\ud800", user_response="reject: \udfff")
        assert said["_meta"]["error"]["code"] == "MCP-003"
