"""What a client sees beside the loop: tools and their size, resources, prompts, completion,
changes; and what a session may do.
"""

import json
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import TextContent, TextResourceContents

from forge_bot.errors import registry
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Refusal, hosting

TASK = "Nobody is on call before the start"


async def read(host: Host, uri: str) -> str:
    first = (await host.client.read_resource(uri)).contents[0]
    assert isinstance(first, TextResourceContents)
    return first.text


async def read_json(host: Host, uri: str) -> Any:
    return json.loads(await read(host, uri))


async def test_orientation_is_a_status_of_twenty_tokens_with_a_link_to_the_rest(
    sample: Sample,
) -> None:
    async with hosting(sample) as host:
        result = await host.client.call_tool("forge_orient", {})
        first = result.content[0]
        assert isinstance(first, TextContent)
        assert len(first.text) / 4 <= 30
        link = json.loads(first.text)["context_link"]
        assert link in (result.meta or {})["resource_links"]
        assert "None. pipeline_init begins one." in await read(host, link)
        await host.begin(TASK)
        more = await host.call("forge_orient", response_tier="L1")
        assert more["under_way"][0]["workspace"] == host.workspace
        assert "context" not in more


async def test_a_run_can_be_read_by_address(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        await host.drive(await host.next(), "architect")
        run = host.workspace.removeprefix(".specs/")
        assert (await read_json(host, f"forge://run/{run}/state"))["currentPhase"] == "phase-3"
        assert (await read(host, f"forge://run/{run}/artifact/analysis.md")).startswith(
            "# Document"
        )
        assert TASK in await read(host, f"forge://run/{run}/artifact/request.md")


async def test_schemas_pipelines_and_the_server_describe_themselves(sample: Sample) -> None:
    async with hosting(sample) as host:
        errors = await read_json(host, "forge://schema/errors")
        assert {item["code"] for item in errors} == set(registry())
        assert all(item["hint"] for item in errors)
        assert not [item for item in errors if "\n" in item["message"]]
        assert [tier["tier"] for tier in (await read_json(host, "forge://schema/taxonomy"))["tiers"]] == [
            "surface", "worker", "glove", "gate", "schema", "registry", "pipeline",
        ]  # fmt: skip
        assert "currentPhase" in (await read_json(host, "forge://schema/state"))["properties"]
        assert (await read_json(host, "forge://pipeline/develop"))["phases"][1]["id"] == "phase-1"
        surface = await read_json(host, "forge://mcp/surface")
        assert len(surface["tools"]) == 9
        assert surface["prompts"] == ["forge/start", "forge/audit"]
        assert "forge://pipeline/{id}" in surface["templates"]
        assert (await read_json(host, "forge://mcp/roots"))["roots"] == [
            {"uri": sample.path.as_uri(), "name": "rota"}
        ]


@pytest.mark.parametrize(
    "uri",
    [
        "forge://run/none/state",
        "forge://nope",
        "forge://project/other/context",
        "forge://pipeline/../develop",
        "forge://run/x/artifact/..%2fstate",
    ],
)
async def test_what_is_not_there_is_told_as_not_found(sample: Sample, uri: str) -> None:
    async with hosting(sample) as host:
        with pytest.raises(MCPError) as caught:
            await host.client.read_resource(uri)
    assert caught.value.code == -32602


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_an_older_client_hears_of_what_it_subscribed_to(sample: Sample) -> None:
    heard: list[str] = []

    async def on_message(message: Any) -> None:
        heard.append(type(message).__name__)

    async with hosting(sample, mode="legacy", message_handler=on_message) as host:
        await host.begin(TASK)
        assert heard == ["ResourceListChangedNotification"]
        uri = f"forge://run/{host.workspace.removeprefix('.specs/')}/state"
        # Gone from the newer protocol, and what older clients have.
        await host.client.session.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]
        await host.next()
        assert heard[1:] == ["ResourceUpdatedNotification"]
        # The same.
        await host.client.session.unsubscribe_resource(uri)  # pyright: ignore[reportDeprecated]
        await host.next()
        assert len(heard) == 2


async def test_a_newer_client_hears_of_what_it_listens_for(sample: Sample) -> None:
    async with hosting(sample) as host:
        await host.begin(TASK)
        uri = f"forge://run/{host.workspace.removeprefix('.specs/')}/state"
        async with host.client.listen(resource_subscriptions=[uri]) as changes:
            await host.next()
            async for change in changes:
                assert type(change).__name__ == "ResourceUpdated"
                break


async def test_a_run_is_sent_back_and_ended(clients_sample: Sample) -> None:
    async with hosting(clients_sample) as host:
        await host.asked_now()
        await host.drive(await host.next(user_response="approve"), "phase-5")
        answer = await host.call(
            "run_control",
            workspace=host.workspace,
            operation="retry",
            phase="design",
            notes="shorter",
        )
        assert (answer["current_phase"], answer["status"]) == ("phase-3", "in_progress")
        assert "> shorter" in (await host.next())["prompt"]
        for refused in ("approve", "continue", "nothing"):
            with pytest.raises(Refusal, match="operation: Value error, there are abandon, effort"):
                await host.call("run_control", workspace=host.workspace, operation=refused)
        answer = await host.call("run_control", workspace=host.workspace, operation="abandon")
        assert answer["status"] == "abandoned"
        assert (await host.call("run_list"))["runs"] == []
        assert len((await host.call("run_list", ended=True))["runs"]) == 1


async def test_lists_name_what_there_is_now(sample: Sample) -> None:
    async with hosting(sample) as host:
        assert isinstance(host.client, Client)
        assert [prompt.name for prompt in (await host.client.list_prompts()).prompts] == [
            "forge/start",
            "forge/audit",
        ]
        uris = {resource.uri for resource in (await host.client.list_resources()).resources}
        always = {
            "forge://mcp/surface",
            "forge://schema/errors",
            "forge://project/rota/context",
            "forge://pipeline/develop",
        }
        assert always <= uris
        await host.begin(TASK)
        more = {resource.uri for resource in (await host.client.list_resources()).resources} - uris
        assert more == {f"forge://run/{host.workspace.removeprefix('.specs/')}/state"}


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
        answer = await contract(host, "forge/start", dry_run="true", response_tier="L1")
        assert "response_tier=L1, policy_mode=enforced, dry_run=true" in answer
        assert CHANGING.isdisjoint(await tools(host))
        assert (await orientation(host))[0]["under_way"] == []
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
