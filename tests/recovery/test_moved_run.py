"""A run whose clone is deleted between implementation and review is gone on with from what was
pushed, by another way, and no model is asked anything again.
"""

import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.fakes import script
from tests.fakes.agents import role_of
from tests.fakes.model_server import Question, Says
from tests.fakes.rows import rows
from tests.mcp_server.host import Host, Json, hosting_in
from tests.recovery.play import Play
from tests.recovery.scripts import MODEL, TASK
from tests.recovery.world import WAITING, World

ROWS = rows(__file__)

pytestmark = pytest.mark.slow

NOTE = {"path": "docs/before.md", "operation": "write", "old": "", "new": "Nobody is on call.\n"}
TASKS: str = ROWS["tasks"]
ANSWERS = {
    **script.usual(),
    ("task-decomposer", "*", "*"): {"artifact_markdown": TASKS},
    ("implementer", "*", "task 1"): script.change(script.GUARD, script.TEST),
    ("implementer", "*", "task 2"): script.change(NOTE, script.WORKFLOW),
}


@dataclass
class Provider(Play):
    """A provider that answers by `ANSWERS`, and stops the process whose reviewer asks."""

    agents: Counter[str] = field(default_factory=Counter[str])
    works: int = 0
    """The process that is killed when a task is to be reviewed; 0 for none."""

    def take(self, question: Question) -> Says:
        agent, phase = role_of(question)
        text = str(question.body["messages"][-1]["content"])
        if agent == "impl-reviewer" and self.works:
            with suppress(ProcessLookupError):
                os.kill(self.works, signal.SIGKILL)
            return Says("nobody hears this", status=500)
        self.agents[agent] += 1
        task = "task 2" if "Task 2" in text.partition("## Your Task")[2][:200] else "task 1"
        keys = ((agent, where, which) for which in (task, "*") for where in (phase, "*"))
        answer = next(ANSWERS[key] for key in keys if key in ANSWERS)
        return Says(json.dumps(answer), input_tokens=1000, output_tokens=100)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A repository with a remote, in which nothing has happened yet."""
    with Provider() as play:
        made = World(tmp_path, play)
        made.build()
        made.git("clone", "-q", "--bare", str(made.path), str(tmp_path / "remote.git"))
        made.git("remote", "add", "origin", str(tmp_path / "remote.git"))
        yield made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of a run that nobody moved."""
    with Provider() as play:
        world = World(tmp_path_factory.mktemp("whole"), play)
        world.build()
        assert led(world) == 0, world.printed
        assert play.agents["implementer"] == 2
        files = code_of(world)
    assert ".github/workflows/ci.yml" in files
    return files


def led(world: World, *, killed: bool = False, begun: bool = False) -> int:
    """Lead the run at the terminal, with a yes to each question, to the end or until a task is to
    be reviewed; the last exit code.
    """
    assert isinstance(world.play, Provider)
    words = ("resume", *MODEL) if begun else ("run", TASK, "--effort", "L", *MODEL)
    code, _ = world.forge(*words)
    for _ in range(8):
        if code == WAITING:
            pid = world.start(("approve", *MODEL))
            world.play.works = pid if killed else 0
            code = world.wait(pid)
    return code


async def led_by_client(host: Host, action: Json, *stops: str) -> Json:
    """Lead the run as a client, with a yes to each question, to the end or until an agent of these
    is asked.
    """
    action = await host.drive(action, *stops)
    while action["type"] not in {"done", "spawn_agent"}:
        if action["type"] == "checkpoint":
            yes = "skip" if action["name"] == "post-to-source" else "approve"
            reply = {"user_response": yes, "digest": action["digest"]}
        else:
            reply = {"previous_action_complete": True, "action_id": action["action_id"]}
            if action["setup_only"]:
                host.git(*action["commands"][1:])
            else:
                reply["previous_output"] = "https://github.com/acme/rota/pull/2"
        action = await host.drive(await host.next(**reply), *stops)
    return action


def cloned_anew(world: World, branch: str) -> None:
    """Push the run's branch, delete the clone with all that this machine knows, and clone anew."""
    world.git("push", "-q", "origin", branch)
    for folder in (world.path, world.state):
        shutil.rmtree(folder)
    world.state.mkdir()
    world.git("clone", "-q", str(world.root / "remote.git"), str(world.path), folder=world.root)
    world.git("switch", "-q", branch)


async def test_a_wave_with_a_held_file_is_reviewed_by_a_client_in_a_fresh_clone(
    world: World, whole: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(world.play, Provider)
    assert led(world, killed=True) == -signal.SIGKILL
    cloned_anew(world, world.branch)
    monkeypatch.setenv("XDG_STATE_HOME", str(world.state))
    async with hosting_in(world.path) as host:
        host.answers = ANSWERS
        action = await led_by_client(host, await host.asked_now())
    assert action["type"] == "done"
    again = Counter(str(each["agent"]) for each in host.asked if each["type"] == "spawn_agent")
    assert world.play.agents["implementer"] == 2
    assert not world.play.agents.keys() & again.keys()
    assert code_of(world) == whole


async def test_a_wave_that_a_client_implemented_is_reviewed_at_the_terminal_in_a_fresh_clone(
    world: World, whole: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(world.play, Provider)
    monkeypatch.setenv("XDG_STATE_HOME", str(world.state))
    async with hosting_in(world.path) as host:
        host.answers = ANSWERS
        await host.begin(TASK, "L")
        action = await led_by_client(host, await host.next(), "impl-reviewer")
    assert action["agent"] == "impl-reviewer"
    cloned_anew(world, world.git("symbolic-ref", "--short", "HEAD"))
    assert led(world, begun=True) == 0, world.printed
    asked = {str(each["agent"]) for each in host.asked[:-1] if each["type"] == "spawn_agent"}
    assert not asked & world.play.agents.keys()
    assert code_of(world) == whole


def code_of(world: World) -> dict[str, str]:
    """Return the files of the run's branch outside of its record, by name and blob."""
    branch = next(
        name
        for name in world.git("branch", "--format=%(refname:short)").split()
        if name.startswith("feature/")
    )
    rows = [row.split(None, 3) for row in world.git("ls-tree", "-r", branch).splitlines()]
    return {path: blob for _, _, blob, path in rows if not path.startswith(".specs/")}
