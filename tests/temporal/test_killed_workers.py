"""Workers and servers that are killed: the run goes on, and nothing is asked or said twice."""

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.agents import AgentServer
from tests.mcp_server.test_four_doors import Way
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, clone
from tests.temporal.scene import server as started

pytestmark = pytest.mark.usefixtures("server")


@pytest.fixture
def models() -> Iterator[AgentServer]:
    with AgentServer() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, models: AgentServer) -> Iterator[Clone]:
    """A clone and a server of its own; its model is asked over HTTP."""
    with started(tmp_path / "server") as its_own, clone(tmp_path / "clone", its_own) as it:
        it.environ |= {
            "FORGE_BOT_MODEL": "openai-chat:fake",
            "OPENAI_BASE_URL": f"{models.url}/v1",
            "OPENAI_API_KEY": "sk-none",
            "FORGE_BOT_TEMPORAL_SILENCE": "4",
        }
        yield it


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    out, _ = process.communicate(timeout=120)
    return process.returncode, out


def test_a_worker_killed_in_a_call_and_then_the_server_cost_only_the_call(
    place: Clone, models: AgentServer
) -> None:
    models.will_hang = 2
    first = place.start_worker()
    begun = place.start(*place.beginning(TASK))
    assert models.wait_for(2, seconds=90)
    first.kill()
    place.start_worker()
    code, out = ended(begun)
    assert code == 3, out
    assert models.asked == {"situation-analyst-investigator": 1, "architect": 2}

    place.server.kill()
    place.server.start()
    done = place.forge("approve")
    assert done.code == 0, done.out + done.err
    assert sum(models.asked.values()) == len(place.branch_calls()) + 1


def away(code: int, out: str) -> bool:
    """Whether a command found no server, or one that knows of no worker yet."""
    return code == 5 and ("TEMPORAL-003" in out or "TEMPORAL-005" in out)


def answers_heard(journal: Path) -> Counter[str]:
    """How often each question of a run got an answer, by its place in the journal."""
    lines = (json.loads(line) for line in journal.read_text().splitlines())
    return Counter(line["key"] for line in lines if line["entry"] == "finished")


@pytest.mark.parametrize(
    ("victim", "every"),
    [
        ("either", 6),
        pytest.param("worker", 1, marks=pytest.mark.slow),
        pytest.param("server", 1, marks=pytest.mark.slow),
    ],
)
def test_a_worker_or_the_server_killed_at_steps_in_turn_leaves_the_same_branch(
    place: Clone, models: AgentServer, victim: str, every: int
) -> None:
    local = place.again()
    for words in (("run", TASK, "--effort", "S", "--yes"), ("approve",)):
        place.forge(*words, at=local)
    calls = sum(models.asked.values())
    (journal_of_local,) = place.folder.rglob("journal.jsonl")

    worker = place.start_worker()
    going = place.start(*place.beginning(TASK))
    seen, kills, answered = 0, 0, False
    while going.poll() is None or not answered:
        if going.poll() is not None:
            code, out = ended(going)
            if away(code, out):
                going = place.start("resume")
            else:
                assert code == 3, out
                going, answered = place.start("approve"), True
        if place.steps_begun() >= seen + every:
            seen, kills = place.steps_begun(), kills + 1
            if victim == "server" or (victim == "either" and kills % 2 == 0):
                place.server.kill()
                place.server.start()
            else:
                worker.kill()
                worker.communicate()
                worker = place.start_worker()
    code, out = ended(going)
    if away(code, out):
        done = place.forge("resume")
        code, out = done.code, done.out + done.err
    assert code == 0, out
    assert kills * every > 10
    there, here = Way.left(place.path), Way.left(local)
    assert there.documents() == here.documents()
    assert there.state() == here.state()
    (journal,) = set(place.folder.rglob("journal.jsonl")) - {journal_of_local}
    assert set(answers_heard(journal).values()) == {1}
    asked = sum(models.asked.values()) - calls
    assert asked <= calls + kills


@pytest.mark.slow
def test_what_stands_in_the_way_at_the_worker_is_told_at_the_terminal_and_can_be_mended(
    place: Clone, models: AgentServer
) -> None:
    keyless = {name: text for name, text in place.environ.items() if "API_KEY" not in name}
    keyless["FORGE_BOT_MODEL"] = "anthropic:claude-sonnet-4-5"
    worker = place.start_worker(keyless)
    said = place.begin(TASK)
    assert (said.code, "ANTHROPIC_API_KEY" in said.err, "MODEL-001" in said.err) == (
        5,
        True,
        True,
    ), said.err
    worker.kill()
    place.start_worker()
    assert place.forge("resume").code == 3
    assert sum(models.asked.values()) == 2


@pytest.mark.slow
def test_a_worker_that_is_stopped_hands_the_step_under_way_to_another_one(
    place: Clone, models: AgentServer
) -> None:
    models.will_hang = 1
    worker = place.start_worker()
    begun = place.start(*place.beginning(TASK))
    assert models.wait_for(1, seconds=90)
    worker.send_signal(signal.SIGTERM)
    out, _ = worker.communicate(timeout=60)
    assert worker.returncode == 0, out
    assert "taken up by others" in out
    place.start_worker()
    code, out = ended(begun)
    assert code == 3, out
    assert sum(models.asked.values()) == 3
