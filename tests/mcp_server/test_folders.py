"""A server of several folders: each can be asked about, by its path, and what lists things lists
those of all.
"""

import json
import os
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import (
    PromptReference,
    ResourceLink,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from forge_bot.mcp_server.sdk_server.server import make_server
from forge_bot.mcp_server.service_calls import LazyService
from forge_bot.resources import templates
from tests.fakes.made_up import MadeUp, workspace
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Refusal, hosting

TASK = "Nobody is on call before the start"
PIPELINE = (templates() / "pipelines" / "develop.yaml").read_text(encoding="utf-8")


@pytest.fixture
def second(sample: Sample, tmp_path: Path) -> Path:
    """Another repository beside the sample."""
    sample.git("clone", "-q", str(sample.path), str(tmp_path / "second"))
    return tmp_path / "second"


@asynccontextmanager
async def both(sample: Sample, second: Path, **more: Any) -> AsyncGenerator[Host]:
    """A client of a server of the sample and another folder, at work in the other one."""
    async with Client(make_server(LazyService([sample.path, second])), **more) as client:
        yield Host(client, second, project=str(second))


def commit(second: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (second / name).parent.mkdir(parents=True, exist_ok=True)
        (second / name).write_text(text, encoding="utf-8")
    here = Host(Client(make_server(LazyService([]))), second)
    here.git("add", "-A")
    here.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "more")


async def read_json(host: Host, uri: str) -> Any:
    first = (await host.client.read_resource(uri)).contents[0]
    assert isinstance(first, TextResourceContents)
    return json.loads(first.text)


async def links(host: Host, prompt: str, **arguments: str) -> list[str]:
    messages = (await host.client.get_prompt(prompt, arguments)).messages
    return [
        message.content.uri for message in messages if isinstance(message.content, ResourceLink)
    ]


async def completed(host: Host, uri: str, name: str, value: str) -> list[str]:
    ref = ResourceTemplateReference(type="ref/resource", uri=uri)
    return (await host.client.complete(ref, {"name": name, "value": value})).completion.values


async def test_history_and_numbers_are_those_of_the_project_that_is_named(
    sample: Sample, second: Path
) -> None:
    made_up = MadeUp()
    past = [made_up.run(number) for number in range(3)]
    files = {f".specs/{run.name}/{name}": text for run in past for name, text in workspace(run)}
    commit(
        second,
        {
            **files,
            ".forge/pipelines/develop.yaml": PIPELINE.replace(
                "    skip: [S]\n", "    skip: [S, M, L]\n"
            ),
        },
    )
    async with both(sample, second) as host:
        assert (await host.call("history_search", query=past[0].title))["results"] == []
        for project in (str(second), "second"):
            assert (await host.call("history_search", query=past[0].title, project=project))[
                "results"
            ][0]["name"] == past[0].name
        assert (await host.call("history_search", query="", about="patterns", project=str(second)))[
            "results"
        ]
        here = await host.call("analytics", kind="repository")
        there = await host.call("analytics", kind="repository", project=str(second))
        assert (here["about"], here["numbers"]["most_common_findings"], there["about"]) == (
            "rota",
            [],
            "second",
        )
        assert there["numbers"]["most_common_findings"]
        numbers = (await host.call("analytics", kind="estimate", effort="L"))["numbers"]
        assert not [name for name in numbers if name != name.lower()]
        usual = numbers["tokens"]["p50"]
        shorter = (await host.call("analytics", kind="estimate", effort="L", project=str(second)))[
            "numbers"
        ]["tokens"]["p50"]
        assert shorter < usual


async def test_preferences_are_kept_for_the_project_that_is_named(
    sample: Sample, second: Path
) -> None:
    async with both(sample, second) as host:
        kept = {"preferences": {"nopr": True}}
        assert await host.call("preferences", set={"nopr": True}, project=str(second)) == kept
        assert await host.call("preferences") == {"preferences": {}}
        assert await host.call("preferences", project=str(second)) == kept
        found = [
            await host.call("pipeline_init", arguments=TASK, project=project)
            for project in ("", str(second))
        ]
        assert [each["flags"]["skip_pr"] for each in found] == [False, True]


async def test_a_project_that_is_not_served_is_refused_everywhere_alike(sample: Sample) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("history_search", {"query": "login"}),
        ("analytics", {"kind": "summary", "workspace": ".specs/x"}),
        ("analytics", {"kind": "estimate"}),
        ("analytics", {"kind": "repository"}),
        ("preferences", {}),
        ("preferences", {"set": {"auto": True}}),
        ("forge_orient", {}),
        ("pipeline_init", {"arguments": TASK}),
    ]
    async with hosting(sample) as host:
        for tool, arguments in calls:
            with pytest.raises(Refusal) as caught:
                await host.call(tool, **arguments, project="/etc")
            error = caught.value.error
            assert (error["code"], error["source_tool"]) == ("MCP-002", tool), arguments


