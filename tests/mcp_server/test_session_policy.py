"""What a session declares by a prompt is what its tools do."""

import json
from typing import Any

import pytest
from mcp.types import TextContent

from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Refusal, hosting

TASK = "Nobody is on call before the start"
CHANGING = {
    "pipeline_init_with_context",
    "pipeline_next_action",
    "pipeline_report_result",
    "run_control",
}


async def tools(host: Host) -> set[str]:
    return {tool.name for tool in (await host.client.list_tools()).tools}


async def contract(host: Host, prompt: str, **arguments: str) -> str:
    first = (await host.client.get_prompt(prompt, arguments)).messages[0].content
    assert isinstance(first, TextContent)
    return first.text


async def orientation(host: Host) -> tuple[dict[str, Any], dict[str, Any]]:
    result = await host.client.call_tool("forge_orient", {})
    first = result.content[0]
    assert isinstance(first, TextContent)
    return json.loads(first.text), (result.meta or {})["hints"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_session_that_audits_has_no_tool_that_changes_something(
    sample: Sample, mode: str
) -> None:
    async with hosting(sample, mode=mode) as host:
        whole = await tools(host)
        answer = await contract(host, "forge/audit")
        assert "response_tier=L1, policy_mode=read-only, dry_run=false, debug=false." in answer
        assert f"Hidden tools: {', '.join(sorted(CHANGING))}." in answer
        assert await tools(host) == whole - CHANGING
        for name in sorted(CHANGING):
            with pytest.raises(Refusal) as caught:
                await host.call(name, workspace=".specs/x", **MORE.get(name, {}))
            assert caught.value.error["code"] == "MCP-015"
        about, hints = await orientation(host)
        assert about["tier"] == "L1", "the contract's tier counts where a call names none"
        assert hints["suggested_workflow"] == "forge://pipeline/audit"
        answer = await contract(host, "forge/start")
        assert "policy_mode=enforced, dry_run=false, debug=false. Hidden tools: none." in answer
        assert await tools(host) == whole
        about, hints = await orientation(host)
        assert "tier" not in about, "L0 says no more than it has to"
        assert hints["suggested_workflow"] == "forge://pipeline/develop"
        await host.begin(TASK)


MORE = {"pipeline_report_result": {"phase": "phase-1"}, "run_control": {"operation": "abandon"}}


async def test_a_dry_run_looks_and_changes_nothing(sample: Sample) -> None:
    async with hosting(sample) as host:
        answer = await contract(host, "forge/start", dry_run="true", response_tier="L2")
        assert "response_tier=L2, policy_mode=enforced, dry_run=true" in answer
        assert CHANGING.isdisjoint(await tools(host))
        assert (await orientation(host))[0]["context"]
        assert (await host.call("forge_graph", operation="scan"))["text"] == "Nothing found"


async def test_errors_have_a_context_in_a_session_that_debugs(sample: Sample) -> None:
    async with hosting(sample) as host:
        with pytest.raises(Refusal) as caught:
            await host.call("state_resume_info", workspace="nowhere")
        assert caught.value.error["context"] == {}
        assert "debug=true" in await contract(host, "forge/start", debug="true")
        with pytest.raises(Refusal) as caught:
            await host.call("state_resume_info", workspace="nowhere")
        assert "hint" in caught.value.error["context"]
