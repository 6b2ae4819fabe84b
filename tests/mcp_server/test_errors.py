"""What a model reads when a call does not fit: a code, what is wrong, and the way out; never a
stack, never a secret.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, PromptReference, ResourceTemplateReference, TextContent

from forge_bot.mcp_server.sdk_server.server import make_server
from forge_bot.mcp_server.service_calls import LazyService
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


async def test_an_optional_argument_may_be_null(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.call("forge_orient", project=None, response_tier=None)
        await host.call("pipeline_init", arguments=TASK, current_branch=None)
        with pytest.raises(Refusal, match="arguments"):
            await host.call("pipeline_init", arguments=None)


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
        ("preferences", {"set": {"effort": "XL"}}, "effort"),
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


async def test_a_tool_that_does_not_exist_is_an_error_of_the_protocol(sample: Sample) -> None:
    async with hosting(sample) as host:
        with pytest.raises(MCPError, match="Unknown tool: pipeline_nxt") as caught:
            await host.call("pipeline_nxt")
    assert caught.value.code == -32602


async def test_a_workspace_that_is_none_is_refused(sample: Sample) -> None:
    codes = {
        ".specs/no-such-run": "MCP-003",
        "": "MCP-002",
        ".specs/..": "MCP-002",
        ".specs/../../etc": "MCP-002",
        "/etc/.specs/x": "MCP-002",
        "/etc/passwd": "MCP-002",
        ".specs/a/b": "MCP-002",
        ".specs/x\0y": "MCP-002",
    }
    found: dict[str, object] = {}
    async with hosting(sample) as host:
        for workspace in codes:
            with pytest.raises(Refusal) as caught:
                await host.call("pipeline_next_action", workspace=workspace)
            found[workspace] = caught.value.error["code"]
    assert found == codes


async def test_too_much_is_refused_before_it_is_read(sample: Sample) -> None:
    async with hosting(sample) as host:
        with pytest.raises(Refusal, match="400,000 are the most"):
            await host.call("pipeline_init", arguments="x" * 500_000)


async def test_an_issue_that_nobody_read_is_asked_for(sample: Sample) -> None:
    async with hosting(sample) as host:
        with pytest.raises(Refusal, match="github_labels, github_title, github_body") as caught:
            await host.call(
                "pipeline_init_with_context",
                workspace=".specs/x",
                source_url="https://github.com/o/r/issues/1",
            )
    assert caught.value.error["code"] == "MCP-010"


async def test_a_folder_that_is_no_repository_is_told_as_such(tmp_path: Path) -> None:
    async with Client(make_server(LazyService([tmp_path]))) as client:
        result = await client.call_tool("run_list", {})
    assert (result.meta or {})["error"]["code"] == "GIT-001"


async def test_what_nobody_foresaw_shows_neither_words_nor_stack(sample: Sample) -> None:
    server = make_server(LazyService([sample.path]))

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


async def test_with_debug_an_error_has_a_context(sample: Sample) -> None:
    async with Client(make_server(LazyService([sample.path]), debug=True)) as client:
        result = await client.call_tool("pipeline_next_action", {"workspace": ".specs/none"})
        error: dict[str, Any] = (result.meta or {})["error"]
        assert set(error["context"]) == {"details", "hint"}
        assert error["context"]["hint"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_nobody_foresaw_in_a_prompt_or_a_resource_says_nothing_of_it_either(
    sample: Sample, mode: str
) -> None:
    server = make_server(LazyService([sample.path]))

    @server.prompt()
    async def breaks() -> str:
        """Break."""
        raise RuntimeError("token ghp_secret in /home/ann")

    @server.resource("forge://breaks")
    async def broken() -> str:
        """Break."""
        raise RuntimeError("token ghp_secret in /home/ann")

    async with Client(server, mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt("breaks")
        assert (
            caught.value.code,
            "ERR-001" in caught.value.message,
            "ghp" in str(caught.value),
        ) == (-32603, True, False)
        with pytest.raises(MCPError) as caught:
            await client.read_resource("forge://breaks")
        assert (caught.value.code, "ghp" in str(caught.value)) == (-32603, False)
        with pytest.raises(MCPError, match="There are forge/start, forge/audit") as caught:
            await client.get_prompt("forge/begin")
        assert caught.value.code == -32602


async def test_a_served_folder_that_is_gone_breaks_no_list_and_no_completion(
    tmp_path: Path,
) -> None:
    async with Client(make_server(LazyService([tmp_path / "gone"]))) as client:
        listed = {
            resource.uri: resource.description or ""
            for resource in (await client.list_resources()).resources
        }
        assert "forge://schema/errors" in listed
        assert listed["forge://mcp/roots"].startswith(
            "Repositories, runs and pipelines are not in this list. GIT-"
        )
        for name, ref in (
            ("run", ResourceTemplateReference(type="ref/resource", uri="forge://run/{run}/state")),
            ("project_path", PromptReference(type="ref/prompt", name="forge/start")),
        ):
            assert (await client.complete(ref, {"name": name, "value": ""})).completion.values == []


async def test_runs_that_cannot_be_listed_say_so_at_their_project_and_hide_no_other(
    sample: Sample, tmp_path: Path
) -> None:
    sample.git("clone", "-q", str(sample.path), str(tmp_path / "broken"))
    (tmp_path / "broken" / ".git" / "packed-refs").write_text("no line of git\n")
    async with Client(make_server(LazyService([sample.path, tmp_path / "broken"]))) as client:
        listed = {
            resource.uri: resource.description or ""
            for resource in (await client.list_resources()).resources
        }
    assert listed["forge://project/rota/context"] == "where the repository and its runs stand"
    assert listed["forge://project/broken/context"].startswith("its runs cannot be listed: GIT-")
    assert "forge://pipeline/develop" in listed


async def test_signs_that_no_record_can_hold_are_taken_out_of_what_people_said(
    clients_sample: Sample,
) -> None:
    async with hosting(clients_sample) as host:
        await host.asked_now()
        action = await host.next(user_response="reject: keep \0 the old name")
        assert "> keep  the old name" in action["prompt"]
        failed = await host.next(previous_error="no \0 answer", action_id=action["action_id"])
        assert "failed: no answer" in failed["prompt"]
        await host.call(
            "run_control",
            workspace=host.workspace,
            operation="retry",
            phase="phase-1",
            notes="once \0 more",
        )
        assert "> once  more" in (await host.next())["prompt"]


def odd_name(folder: Path) -> Path:
    """A file whose name is no UTF-8."""
    return Path(os.fsdecode(os.fsencode(folder) + b"/odd\xff.txt"))


async def test_a_file_whose_name_is_no_utf_8_is_told_of_and_no_part_of_a_task(
    sample: Sample,
) -> None:
    odd = odd_name(sample.path)
    odd.write_text("mine\n", encoding="utf-8")
    async with hosting(sample) as host:
        with pytest.raises(Refusal, match=r"odd\ufffd\.txt"):
            await host.begin(TASK)
        odd.unlink()
        await host.begin(TASK)
        host.perform(action := await host.next())
        odd.write_text("mine\n", encoding="utf-8")
        after = await host.next(previous_action_complete=True, action_id=action["action_id"])
        assert "odd\ufffd.txt is new and belongs to no commit" in after["report_result"]["warning"]
        odd.unlink()
        await host.drive(after)
        action = await host.next(user_response="approve")
        while action.get("agent") != "implementer":
            host.perform(action)
            action = await host.next(previous_action_complete=True, action_id=action["action_id"])
        host.perform(action)
        odd.write_text("of the task\n", encoding="utf-8")
        with pytest.raises(Refusal, match="whose names are no UTF-8"):
            await host.next(previous_action_complete=True, action_id=action["action_id"])
        odd.rename(sample.path / "even.txt")
        await host.next(previous_action_complete=True, action_id=action["action_id"])
        assert "even.txt" in host.git("show", "--name-only", "--format=", "HEAD").splitlines()
