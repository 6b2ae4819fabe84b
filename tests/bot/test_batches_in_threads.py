"""A run in a thread whose models are asked in batches: each job is another machine."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.bot.stage import Job, Stage
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


def test_the_next_job_collects_the_batch_of_an_earlier_one(
    stage: Stage, provider: BatchServer
) -> None:
    job = begun(stage, provider)
    assert (job.code, job.outcome) == (0, "waiting"), job.log
    assert any("The model answers in a batch" in said for said in stage.said())
    for _ in range(2):
        assert provider.end() == 1
        job = stage.say("/forge retry")
        assert job is not None
        assert (job.code, job.outcome) == (0, "waiting"), job.log
    assert set(Counter(provider.handed_in).values()) == {1}
    assert stage.state["flags"]["batch"] is True


def test_an_abandoned_run_of_a_thread_cancels_its_batch(
    stage: Stage, provider: BatchServer
) -> None:
    begun(stage, provider)
    job = stage.say("/forge abandon")
    assert job is not None
    assert job.outcome == "abandoned", job.log
    assert [each.cancelled for each in provider.batches] == [True]
