"""A run in a thread whose models are asked in batches: each job is another machine."""

from collections import Counter
from collections.abc import Iterator

import pytest

from forge_bot.forge import WORKFLOW
from tests.bot.stage import PERMISSIONS, Job, Stage
from tests.fakes.batches import BatchServer

pytestmark = pytest.mark.slow


@pytest.fixture
def provider() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


def begun(stage: Stage, provider: BatchServer) -> Job:
    """A run that waits for its first batch."""
    stage.environ |= {
        "FORGE_BOT_MODEL": "anthropic:claude-sonnet-5-5",
        "ANTHROPIC_BASE_URL": provider.url,
        "ANTHROPIC_API_KEY": "sk-team-first",
    }
    job = stage.say("/forge --batch --effort S")
    assert job is not None
    return job


def test_a_wake_and_the_next_command_collect_the_batches_of_earlier_jobs(
    stage: Stage, provider: BatchServer
) -> None:
    job = begun(stage, provider)
    assert (job.code, job.outcome) == (0, "waiting"), job.log
    assert any("The model answers in a batch" in said for said in stage.said())
    stage.permissions = PERMISSIONS | {"actions": "write"}
    stage.hub.commit(stage.repo, "main", {WORKFLOW: "on: push\n"})
    assert "#1: goes on" in stage.wake()
    assert provider.end() == 1
    job = stage.dispatched()
    assert (job.code, job.outcome) == (0, "waiting"), job.log
    assert provider.end() == 1
    retried = stage.say("/forge retry")
    assert retried is not None
    assert (retried.code, retried.outcome) == (0, "waiting"), retried.log
    assert set(Counter(provider.handed_in).values()) == {1}
    assert stage.state["flags"]["batch"] is True
