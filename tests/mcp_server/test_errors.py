"""What a model reads when a call does not fit: a code, what is wrong, and the way out; never a
stack, never a secret.
"""

from pathlib import Path

import pytest
from mcp import Client
from mcp.types import CallToolResult, PromptReference, ResourceTemplateReference, TextContent

from forge_bot.mcp_server.sdk_server.server import make_server
from tests.fakes.sample import Sample
from tests.mcp_server.host import Refusal, hosting

TASK = "Nobody is on call before the start"


async def test_an_argument_that_does_not_exist_is_refused(sample: Sample) -> None:
    async with hosting(sample) as host:
        with pytest.raises(
            Refusal, match=r"There is no argument workspce\.\n- known: workspace, "
        ) as caught:
            await host.call("pipeline_next_action", workspce=".specs/x")
    assert caught.value.error == {
        "code": "MCP-001",
        "domain": "MCP",
        "message": "There is no argument workspce.",
        "node_id": "",
        "dependency_ids": [],
        "source_tool": "pipeline_next_action",
        "check_class": "BadArguments",
        "context": {},
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("pipeline_next_action", {}, "workspace"),
        (
            "pipeline_next_action",
            {"workspace": ".specs/x", "previous_tokens": "many"},
            "previous_tokens",
        ),
        (
            "pipeline_init_with_context",
            {"workspace": ".specs/x", "task_text": TASK, "user_confirmation": {"effort": "XS"}},
            "effort",
        ),
        (
            "pipeline_init_with_context",
            {"workspace": ".specs/x", "task_text": TASK, "flags": {"autoo": True}},
            "autoo",
        ),
        ("forge_orient", {"response_tier": "L9"}, "response_tier"),
    ],
)
async def test_values_that_do_not_fit_are_named(
    sample: Sample, tool: str, arguments: dict[str, object], words: str
) -> None:
    async with hosting(sample) as host:
        with pytest.raises(Refusal, match=words) as caught:
            await host.call(tool, **arguments)
    assert caught.value.error["code"] == "MCP-001"


async def test_a_workspace_that_is_none_is_refused(sample: Sample) -> None:
    codes = {
        ".specs/no-such-run": "REQUEST-004",
        "": "MCP-002",
        ".specs/..": "MCP-002",
        ".specs/../../etc": "MCP-002",
        "/etc/.specs/x": "MCP-002",
        "/etc/passwd": "MCP-002",
        ".specs/a/b": "MCP-002",
        ".specs/x\0y": "MCP-002",
    }
    result: dict[str, object] = {}
    async with hosting(sample) as host:
        for workspace in codes:
            with pytest.raises(Refusal) as caught:
                await host.call("pipeline_next_action", workspace=workspace)
            result[workspace] = caught.value.error["code"]
    assert result == codes


async def test_what_nobody_foresaw_shows_neither_words_nor_stack(sample: Sample) -> None:
    server = make_server(sample.path)

    @server.tool()
    async def breaks() -> CallToolResult:
        """Break."""
        raise RuntimeError("token ghp_secret in /home/ann")

    async with Client(server) as client:
        result = await client.call_tool("breaks", {})
    first = result.content[0]
    assert isinstance(first, TextContent)
    assert first.text.startswith("ERR-001: Something unexpected happened in breaks.")
    assert (result.meta or {})["error"]["code"] == "ERR-001"
    assert "ghp_secret" not in result.model_dump_json()
    assert "Traceback" not in result.model_dump_json()


async def test_a_served_folder_that_is_gone_breaks_no_list_and_no_completion(
    tmp_path: Path,
) -> None:
    async with Client(make_server(tmp_path / "gone")) as client:
        listed = {resource.uri for resource in (await client.list_resources()).resources}
        assert {"forge://schema/errors", "forge://mcp/roots"} <= listed
        for name, ref in (
            ("run", ResourceTemplateReference(type="ref/resource", uri="forge://run/{run}/state")),
            ("project_path", PromptReference(type="ref/prompt", name="forge/start")),
        ):
            assert (await client.complete(ref, {"name": name, "value": ""})).completion.values == []
