"""A run is found by every path that leads to it, where its folder is gone, and where no branch is
checked out; and it can be ended.
"""

import shutil
from pathlib import Path

import pytest
from mcp import Client

from forge_bot.mcp_server.sdk_server.server import make_server
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Refusal, hosting

TASK = "Nobody is on call before the start"


async def test_a_workspace_may_be_spelled_through_a_link(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(sample.path)
    async with Client(make_server(tmp_path / "link")) as client:
        host = Host(client, sample.path)
        await host.begin(TASK)
        action = await host.next()
        host.workspace = f"{tmp_path}/link/{host.workspace}"
        assert (await host.next())["action_id"] == action["action_id"]
        host.workspace = f"{tmp_path}/{host.workspace.rpartition('/')[2]}"
        with pytest.raises(Refusal, match="not in the repository that is served"):
            await host.next()


async def test_a_run_whose_folder_was_deleted_gets_it_back(clients_medium_sample: Sample) -> None:
    async with hosting(clients_medium_sample) as host:
        asked = await host.asked_now()
        folder = clients_medium_sample.path / host.workspace
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        shutil.rmtree(folder)
        again = await host.next()
        assert (again["type"], again["digest"]) == ("checkpoint", asked["digest"])
        assert "design.md" in again["warning"]
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        assert host.git("status", "--porcelain") == ""
