"""Lists of tools and of skills in which one is bad: the others are there, and it is named."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from forge_bot.agent.capabilities import CapabilityRequest, ResultStatus
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.tool_catalogue import ToolCalls, discover_capabilities
from forge_bot.settings.capability_file import parse_capability_file
from tests.fakes.rows import rows

ROWS = rows(__file__)

OBJECT = {"type": "object", "properties": {"q": {"type": "string"}}}
DANGLING = {"type": "object", "properties": {"v": {"$ref": "#/$defs/Gone"}}}
SERVER: str = ROWS["server"]


def odd(root: Path, tools: list[object], result: object = None) -> CapabilitySetup:
    """A server that lists exactly this, and answers a call with exactly that."""
    (root / "odd.py").write_text(SERVER)
    words = ["odd.py", json.dumps(tools), json.dumps(result)]
    entry = {"command": sys.executable, "args": words}
    config = parse_capability_file(json.dumps({"mcpServers": {"t": entry}}))
    return CapabilitySetup(root=root, tree=root, config=config, sandbox="off", agreed=None)


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"name": "bad", "inputSchema": {}}, "t: bad"),
        ({"name": "bad", "inputSchema": {"anyOf": [OBJECT, OBJECT]}}, "t: bad"),
        ({"name": "bad"}, "t: bad"),
        ({"name": "bad", "inputSchema": {**OBJECT, "required": None}}, "t: bad"),
        ({"name": "bad", "inputSchema": OBJECT, "outputSchema": DANGLING}, "t: bad"),
        ({"name": "bad", "inputSchema": OBJECT, "outputSchema": "text"}, "t: bad"),
        ({"name": 7, "inputSchema": OBJECT}, "t: number 1, which has no name"),
        ("no tool", "t: number 1, which has no name"),
    ],
)
def test_a_bad_tool_does_not_hide_the_others_and_is_named(
    tmp_path: Path, bad: object, named: str
) -> None:
    good = {"name": "fine", "description": None, "inputSchema": OBJECT, "annotations": None}
    catalogue = asyncio.run(discover_capabilities(odd(tmp_path, [bad, good])))
    assert [spec.name for spec in catalogue.specs] == ["mcp_t_fine"]
    assert [problem.about for problem in catalogue.problems] == [named]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"content": [{"type": "text", "text": "kept"}], "structuredContent": {"v": "x"}}, "kept"),
        ({"content": [{"type": "text", "text": "kept"}]}, "kept"),
        ({"content": "kept"}, "kept"),
        ({"content": [{"type": "video"}, {"type": "text", "text": "kept"}]}, "kept"),
        ({"content": None, "structuredContent": {"v": "kept"}}, '{"v": "kept"}'),
        ({}, "It returned nothing."),
    ],
)
def test_the_text_of_a_call_is_never_lost(tmp_path: Path, result: object, said: str) -> None:
    output = {"type": "object", "properties": {"v": {"type": "integer"}}, "required": ["v"]}
    tools = [{"name": "look", "inputSchema": OBJECT, "outputSchema": output}]
    given = odd(tmp_path, [*tools], result)
    calls = ToolCalls(given, asyncio.run(discover_capabilities(given)))
    wanted = CapabilityRequest(key="1.1-x", capability="mcp_t_look", params="{}")
    found = asyncio.run(calls.act(wanted, 8_000))[0]
    assert (found.status, said in found.content) == (ResultStatus.OK, True)
    assert ("does not fit the tool's schema" in found.content) == ('{"v"' in found.content)
