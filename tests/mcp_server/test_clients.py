"""Programs of others as clients, none of which needs a key: pydantic-ai's toolset, the TypeScript
SDK, the Inspector's command line.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.sample import Sample
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import hosting
from tests.mcp_server.programs import programs

pytestmark = pytest.mark.clients

TASK = "Nobody is on call before the start"


def server(sample: Sample) -> list[str]:
    """The words that start the product over stdio."""
    return [warm_python(), "-m", "forge_bot", "mcp", "--repo", str(sample.path)]


async def test_pydantic_ai_drives_the_server(sample: Sample) -> None:
    pytest.importorskip("fastmcp")
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import (
        ModelMessage,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
    )
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from forge_bot.mcp_server.sdk_server.server import make_server

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert len(info.function_tools) == 9
        last = messages[-1].parts[-1]
        if not isinstance(last, ToolReturnPart):
            return ModelResponse(parts=[ToolCallPart("pipeline_init", {"arguments": TASK})])
        return ModelResponse(parts=[TextPart(str(last.content))])

    toolset = MCPToolset(make_server(sample.path))
    answer = await Agent(FunctionModel(model), toolsets=[toolset]).run("begin")
    assert "nobody-is-on-call-before-the-start" in answer.output


# -- the TypeScript SDK
# --------------------------------------------------------------------------------------------------


def talked(
    sample: Sample, era: str, *calls: tuple[str, dict[str, Any]], **more: Any
) -> dict[str, Any]:
    """What a client of the TypeScript SDK got for its calls."""
    result = programs("clients")
    answer = json.dumps({"server": server(sample), "era": era, "calls": calls, **more})
    done = subprocess.run(
        [result.node, result.modules.parent / "talk.mjs", answer],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("era", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_the_typescript_sdk_calls_tools_and_reads_what_is_offered(
    sample: Sample, era: str, version: str
) -> None:
    prompt = {"name": "forge/start", "arguments": {"project_path": str(sample.path)}}
    answer = talked(
        sample,
        era,
        ("listTools", {}),
        ("callTool", {"name": "pipeline_init", "arguments": {"arguments": TASK}}),
        ("callTool", {"name": "state_resume_info", "arguments": {"workspace": ".specs/none"}}),
        ("getPrompt", prompt),
        ("readResource", {"uri": "forge://project/rota/context"}),
        (
            "complete",
            {
                "ref": {"type": "ref/prompt", "name": "forge/start"},
                "argument": {"name": "project_path", "value": "/"},
            },
        ),
    )
    assert answer["version"] == version
    tools, begun, wrong, start, context, known = answer["results"]
    assert len(tools["tools"]) == 9
    assert begun["structuredContent"]["source_type"] == "text"
    assert json.loads(begun["content"][0]["text"]) == begun["structuredContent"]
    assert (wrong["isError"], wrong["_meta"]["error"]["source_tool"]) == (True, "state_resume_info")
    contract, embedded, link = (message["content"] for message in start["messages"])
    assert embedded["resource"]["text"] == context["contents"][0]["text"]
    assert "The project's context is loaded below" in contract["text"]
    assert link["uri"] == "forge://pipeline/develop"
    assert known["completion"]["values"] == [str(sample.path)]


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_gate_is_asked_through_the_typescript_sdk(sample: Sample, era: str) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        gate = await host.drive(await host.next())
    answer = {"action": "accept", "content": {"answer": "approve"}}
    call = (
        "callTool",
        {"name": "pipeline_next_action", "arguments": {"workspace": host.workspace}},
    )
    reply = talked(sample, era, call, answer=answer)
    assert reply["results"][0]["structuredContent"]["type"] == "write_file"
    assert [question["message"] for question in reply["asked"]] == [gate["present_to_user"]]
    assert re.search(r"Approved-by: .* via mcp-elicitation", sample.git("log", "--format=%B"))


# -- the Inspector
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_calls_and_reads(sample: Sample, tmp_path: Path, era: str) -> None:
    result = programs("clients")
    package = result.modules / "@modelcontextprotocol" / "inspector"
    entry = (
        package
        / json.loads((package / "package.json").read_text(encoding="utf-8"))["bin"]["mcp-inspector"]
    )
    # It keeps what it knows of servers in the home folder.
    environ = {**os.environ, "HOME": str(tmp_path)}

    def inspected(*words: str, code: int = 0) -> dict[str, Any]:
        call = [
            result.node,
            entry,
            "--cli",
            *server(sample),
            "-q",
            "--format",
            "json",
            "--protocol-era",
            era,
            *words,
        ]
        done = subprocess.run(
            call, env=environ, capture_output=True, text=True, check=False, timeout=120
        )
        # It has something to say about a schema that says nothing, and goes on.
        assert (done.returncode, "Warning" in done.stderr) == (code, False), done.stderr
        return json.loads(done.stdout)["result"]

    assert len(inspected("--method", "tools/list", "--strict")["tools"]) == 9
    assert (
        "context_link"
        in inspected("--method", "tools/call", "--tool-name", "forge_orient")["structuredContent"]
    )
    refused = inspected(
        "--method", "tools/call", "--tool-name", "run_list", "--tool-arg", "bogus=1", code=5
    )
    assert "There is no argument bogus" in refused["content"][0]["text"]
    start = inspected(
        "--method",
        "prompts/get",
        "--prompt-name",
        "forge/start",
        "--prompt-args",
        f"project_path={sample.path}",
    )
    assert "context is loaded" in start["messages"][0]["content"]["text"]
    assert (
        "## Commands"
        in inspected("--method", "resources/read", "--uri", "forge://project/rota/context")[
            "contents"
        ][0]["text"]
    )
