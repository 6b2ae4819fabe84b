"""A call that may change something is made at most once, wherever forge-bot is killed around it,
and nothing of its server is left.
"""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.script import Answer
from tests.fakes.tool_servers import configure, digest_here, unruly
from tests.recovery.kills import KILLED, Boundary, Undisturbed, killed_at, undisturbed
from tests.recovery.play import Play
from tests.recovery.scripts import MODEL, TASK, Part
from tests.recovery.world import World

pytestmark = pytest.mark.slow

CREATE: Answer = {
    "requests": [],
    "actions": [
        {
            "capability": "mcp_tickets_create",
            "capability_type": "mcp_tool",
            "params_json": '{"text": "a ticket"}',
            "reasoning": "it is asked for",
        }
    ],
}
SCRIPT = (Part(("run", TASK, "--effort", "S", *MODEL), 3), Part(("approve", *MODEL), 3))

Prepared = tuple[World, Undisturbed]


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """A run that waits for a person because of a call; the approval, as it goes undisturbed."""
    with Play(first={"situation-analyst-investigator": CREATE}) as play:
        world = World(tmp_path_factory.mktemp("calls"), play)
        world.build()
        # Without a sandbox the server can note its calls where the test reads them.
        (world.path / ".forge").mkdir()
        (world.path / ".forge" / "config.yml").write_text("sandbox: off\n")
        configure(world.path, {"tickets": unruly("well", str(notes(world)))})
        yes = ("capabilities", "approve", "--digest", digest_here(world.path))
        assert world.wait(world.start(yes)) == 0
        world.git("add", "-A")
        world.git("commit", "-qm", "configure a server")
        parts = undisturbed(world, SCRIPT)
        assert calls(world) == ["done"]
        assert made(world) == 1
        yield world, parts[1]


def notes(world: World) -> Path:
    return world.root / "calls.txt"


def mode(world: World, name: str) -> None:
    """Let the server behave in another way."""
    notes(world).with_suffix(".mode").write_text(name)


def made(world: World) -> int:
    """How often the server was called."""
    return len(notes(world).read_text().splitlines()) if notes(world).exists() else 0


def state(world: World) -> dict[str, Any]:
    return json.loads((world.here / "state.json").read_text())


def calls(world: World) -> list[str]:
    return [call["status"] for call in state(world)["calls"]]


def servers(world: World) -> list[int]:
    """Processes of the server that are still there."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(notes(world)).encode() in words:
                found.append(int(entry.name))
    return found


def back(prepared: Prepared) -> World:
    world, whole = prepared
    world.back(str(whole.number))
    world.play.fresh()
    notes(world).unlink(missing_ok=True)
    mode(world, "well")
    return world


def survives(prepared: Prepared, boundary: Boundary) -> str:
    """Kill the approval at a boundary and go on; the status in which the call ended."""
    world, whole = back(prepared), prepared[1]
    code = killed_at(world, whole.part.words, boundary)
    assert code in {KILLED, whole.part.code}, world.printed
    assert made(world) <= 1
    told = whole.part.words if state(world)["gate"] and not world.decisions else ("resume", *MODEL)
    assert world.forge(*told)[0] == 3, world.printed
    (status,) = calls(world)
    assert (status, made(world)) in {("done", 1), ("unknown", 0), ("unknown", 1)}
    if status == "unknown":
        assert state(world)["gate"]["reason"] == "outcome_unknown"
        before = made(world)
        assert world.forge("approve", *MODEL)[0] == 3
        assert made(world) == before
    assert state(world)["gate"]["name"] == "checkpoint-a"
    assert servers(world) == []
    return status


def test_a_server_that_kills_us_while_it_is_called_is_asked_about_and_called_once(
    waiting: Prepared,
) -> None:
    world = back(waiting)
    mode(world, "kills")
    assert world.wait(world.start(waiting[1].part.words)) == KILLED
    assert (calls(world), made(world)) == (["begun"], 1)
    mode(world, "well")
    assert world.forge("resume", *MODEL)[0] == 3
    assert (calls(world), made(world)) == (["unknown"], 1)
    assert world.forge("reject", "It is not there", *MODEL)[0] == 3
    assert made(world) == 1


@pytest.mark.parametrize(
    "boundary",
    [
        Boundary("file", "reports.jsonl"),
        Boundary("git before", "commit", 2),
        Boundary("file", "reports.jsonl", 3),
        Boundary("git after", "commit", 3),
    ],
)
def test_a_call_is_made_at_most_once_wherever_forge_bot_is_killed(
    waiting: Prepared, boundary: Boundary
) -> None:
    survives(waiting, boundary)


def test_a_server_that_hangs_ends_with_us(waiting: Prepared) -> None:
    world = back(waiting)
    mode(world, "hangs")
    pid = world.start(waiting[1].part.words)
    while not made(world):
        pass
    assert servers(world)
    os.kill(pid, signal.SIGKILL)
    assert world.wait(pid) == KILLED
    while servers(world):
        pass
    mode(world, "well")
    assert world.forge("resume", *MODEL)[0] == 3
    assert (calls(world), made(world)) == (["unknown"], 1)
