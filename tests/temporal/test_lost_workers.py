"""Workers and servers that are lost, and what is waited for: nothing is answered twice."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.agents import AgentServer
from tests.fakes.batches import BatchServer
from tests.mcp_server.test_four_doors import Way
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, asks, clone, ended
from tests.temporal.scene import server as started

pytestmark = pytest.mark.usefixtures("server")


@pytest.fixture
def models() -> Iterator[AgentServer]:
    with AgentServer() as running:
        yield running


@pytest.fixture
def provider() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Clone]:
    """A clone and a server of its own, which soon counts a worker as lost."""
    with started(tmp_path / "server") as its_own, clone(tmp_path / "clone", its_own) as it:
        it.environ |= {"FORGE_BOT_TEMPORAL_SILENCE": "4"}
        yield it


def answers_heard(journal: Path) -> Counter[str]:
    """How often each question of a run got an answer, by its place in the journal."""
    lines = (json.loads(line) for line in journal.read_text().splitlines())
    return Counter(line["key"] for line in lines if line["entry"] == "finished")


def test_a_worker_killed_twice_and_the_server_once_cost_only_the_calls_under_way(
    alone: Clone, models: AgentServer
) -> None:
    alone.environ |= asks(models)
    local = alone.again()
    for words in (("run", TASK, "--effort", "S", "--yes"), ("approve",)):
        alone.forge(*words, at=local)
    calls = sum(models.asked.values())
    models.asked.clear()

    models.will_hang = 2
    first = alone.start_worker()
    begun = alone.start(*alone.beginning(TASK))
    assert models.wait_for(2, seconds=90)
    first.kill()
    second = alone.start_worker()
    code, out = ended(begun)
    assert code == 3, out
    alone.server.kill()
    alone.server.start()
    models.will_hang = 4
    going = alone.start("approve")
    assert models.wait_for(4, seconds=90)
    second.kill()
    alone.start_worker()
    code, out = ended(going)
    assert code == 0, out
    assert sum(models.asked.values()) == calls + 2
    here, there = Way.left(local), Way.left(alone.path)
    assert there.documents() == here.documents()
    heard = [answers_heard(file) for file in alone.folder.rglob("journal.jsonl")]
    assert [set(each.values()) for each in heard] == [{1}, {1}]


def test_a_command_says_that_no_worker_answers_and_goes_on_when_one_does(alone: Clone) -> None:
    worker = alone.start_worker()
    assert alone.begin(TASK).code == 3
    worker.kill()
    worker.communicate()
    waiting = alone.start("approve")
    assert waiting.stdout is not None
    said = next((line for line in waiting.stdout if "No worker has answered yet" in line), "")
    alone.start_worker()
    code, out = ended(waiting)
    assert (code, said != "") == (0, True), out


def test_a_batch_is_waited_for_by_a_timer_and_each_question_is_handed_in_once(
    place: Clone, provider: BatchServer
) -> None:
    place.environ |= {
        "FORGE_BOT_MODEL": "anthropic:claude-sonnet-5-5",
        "ANTHROPIC_BASE_URL": provider.url,
        "ANTHROPIC_API_KEY": "sk-team-first",
    }
    first = place.start_worker()
    said = place.begin(TASK, "--batch")
    assert (said.code, "MODEL-009" in said.err) == (3, True), said.out + said.err
    assert "goes on by itself in 1 minute" in said.out
    assert 60 in place.timers()
    assert place.git("show", f"{place.branch}:.specs/{place.run}/batches.jsonl", at=place.remote)
    first.kill()
    place.start_worker()
    while "MODEL-009" in said.err:
        assert provider.end() == 1, said.err
        said = place.forge("resume")
    assert (said.code, "Human Reviews Design" in said.out) == (3, True), said.out + said.err
    assert set(Counter(provider.handed_in).values()) == {1}