async def test_a_project_is_found_by_every_path_that_leads_to_it(
    sample: Sample, second: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(second)
    async with both(sample, second) as host:
        for path in ("link", "second/", "rota/../second"):
            assert (await host.call("forge_orient", project=f"{tmp_path}/{path}"))[
                "context_link"
            ] == "forge://project/second/context"
        with pytest.raises(Refusal, match="MCP-002"):
            await host.call("forge_orient", project=f"{second}\0")


async def test_an_audit_is_of_the_project_that_is_named(sample: Sample, second: Path) -> None:
    async with both(sample, second) as host:
        assert await links(host, "forge/audit") == [
            "forge://pipeline/audit",
            "forge://project/rota/runs",
            "forge://pipeline/develop",
        ]
        assert await links(host, "forge/audit", project_path=str(second)) == [
            "forge://pipeline/audit",
            "forge://project/second/runs",
            "forge://pipeline/develop",
        ]
        contract = (
            (await host.client.get_prompt("forge/audit", {"project_path": str(second)}))
            .messages[0]
            .content
        )
        assert isinstance(contract, TextContent)
        assert "What is audited is second." in contract.text
        with pytest.raises(MCPError, match="MCP-002"):
            await host.client.get_prompt("forge/audit", {"project_path": "/etc"})
        for name in ("forge/start", "forge/audit"):
            found = await host.client.complete(
                PromptReference(type="ref/prompt", name=name), {"name": "project_path", "value": ""}
            )
            assert found.completion.values == [str(sample.path), str(second)]


async def test_a_pipeline_of_any_folder_has_an_address_and_one_that_differs_its_own(
    sample: Sample, second: Path
) -> None:
    different = PIPELINE.replace("title: From", "title: The second, from")
    commit(
        second, {".forge/pipelines/develop.yaml": different, ".forge/pipelines/own.yaml": PIPELINE}
    )
    async with both(sample, second) as host:
        assert (await read_json(host, "forge://pipeline/develop"))["title"].startswith("From")
        assert (await read_json(host, "forge://pipeline/develop@rota"))["title"].startswith("From")
        assert (await read_json(host, "forge://pipeline/develop@second"))["title"].startswith(
            "The second"
        )
        assert (await read_json(host, "forge://pipeline/own"))["title"].startswith("From")
        for wrong in ("own@rota", "develop@third", "none"):
            with pytest.raises(MCPError):
                await host.client.read_resource(f"forge://pipeline/{wrong}")
        listed = [
            resource.uri
            for resource in (await host.client.list_resources()).resources
            if resource.uri.startswith("forge://pipeline/")
        ]
        assert listed == [
            f"forge://pipeline/{name}"
            for name in ("audit", "develop", "develop@second", "own", "scaffold")
        ]
        assert await completed(host, "forge://pipeline/{id}", "id", "dev") == [
            "develop",
            "develop@second",
        ]
        assert (await links(host, "forge/start", project_path=str(second)))[
            -1
        ] == "forge://pipeline/develop@second"
        assert (await links(host, "forge/audit", project_path=str(second)))[
            -1
        ] == "forge://pipeline/develop@second"
        (sample.path / ".forge" / "pipelines").mkdir(parents=True)
        (sample.path / ".forge" / "pipelines" / "develop.yaml").write_text(
            different, encoding="utf-8"
        )
        assert await completed(host, "forge://pipeline/{id}", "id", "dev") == ["develop"]


async def test_the_runs_of_all_folders_are_listed_with_the_paths_that_lead_to_them(
    sample: Sample, second: Path
) -> None:
    async with both(sample, second) as host:
        await host.begin(TASK)
        run = Path(host.workspace).name
        assert host.workspace == f"{second}/.specs/{run}"
        assert [each["workspace"] for each in (await host.call("run_list"))["runs"]] == [
            host.workspace
        ]
        status = await host.call("forge_orient")
        assert (status["runs"], status["next"]) == (1, "pipeline_next_action")
        assert (status["context_link"], status["other_contexts"]) == (
            "forge://project/rota/context",
            ["forge://project/second/context"],
        )
        whole = await host.call("forge_orient", response_tier="L2")
        assert whole["under_way"][0]["workspace"] == host.workspace
        assert all(
            heading in whole["context"]
            for heading in ("# rota\n", "# second\n", f"- {host.workspace}: {TASK}")
        )
        assert (await host.call("forge_orient", project=str(sample.path)))["runs"] == 0
        assert (await read_json(host, "forge://project/second/runs"))[0][
            "workspace"
        ] == host.workspace
        for words in (host.workspace, f".specs/{run}"):
            assert (await host.call("pipeline_init", arguments=words))[
                "workspace"
            ] == host.workspace
            assert (await host.call("state_resume_info", workspace=words))[
                "workspace"
            ] == host.workspace
        assert await completed(host, "forge://run/{run}/state", "run", "") == [run]
        assert f"forge://run/{run}/state" in {
            resource.uri for resource in (await host.client.list_resources()).resources
        }
        first = Host(host.client, sample.path)
        await first.begin("Say hello")
        newest = [first.workspace, host.workspace]
        assert [each["workspace"] for each in (await host.call("run_list"))["runs"]] == newest
        ended = await host.call("run_control", workspace=host.workspace, operation="abandon")
        assert (ended["workspace"], ended["status"]) == (host.workspace, "abandoned")


async def test_runs_of_one_name_in_two_folders_are_never_mistaken_for_each_other(
    sample: Sample, second: Path
) -> None:
    async with both(sample, second) as host:
        first = Host(host.client, sample.path)
        await first.begin(TASK, "M")
        await host.begin(TASK, "S")
        assert host.workspace == f"{second}/{first.workspace}"
        for place, effort in ((f"{sample.path}/{first.workspace}", "M"), (host.workspace, "S")):
            assert (await host.call("state_resume_info", workspace=place))["effort"] == effort
            assert (await host.call("analytics", kind="summary", workspace=place))["numbers"][
                "effort"
            ] == effort
        for project, effort in ((str(sample.path), "M"), (str(second), "S")):
            named = await host.call(
                "analytics", kind="summary", workspace=first.workspace, project=project
            )
            assert named["numbers"]["effort"] == effort
        for tool, word in {
            "state_resume_info": "workspace",
            "pipeline_next_action": "workspace",
            "pipeline_init": "arguments",
        }.items():
            with pytest.raises(Refusal, match="REQUEST-005"):
                await host.call(tool, **{word: first.workspace})
        run = Path(host.workspace).name
        with pytest.raises(MCPError, match="REQUEST-005"):
            await host.client.read_resource(f"forge://run/{run}/state")
        assert await completed(host, "forge://run/{run}/state", "run", "") == [run]
        uris = [resource.uri for resource in (await host.client.list_resources()).resources]
        assert len(uris) == len({*uris})


async def test_work_trees_of_one_repository_show_a_run_once_where_it_is_checked_out(
    sample: Sample, tmp_path: Path
) -> None:
    sample.git("worktree", "add", "-q", "-b", "beside", str(tmp_path / "beside"))
    async with both(sample, tmp_path / "beside") as host:
        await host.begin(TASK)
        await host.next()
        assert [each["workspace"] for each in (await host.call("run_list"))["runs"]] == [
            host.workspace
        ]
        assert (await host.call("forge_orient"))["runs"] == 1
        run = Path(host.workspace).name
        assert (await host.call("state_resume_info", workspace=f".specs/{run}"))[
            "workspace"
        ] == host.workspace
        assert (await read_json(host, f"forge://run/{run}/state"))["currentPhase"] == "phase-1"


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_an_older_client_hears_of_runs_in_every_folder(sample: Sample, second: Path) -> None:
    heard: list[str] = []

    async def on_message(message: Any) -> None:
        heard.append(type(message).__name__)

    async with both(sample, second, mode="legacy", message_handler=on_message) as host:
        await host.begin(TASK)
        assert heard == ["ResourceListChangedNotification"]
        uri = f"forge://run/{Path(host.workspace).name}/state"
        # Gone from the newer protocol, and what older clients have.
        await host.client.session.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]
        await host.next()
        assert heard[1:] == ["ResourceUpdatedNotification"]


