"""Sessions with MCP servers: well behaved, and in each way that servers go wrong."""

import asyncio
import json
import os
import resource
import socket
import time
from pathlib import Path

import pytest

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, ResultStatus
from forge_bot.agent.tools.mcp_client import MCPToolInfo
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.tool_catalogue import (
    ToolCalls,
    ToolCatalogue,
    discover_capabilities,
    named_tools,
)
from forge_bot.runs.capabilities.outside_capabilities import describe_capability
from forge_bot.settings.capability_file import parse_capability_file
from forge_bot.settings.config import CapabilityPolicy
from tests.fakes.sampled import sampled
from tests.fakes.tool_servers import SERVER, configure, unruly

SECRET = "sesame-open-1234"


def setup(
    root: Path,
    mode: str = "well",
    *more: str,
    seconds: float = 60,
    policy: CapabilityPolicy | None = None,
    sandbox: str = "auto",
) -> CapabilitySetup:
    entry = unruly(mode, *more, env={"TICKETS_TOKEN": "${TICKETS_TOKEN}"})
    file = configure(root, {"tickets": entry})
    return CapabilitySetup(
        agreed=None,
        root=root,
        tree=root,
        config=parse_capability_file(file.read_text()),
        policy=policy or CapabilityPolicy(seconds=seconds),
        sandbox="off" if sandbox == "off" else "auto",
        environ={"TICKETS_TOKEN": SECRET, "ANTHROPIC_API_KEY": "key-of-the-model"},
    )


def discover(given: CapabilitySetup) -> ToolCatalogue:
    return asyncio.run(discover_capabilities(given))


def call(given: CapabilitySetup, name: str, **params: object) -> CapabilityResult:
    """Call a tool of a server that lists the usual ones, whatever it does in a call."""
    usual = setup(given.root, "well")
    configure(given.root, {"tickets": unruly("well")})
    calls = ToolCalls(given, discover(usual))
    wanted = CapabilityRequest(key="1.1-x", capability=name, params=json.dumps(params))
    return asyncio.run(calls.act(wanted, 8_000))[0]


def left_over(root: Path) -> list[str]:
    """The processes that work in the folder, and are still there ten seconds after their end."""
    end = time.monotonic() + 10
    while (there := processes_in(root)) and time.monotonic() < end:
        pass
    return there


