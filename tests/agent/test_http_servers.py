"""Servers at an address: listed and called, in time, and their headers known to nobody else."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations

from forge_bot.agent.capabilities import CapabilityRequest, ResultStatus
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.tool_catalogue import ToolCalls, discover_capabilities
from forge_bot.settings.capability_file import parse_capability_file
from forge_bot.settings.config import CapabilityPolicy

SECRET = "sesame-open-1234"
READS = ToolAnnotations(read_only_hint=True)


def setup(root: Path, url: str, seconds: float = 60) -> CapabilitySetup:
    headers = {"Authorization": "Bearer ${TICKETS_TOKEN}"}
    server = {"type": "http", "url": url, "headers": headers}
    text = json.dumps({"mcpServers": {"tickets": server}})
    return CapabilitySetup(
        agreed=None,
        root=root,
        tree=root,
        config=parse_capability_file(text),
        policy=CapabilityPolicy(seconds=seconds),
        environ={"TICKETS_TOKEN": SECRET},
    )


@contextmanager
def serving() -> Generator[str]:
    """The address of a server whose tools say which header came with a call, or never answer."""
    server = MCPServer("tickets")

    @server.tool(annotations=READS)
    def header(ctx: Context[Any, Any]) -> str:
        """Say the header."""
        return str((ctx.headers or {})["authorization"])

    @server.tool(annotations=READS)
    async def wait() -> str:
        """Never answer."""
        return await asyncio.get_running_loop().create_future()

    listening = socket.create_server(("127.0.0.1", 0))
    app = server.streamable_http_app()
    host = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: host.run(sockets=[listening]), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        host.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture
def url() -> Iterator[str]:
    with serving() as address:
        yield address


def called(given: CapabilitySetup, name: str, usual: CapabilitySetup) -> tuple[ResultStatus, str]:
    calls = ToolCalls(given, asyncio.run(discover_capabilities(usual)))
    wanted = CapabilityRequest(key="1.1-x", capability=name, params="{}")
    found = asyncio.run(calls.act(wanted, 8_000))[0]
    return found.status, found.content


def test_its_tools_are_listed_and_called_with_the_header_and_its_value_is_masked(
    tmp_path: Path, url: str
) -> None:
    given = setup(tmp_path, url)
    catalogue = asyncio.run(discover_capabilities(given))
    assert catalogue.problems == ()
    assert [spec.name for spec in catalogue.specs] == ["mcp_tickets_header", "mcp_tickets_wait"]
    found = called(given, "mcp_tickets_header", given)
    assert found == (ResultStatus.OK, "Bearer [TICKETS_TOKEN]")


@pytest.mark.slow
def test_a_call_that_gets_no_answer_ends_in_time(tmp_path: Path, url: str) -> None:
    began = time.monotonic()
    found = called(setup(tmp_path, url, seconds=2), "mcp_tickets_wait", setup(tmp_path, url))
    assert found == (ResultStatus.TIMEOUT, "The server tickets did not finish within 2 seconds.")
    assert time.monotonic() - began < 30


def test_an_address_that_takes_a_connection_and_says_nothing_ends_in_time(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        given = setup(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/mcp", seconds=1)
        (problem,) = asyncio.run(discover_capabilities(given)).problems
    assert problem.sentence == "The server tickets did not finish within 1 seconds."


class Noting(BaseHTTPRequestHandler):
    """Notes which server was asked, and sends on to another one."""

    onward = ""
    asked: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        self.asked.append(int(self.request.getsockname()[1]))
        self.send_response(307)
        self.send_header("Location", self.onward)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing."""


def test_headers_do_not_follow_to_another_place(tmp_path: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), Noting) as first, HTTPServer(("", 0), Noting) as other:
        for each in (first, other):
            threading.Thread(target=each.serve_forever, args=(0.02,), daemon=True).start()
        ports = [each.server_address[1] for each in (first, other)]
        Noting.onward = f"http://127.0.0.1:{ports[1]}/mcp"
        given = setup(tmp_path, f"http://127.0.0.1:{ports[0]}/mcp", seconds=10)
        catalogue = asyncio.run(discover_capabilities(given))
        first.shutdown()
        other.shutdown()
    assert "not followed" in catalogue.broken[0].sentence
    assert set(Noting.asked) == {ports[0]}