async def test_a_newer_client_hears_of_runs_in_every_folder(sample: Sample, second: Path) -> None:
    async with both(sample, second) as host:
        async with host.client.listen(resources_list_changed=True) as changes:
            await host.begin(TASK)
            async for change in changes:
                assert type(change).__name__ == "ResourcesListChanged"
                break
        uri = f"forge://run/{Path(host.workspace).name}/state"
        async with host.client.listen(resource_subscriptions=[uri]) as changes:
            await host.next()
            async for change in changes:
                assert type(change).__name__ == "ResourceUpdated"
                break


def run_at(folder: Path, commands: list[str], tools: Path) -> str:
    """What a host's command says, run in a folder."""
    environ = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        commands, cwd=folder, env=environ, capture_output=True, text=True, check=True
    ).stdout


async def test_an_action_in_another_folder_leads_there_wherever_its_host_stands(
    sample: Sample, second: Path, tmp_path: Path
) -> None:
    origin, tools = tmp_path / "origin.git", tmp_path / "tools"
    sample.git("init", "-q", "--bare", str(origin))
    tools.mkdir()
    (tools / "gh").write_text(
        '#!/bin/sh\npwd >"$0.where"\necho https://github.com/o/r/pull/7\n', encoding="utf-8"
    )
    (tools / "gh").chmod(0o755)
    async with both(sample, second) as host:
        host.git("remote", "set-url", "origin", str(origin))
        await host.begin(TASK)
        action = await host.next()
        done: list[str] = []
        while action["type"] != "done":
            if action["type"] == "checkpoint":
                action = await host.next(user_response="approve")
                continue
            if action["type"] == "exec":
                said = run_at(sample.path, action["commands"], tools)
                action = await host.next(
                    action_id=action["action_id"],
                    previous_action_complete=True,
                    previous_output=said,
                )
                continue
            if action["type"] == "spawn_agent":
                assert f"The repository is in {second}." in action["prompt"]
            else:
                assert action["path"].startswith(f"{second}/.specs/")
            done.append(action["type"])
            host.perform(action)
            action = await host.next(action_id=action["action_id"], previous_action_complete=True)
        assert set(done) == {"spawn_agent", "write_file"}
        assert (tools / "gh.where").read_text(encoding="utf-8").strip() == str(second)
        branch = host.git("branch", "--show-current")
        host.git("merge-base", "--is-ancestor", f"origin/{branch}", "HEAD")
    assert sample.git("branch", "--format=%(refname:short)") == "main"


async def test_a_question_in_another_folder_names_it(sample: Sample, second: Path) -> None:
    async with both(sample, second) as host:
        await host.begin(TASK, "M")
        asked = await host.drive(await host.next())
        assert asked["type"] == "checkpoint"
        assert asked["present_to_user"].startswith(f"In the repository `{second}`:")
