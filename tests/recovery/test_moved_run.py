"""A run whose clone is deleted between implementation and review is gone on with from what was
pushed, by another way, and no model is asked anything again.
"""

import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.fakes import script
from tests.fakes.agents import role_of
from tests.fakes.model_server import Question, Says
from tests.mcp_server.host import hosting_in
from tests.recovery.play import Play
from tests.recovery.scripts import MODEL, TASK
from tests.recovery.world import WAITING, World

NOTE = {"path": "docs/before.md", "operation": "write", "old": "", "new": "Nobody is on call.\n"}
TASKS = """# Tasks

## Task 1: Nobody before the start
mode: parallel
files:
- rota/schedule.py
- tests/test_before.py
depends_on: []

Acceptance criteria:
- [ ] AC-1: `on_call` gives None before the start

## Task 2: A note for readers
mode: parallel
files:
- docs/before.md
- .github/workflows/ci.yml
depends_on: []

Acceptance criteria:
- [ ] AC-1: the note names the first day
"""
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
            os.kill(self.works, signal.SIGKILL)
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


def led(world: World, *, killed: bool = False) -> int:
    """Lead the run at the terminal, with a yes to each question, to the end or until a task is to
    be reviewed; the last exit code.
    """
    assert isinstance(world.play, Provider)
    code, _ = world.forge("run", TASK, "--effort", "L", *MODEL)
    for _ in range(8):
        if code == WAITING:
            pid = world.start(("approve", *MODEL))
            world.play.works = pid if killed else 0
            code = world.wait(pid)
    return code


def cloned_anew(world: World) -> None:
    """Push the run's branch, delete the clone with all that this machine knows, and clone anew."""
    branch = world.branch
    world.git("push", "-q", "origin", branch)
    for folder in (world.path, world.state):
        shutil.rmtree(folder)
    world.state.mkdir()
    world.git("clone", "-q", str(world.root / "remote.git"), str(world.path), folder=world.root)
    world.git("switch", "-q", branch)


async def test_a_wave_with_a_held_file_is_reviewed_by_a_client_in_a_fresh_clone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(world.play, Provider)
    world.save("0")
    assert led(world) == 0, world.printed
    whole, asked = code_of(world), world.play.agents
    world.back("0")
    world.play.agents = Counter()
    assert led(world, killed=True) == -signal.SIGKILL
    cloned_anew(world)
    monkeypatch.setenv("XDG_STATE_HOME", str(world.state))
    async with hosting_in(world.path) as host:
        host.answers = ANSWERS
        action = await host.drive(await host.asked_now())
        while action["type"] != "done":
            if action["type"] == "checkpoint":
                yes = "skip" if action["name"] == "post-to-source" else "approve"
                reply = {"user_response": yes, "digest": action["digest"]}
            else:
                reply = {"previous_action_complete": True, "action_id": action["action_id"]}
                if action["setup_only"]:
                    host.git(*action["commands"][1:])
                else:
                    reply["previous_output"] = "https://github.com/acme/rota/pull/2"
            action = await host.drive(await host.next(**reply))
    again = Counter(str(each["agent"]) for each in host.asked if each["type"] == "spawn_agent")
    assert asked["implementer"] == 2
    assert not {"architect", "task-decomposer", "implementer"} & again.keys()
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
