"""The steps of a run that an issue leads on a server: each is an activity, and none is done twice."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge_bot.temporal.thread_address import thread_workflow_id
from tests.actions.runner import below
from tests.bot.stage import heard
from tests.fakes.agents import AgentServer
from tests.fakes.github import FakeGitHub
from tests.temporal.scene import Server
from tests.temporal.scene import server as own_server
from tests.temporal.steps_begun import StepsBegun
from tests.temporal.test_killed_workers import answers_heard
from tests.temporal.test_threads_on_server import history, steps_of
from tests.temporal.thread_scene import ServedStage, served

pytestmark = pytest.mark.usefixtures("server")


@pytest.fixture
def models() -> Iterator[AgentServer]:
    with AgentServer() as running:
        yield running


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Server]:
    with own_server(tmp_path / "server") as it:
        yield it


@pytest.fixture
def stage(
    github: FakeGitHub, tmp_path: Path, own: Server, models: AgentServer
) -> Iterator[ServedStage]:
    with served(github, tmp_path, own.address) as it:
        it.hub.add_label(it.repo, it.issue, "forge:S", by="maint")
        it.environ |= {
            "FORGE_BOT_MODEL": "openai-chat:fake",
            "OPENAI_BASE_URL": f"{models.url}/v1",
            "OPENAI_API_KEY": "sk-none",
        }
        yield it


def test_what_somebody_says_during_a_step_is_heard_before_the_next_one(
    stage: ServedStage, models: AgentServer
) -> None:
    stage.environ["FORGE_BOT_EDIT_SECONDS"] = "0"
    # Whichever of the two has the visit holds the run until it hears of it.
    stage.start_worker()
    stage.start_worker()
    # What the first step leaves is shown in the tracking comment before the step ends.
    stage.hub.faults.meanwhile(
        "PATCH .*/issues/comments", lambda: stage.say("/forge abandon"), skip=1
    )
    assert heard(stage.label()).code == 0
    assert stage.visited() == "abandoned", stage.log
    assert stage.state["currentPhaseStatus"] == "abandoned"
    steps = steps_of(history(stage))
    assert steps.count("visit") == 2, steps
    assert steps[-1] == "visit"
    assert "architect" not in models.asked


@pytest.mark.slow
def test_a_worker_that_is_stopped_leaves_no_visit_behind_and_another_one_goes_on(
    stage: ServedStage, models: AgentServer, tmp_path: Path
) -> None:
    (tmp_path / "tmp").mkdir()
    stage.environ["TMPDIR"] = str(tmp_path / "tmp")
    models.will_hang = 1
    worker = stage.start_worker()
    assert heard(stage.label()).code == 0
    assert models.wait_for(1, seconds=90)
    started = [pid for pid, _ in below(worker.pid)]
    assert len(started) > 1
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=60) == 0
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
    assert not [*(tmp_path / "tmp").glob("forge-bot-visit-*")]
    stage.start_worker()
    while (word := stage.visited()) != "waiting":
        assert word == "cancelled", stage.log
    assert sum(models.asked.values()) == 3
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1


@pytest.mark.parametrize(
    ("victim", "every", "first"),
    [
        ("worker", 8, 4),
        # Together they kill at every step, each in about three minutes on two processors.
        *(pytest.param("worker", 3, first, marks=pytest.mark.slow) for first in range(3)),
        pytest.param("server", 1, 0, marks=pytest.mark.slow),
    ],
)
def test_a_worker_or_the_server_killed_at_steps_of_a_thread_asks_and_says_nothing_twice(
    stage: ServedStage, own: Server, models: AgentServer, victim: str, every: int, first: int
) -> None:
    name = thread_workflow_id(stage.hub.url, stage.repo.full_name, stage.issue.number)
    worker = stage.start_worker()
    jobs = [stage.begun(stage.comment("/forge"))]
    steps, killed, ended = list[str](), list[str](), ""
    with StepsBegun(own, lambda: name) as begun:
        while ended != "done":
            if step := begun.next_step():
                if len(steps) % every == first:
                    killed.append(step)
                    if victim == "server":
                        own.kill()
                        own.start()
                    else:
                        worker.kill()
                        worker.wait()
                        worker = stage.start_worker()
                steps.append(step)
            ended = stage.ended_visit()
            if ended == "waiting" and len(jobs) == 1:
                jobs.append(stage.begun(stage.comment("/approve")))
            if victim == "server":
                # A job that finds no server says so, and is another test's.
                jobs[-1].wait()
    sys.stdout.write(f"{len(steps)} steps, killed at {killed}\n")
    logs = [job.communicate()[0] for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0], logs
    assert len(steps) > 12
    (journal,) = stage.folder.rglob("journal.jsonl")
    answers = answers_heard(journal)
    assert set(answers.values()) == {1}
    assert len(answers) == 4
    assert sum(models.asked.values()) <= len(answers) + len(killed)
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    assert stage.pull.pull is not None
    assert stage.pull.pull.head == stage.offered
