"""Folders that the client has open are served where none was named."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.types import ListRootsResult, Root
from pydantic import FileUrl

from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Refusal

pytestmark = pytest.mark.slow

TASK = "Nobody is on call before the start"


@pytest.fixture
def second(sample: Sample, tmp_path: Path) -> Path:
    """Another repository beside the sample."""
    sample.git("clone", "-q", str(sample.path), str(tmp_path / "a second one"))
    return tmp_path / "a second one"


class Editor:
    """A program with folders open."""

    def __init__(self, *opened: Path) -> None:
        self.opened = opened

    async def roots(self, context: ClientRequestContext) -> ListRootsResult:
        assert context is not None
        return ListRootsResult(roots=[Root(uri=FileUrl(item.as_uri())) for item in self.opened])


@asynccontextmanager
async def started(home: Path, *words: str, **more: Any) -> AsyncGenerator[Host]:
    """A client of `forge-bot mcp` that was started in `home`."""
    process = StdioServerParameters(
        command=sys.executable,
        args=["-m", "forge_bot", "mcp", *words],
        env=dict(os.environ),
        cwd=home,
    )
    async with Client(process, **more) as client:
        yield Host(client, home)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_is_open_serves_where_the_server_was_started_outside_of_a_repository(
    second: Path, tmp_path: Path, mode: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with started(home) as host:
        with pytest.raises(Refusal, match=r"GIT-001[\s\S]*--repo PATH"):
            await host.call("pipeline_init", arguments=TASK)
    editor = Editor(tmp_path / "other", second)
    async with started(home, mode=mode, list_roots_callback=editor.roots) as host:
        host.path = second
        await host.begin(TASK)
        action = await host.next()
        assert action["type"] == "spawn_agent"
        assert (second / host.workspace / "request.md").is_file()
