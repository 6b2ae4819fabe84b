"""Servers that others wrote, as npm installs them, listed and called as a run does it."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, Effect, ResultStatus
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.tool_catalogue import ToolCalls, ToolCatalogue, discover_capabilities
from forge_bot.settings.capability_file import parse_capability_file
from forge_bot.settings.config import CapabilityPolicy
from tests.mcp_server.programs import programs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not on the PATH"),
]

Prepared = tuple[CapabilitySetup, ToolCatalogue]


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """Both servers, in a repository with one file and beside a file that is none of its own."""
    folder = programs("servers").modules / ".bin"
    root = tmp_path / "rota"
    root.mkdir()
    (root / "read.md").write_text("Who is on call.\n")
    (tmp_path / "secret.txt").write_text("hunter2\n")
    servers = {
        "files": {"command": str(folder / "mcp-server-filesystem"), "args": ["${FORGE_BOT_TREE}"]},
        "everything": {"command": str(folder / "mcp-server-everything"), "args": ["stdio"]},
    }
    text = json.dumps({"mcpServers": servers})
    given = CapabilitySetup(
        agreed=None,
        root=root,
        tree=root,
        config=parse_capability_file(text),
        policy=CapabilityPolicy(seconds=60),
        environ={},
    )
    return given, asyncio.run(discover_capabilities(given))


def call(prepared: Prepared, name: str, **params: object) -> CapabilityResult:
    wanted = CapabilityRequest(key="1.1-x", capability=name, params=json.dumps(params))
    return asyncio.run(ToolCalls(*prepared).act(wanted, 8_000))[0]


def test_both_are_listed_without_a_problem_and_what_writes_needs_a_person(
    prepared: Prepared,
) -> None:
    catalogue = prepared[1]
    assert catalogue.problems == ()
    effects = {spec.name: spec.effect for spec in catalogue.specs}
    assert effects["mcp_files_read_text_file"] is Effect.READS
    assert effects["mcp_files_write_file"] is Effect.ACTS
    assert "mcp_files_write_file" in catalogue.asked
    assert "mcp_files_read_text_file" not in catalogue.asked


def test_a_file_of_the_work_tree_is_read_and_nothing_beside_it(prepared: Prepared) -> None:
    root = prepared[0].root
    found = call(prepared, "mcp_files_read_text_file", path=str(root / "read.md"))
    assert (found.status, found.content.splitlines()[0]) == (ResultStatus.OK, "Who is on call.")
    outside = call(prepared, "mcp_files_read_text_file", path=str(root.parent / "secret.txt"))
    assert outside.status is ResultStatus.TOOL_ERROR
    assert "hunter2" not in outside.content


def test_structured_results_pictures_and_wrong_arguments_are_told(prepared: Prepared) -> None:
    assert call(prepared, "mcp_everything_echo", message="hi").content == "Echo: hi"
    total = call(prepared, "mcp_everything_get-sum", a=2, b=3)
    assert (total.status, "5" in total.content) == (ResultStatus.OK, True)
    wrong = call(prepared, "mcp_everything_get-sum", a="two", b=3)
    assert wrong.status is ResultStatus.INVALID_PARAMS
    picture = call(prepared, "mcp_everything_get-tiny-image")
    assert "[image, image/png, " in picture.content
