"""A run on a server whose models are asked in batches: the workflow waits, and collects once."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.batches import BatchServer
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, clone
from tests.temporal.scene import server as started

pytestmark = pytest.mark.usefixtures("server")


@pytest.fixture
def provider() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, provider: BatchServer) -> Iterator[Clone]:
    with started(tmp_path / "server") as its_own, clone(tmp_path / "clone", its_own) as it:
        it.environ |= {
            "FORGE_BOT_MODEL": "anthropic:claude-sonnet-5-5",
            "ANTHROPIC_BASE_URL": provider.url,
            "ANTHROPIC_API_KEY": "sk-team-first",
        }
        yield it


def test_a_workflow_waits_for_a_batch_over_another_worker_and_hands_in_each_question_once(
    place: Clone, provider: BatchServer
) -> None:
    first = place.start_worker()
    said = place.begin(TASK, "--batch")
    assert (said.code, "MODEL-009" in said.err) == (3, True), said.out + said.err
    assert place.git("show", f"{place.branch}:.specs/{place.run}/batches.jsonl", at=place.remote)
    first.kill()
    place.start_worker()
    while "MODEL-009" in said.err:
        assert provider.end() == 1, said.err
        said = place.forge("resume")
    assert said.code == 3, said.out + said.err
    assert "Human Reviews Design" in said.out
    assert set(Counter(provider.handed_in).values()) == {1}


def test_a_batch_that_expires_is_handed_in_again_and_that_of_an_abandoned_run_is_cancelled(
    place: Clone, provider: BatchServer
) -> None:
    place.start_worker()
    place.begin(TASK, "--batch")
    provider.end(all="expired")
    said = place.forge("resume")
    assert (said.code, "MODEL-009" in said.err) == (3, True), said.out + said.err
    over = place.forge("abandon")
    assert over.code == 6, over.out + over.err
    assert [each.cancelled for each in provider.batches] == [False, True]
