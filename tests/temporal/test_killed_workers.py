"""Workers and servers that are killed: the run goes on, and nothing is asked or said twice."""

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.fakes.agents import AgentServer
from tests.mcp_server.test_four_doors import Way
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, Server, clone
from tests.temporal.scene import server as started
from tests.temporal.steps_begun import StepsBegun

pytestmark = pytest.mark.usefixtures("server")


@pytest.fixture
def models() -> Iterator[AgentServer]:
    with AgentServer() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, models: AgentServer) -> Iterator[Clone]:
    """A clone and a server of its own; its model is asked over HTTP."""
    with started(tmp_path / "server") as its_own, clone(tmp_path / "clone", its_own) as it:
        it.environ |= asks(models) | {"FORGE_BOT_TEMPORAL_SILENCE": "4"}
        yield it


def asks(models: AgentServer) -> dict[str, str]:
    """The environment of a machine on which these are asked."""
    return {
        "FORGE_BOT_MODEL": "openai-chat:fake",
        "OPENAI_BASE_URL": f"{models.url}/v1",
        "OPENAI_API_KEY": "sk-none",
    }


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


def test_a_command_says_that_no_worker_answers_while_the_server_still_lists_the_last_one(
    place: Clone,
) -> None:
    worker = place.start_worker()
    assert place.forge(*place.beginning(TASK)).code == 3
    worker.kill()
    worker.communicate()
    waiting = place.start("retry", "design")
    assert waiting.stdout is not None
    said = next((line for line in waiting.stdout if "No worker has answered yet" in line), "")
    place.start_worker()
    code, out = ended(waiting)
    assert (code, said != "") == (3, True), out


def away(code: int, out: str) -> bool:
    """Whether a command found no server, one that knows of no worker yet, or a worker at work."""
    return code == 5 and any(each in out for each in ("TEMPORAL-003", "TEMPORAL-005", "RUN-001"))


def answers_heard(journal: Path) -> Counter[str]:
    """How often each question of a run got an answer, by its place in the journal."""
    lines = (json.loads(line) for line in journal.read_text().splitlines())
    return Counter(line["key"] for line in lines if line["entry"] == "finished")


@pytest.fixture(scope="module")
def reference(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Way, int]:
    """The run on one machine that nobody kills: its branch, and how often it asks a model."""
    with (
        AgentServer() as models,
        clone(tmp_path_factory.mktemp("reference"), server) as it,
    ):
        it.environ |= asks(models)
        for words in (("run", TASK, "--effort", "S", "--yes"), ("approve",)):
            it.forge(*words)
        return Way.left(it.path), sum(models.asked.values())


LEADS = ("--for", "orchestration")
DOES = ("--for", "execution", "--for", "publishing")


@dataclass
class Killed:
    """What is killed at every so many steps, and begun again."""

    place: Clone
    victims: Sequence[str]
    kills: int = 0
    workers: "dict[str, subprocess.Popen[str]]" = field(
        default_factory=dict[str, "subprocess.Popen[str]"]
    )

    def begin(self) -> None:
        for name, words in {"leader": LEADS, "worker": DOES}.items():
            self.workers[name] = self.place.start_worker(None, *words)

    def kill(self) -> None:
        """Kill the next one in turn, and begin it again."""
        victim = self.victims[self.kills % len(self.victims)]
        self.kills += 1
        if victim == "server":
            self.place.server.kill()
            self.place.server.start()
            return
        self.workers[victim].kill()
        self.workers[victim].communicate()
        words = LEADS if victim == "leader" else DOES
        self.workers[victim] = self.place.start_worker(None, *words)


@pytest.mark.parametrize(
    ("victims", "every"),
    [
        (("worker", "server", "leader"), 6),
        *(
            # Each of them takes two to five minutes on two processors.
            pytest.param((name,), 1, marks=pytest.mark.slow)
            for name in ("worker", "leader", "server")
        ),
    ],
    ids=["sample", "worker", "leader", "server"],
)
def test_a_worker_or_the_server_killed_at_steps_in_turn_leaves_the_same_branch(
    place: Clone,
    models: AgentServer,
    reference: tuple[Way, int],
    victims: tuple[str, ...],
    every: int,
) -> None:
    here, calls = reference
    killed = Killed(place, victims)
    killed.begin()
    going = place.start(*place.beginning(TASK))
    seen, code = 0, -1
    with StepsBegun(place.server, place.workflow) as steps:
        while code != 0:
            if steps.wait(seen + every):
                seen = steps.count
                killed.kill()
            if going.poll() is not None:
                code, out = ended(going)
                assert code in (0, 3) or away(code, out), out
                if code != 0:
                    # An answer that did not arrive is asked for again.
                    going = place.start("approve" if code == 3 else "resume")
    assert killed.kills * every > 10
    there = Way.left(place.path)
    assert there.documents() == here.documents()
    # The clones were made at different times.
    own = {"baseCommit": ""}
    assert {**there.state(), **own} == {**here.state(), **own}
    (journal,) = place.folder.rglob("journal.jsonl")
    assert set(answers_heard(journal).values()) == {1}
    assert sum(models.asked.values()) <= calls + killed.kills


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