def processes_in(root: Path) -> list[str]:
    """The command lines of the processes that work in a folder."""
    found: list[str] = []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and (place / "cwd").readlink() == root:
                found.append((place / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def test_tools_are_listed_with_safe_names_their_parameters_and_their_origin(tmp_path: Path) -> None:
    catalogue = discover(setup(tmp_path))
    assert [spec.name for spec in catalogue.specs] == [
        "mcp_tickets_create",
        "mcp_tickets_echo",
        "mcp_tickets_environment",
        "mcp_tickets_look_up_it_all",
    ]
    look = catalogue.specs[3]
    assert look.description == "[MCP:tickets] Look something up. In two lines."
    assert [(each.name, each.kind, each.required) for each in look.parameters] == [
        ("kind", '{"enum": ["bug", "task"]}', True),
        ("count", '{"type": "integer", "minimum": 1, "default": 5}', False),
        ("where", '{"type": "object", "properties": {"team": {"type": "string"}}}', False),
    ]


def test_tools_with_the_same_name_are_both_reached() -> None:
    tools = [
        MCPToolInfo(server_name="a", tool_name="b_c"),
        MCPToolInfo(server_name="a_b", tool_name="c"),
    ]
    named, again = named_tools(tools), named_tools(tools[::-1])
    assert sorted(each.server_name for each in named.values()) == ["a", "a_b"]
    assert all(name.startswith("mcp_a_b_c_") for name in named)
    assert named == again


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_a_server_sees_the_variables_that_it_was_given_and_no_others(
    tmp_path: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-model")
    found = call(setup(tmp_path, sandbox=sandbox), "mcp_tickets_environment")
    names = set(json.loads(found.content))
    assert "TICKETS_TOKEN" in names
    assert "PATH" in names
    assert "ANTHROPIC_API_KEY" not in names


def test_the_value_of_a_placeholder_is_masked_in_what_a_server_says(tmp_path: Path) -> None:
    assert call(setup(tmp_path), "mcp_tickets_echo", text="hi").content == "hi with [TICKETS_TOKEN]"


def test_arguments_that_do_not_fit_are_answered_without_the_server(tmp_path: Path) -> None:
    kept = tmp_path / "calls"
    found = call(setup(tmp_path, "well", str(kept), sandbox="off"), "mcp_tickets_echo", words="hi")
    assert found.status is ResultStatus.INVALID_PARAMS
    assert found.content.startswith('"text" is a required property. Its arguments fit this JSON')
    assert not kept.exists()


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", sampled(["auto", "off"], 2))
def test_a_server_that_is_silent_in_the_handshake_ends_in_time_with_all_its_processes(
    tmp_path: Path, sandbox: str
) -> None:
    began = time.monotonic()
    catalogue = discover(setup(tmp_path, "silent", seconds=1, sandbox=sandbox))
    assert [problem.sentence for problem in catalogue.problems] == [
        "The server tickets did not finish within 1 seconds."
    ]
    assert time.monotonic() - began < 30
    assert left_over(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", sampled(["auto", "off"], 2))
def test_a_call_that_hangs_ends_in_time_and_leaves_no_process(tmp_path: Path, sandbox: str) -> None:
    found = call(setup(tmp_path, "hangs", seconds=3, sandbox=sandbox), "mcp_tickets_echo", text="x")
    assert found.status is ResultStatus.TIMEOUT
    assert found.content == "The server tickets did not finish within 3 seconds."
    assert left_over(tmp_path) == []


@pytest.mark.slow
def test_a_call_that_is_called_off_ends_its_server(tmp_path: Path) -> None:
    usual, arrived = discover(setup(tmp_path)), tmp_path / "calls"
    calls = ToolCalls(setup(tmp_path, "hangs", str(arrived), sandbox="off"), usual)
    wanted = CapabilityRequest(key="1.1-x", capability="mcp_tickets_echo", params='{"text": "x"}')

    async def call_off() -> None:
        calling = asyncio.create_task(calls.act(wanted, 8_000))
        while not arrived.exists():
            await asyncio.wait([calling], timeout=0.05)
        assert processes_in(tmp_path)
        calling.cancel()
        await asyncio.wait([calling])
        assert calling.cancelled()

    asyncio.run(call_off())
    assert left_over(tmp_path) == []


@pytest.mark.parametrize(
    ("mode", "status", "said"),
    [
        ("fails", ResultStatus.TOOL_ERROR, "no such ticket"),
        (
            "crashes",
            ResultStatus.TOOL_ERROR,
            "The server tickets failed: Connection closed; out of tickets.",
        ),
        ("invalid-text", ResultStatus.OK, "caf\ufffd au lait"),
        ("chatty", ResultStatus.OK, "x with [TICKETS_TOKEN]"),
        (
            "structured",
            ResultStatus.OK,
            '[image, image/png, 3 bytes: not shown]\n[resource ticket 7: ticket://7]\n{"id": 7}',
        ),
    ],
)
def test_each_way_of_a_call_has_its_status_and_a_sentence(
    tmp_path: Path, mode: str, status: ResultStatus, said: str
) -> None:
    found = call(setup(tmp_path, mode), "mcp_tickets_echo", text="x")
    assert (found.status, found.content) == (status, said)


def test_a_long_result_is_cut_where_it_arrives(tmp_path: Path) -> None:
    found = call(setup(tmp_path, "large"), "mcp_tickets_echo", text="x")
    assert len(found.content) == 8_000
    assert found.note == "cut at 8,000 of 3,000,000 characters"


def test_a_list_of_several_pages_is_complete(tmp_path: Path) -> None:
    assert len(discover(setup(tmp_path, "pages")).specs) == 4


def test_schemas_that_refer_to_themselves_or_are_huge_are_shown_in_short(tmp_path: Path) -> None:
    catalogue = discover(setup(tmp_path, "bombs"))
    shown = {spec.source + ":" + spec.name: describe_capability(spec) for spec in catalogue.specs}
    assert [name.rpartition("_")[2] for name in shown] == [
        "doubling",
        "hidden",
        "long",
        "many",
        "recursive",
    ]
    assert all(len(each.description + each.parameters) < 2_000 for each in shown.values())


def test_what_a_prompt_says_of_parameters_hides_nothing_and_leaves_its_line(tmp_path: Path) -> None:
    catalogue = discover(setup(tmp_path, "bombs"))
    text = "\n".join(repr(describe_capability(spec)) for spec in catalogue.specs)
    assert "## Task" not in text
    assert not {"\u202e", "\U000e0041"} & set(text)
    assert [each.about for each in catalogue.broken] == ["tickets: name"]


@pytest.mark.parametrize("sandbox", sampled(["auto", "off"], 2))
def test_a_server_that_complains_without_end_fills_no_disk(tmp_path: Path, sandbox: str) -> None:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file of ours, or of what we start, can become as large as what it writes.
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000_000, most[1]))
    try:
        found = call(setup(tmp_path, "complains", sandbox=sandbox), "mcp_tickets_echo", text="hi")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert found.status is ResultStatus.TOOL_ERROR
    assert found.content.endswith(" out of tickets.")


def test_a_dead_server_leaves_the_others_in_the_catalogue(tmp_path: Path) -> None:
    file = configure(tmp_path, {"gone": {"command": "no-such-program"}, "tickets": unruly("well")})
    given = CapabilitySetup(
        agreed=None, root=tmp_path, tree=tmp_path, config=parse_capability_file(file.read_text())
    )
    catalogue = discover(given)
    assert len(catalogue.specs) == 4
    assert [each.about for each in catalogue.broken] == ["gone"]


def test_the_policy_takes_out_asks_and_allows_by_globs(tmp_path: Path) -> None:
    policy = CapabilityPolicy(
        deny=("mcp_*_environment",), allow=("mcp_tickets_cre*",), ask=("*_echo",)
    )
    catalogue = discover(setup(tmp_path, policy=policy))
    assert catalogue.denied == ("mcp_tickets_environment",)
    assert catalogue.asked == ("mcp_tickets_echo",)
    effects = {spec.name: spec.effect.value for spec in catalogue.specs}
    assert effects == {
        "mcp_tickets_create": "acts",
        "mcp_tickets_echo": "acts",
        "mcp_tickets_look_up_it_all": "reads",
    }


def saying(program: Path, python: str) -> None:
    """Write a server as a program, whose tool `echo` is described by what `python` prints."""
    looks = "import contextlib, io, os, sys\nsys.argv[1:] = ['well']\nsaid = io.StringIO()\n"
    looks += f"with contextlib.redirect_stdout(said):\n    {python}\n"
    text = SERVER.read_text().replace('"Say the text again."', "said.getvalue().strip()")
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/usr/bin/env python3\n{looks}{text}")
    program.chmod(0o755)


def said_by(root: Path, command: str, policy: CapabilityPolicy | None = None) -> str:
    """The description of the tool `echo` of a server."""
    file = configure(root, {"tickets": {"command": command}})
    given = CapabilitySetup(
        agreed=None,
        root=root,
        tree=root,
        config=parse_capability_file(file.read_text()),
        policy=policy or CapabilityPolicy(),
        environ={},
    )
    catalogue = discover(given)
    assert catalogue.problems == ()
    echo = next(each for each in catalogue.specs if each.name == "mcp_tickets_echo")
    return echo.description.removeprefix("[MCP:tickets] ")


def test_a_program_on_the_path_is_shown_to_its_box_and_of_a_home_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, root = tmp_path / "home", tmp_path / "rota"
    root.mkdir()
    program = home / "bin" / "tickets"
    saying(program, f"print(sorted(os.listdir({str(home)!r})))")
    (home / "notes.txt").write_text("of nobody else")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert said_by(root, "tickets") == "['bin']"


@pytest.mark.parametrize(("network", "reached"), [((), "111"), (("tickets",), "0")])
def test_a_server_has_the_network_only_where_it_is_declared(
    tmp_path: Path, network: tuple[str, ...], reached: str
) -> None:
    root = tmp_path / "rota"
    root.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as outside:
        address = outside.getsockname()
        program = tmp_path / "programs" / "bin" / "tickets"
        saying(program, f"import socket; print(socket.socket().connect_ex({address!r}))")
        # 111 is a refused connection: within its box nobody listens there.
        assert said_by(root, str(program), CapabilityPolicy(network=network)) == reached
