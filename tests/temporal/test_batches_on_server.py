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
            "FORGE_BOT_BATCH_SECONDS": "0",
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
    assert "checkpoint" in said.out + said.err
    assert set(Counter(provider.handed_in).values()) == {1}


def test_two_runs_of_a_worker_share_a_batch_and_each_collects_its_own_answer(
    place: Clone, provider: BatchServer
) -> None:
    place.start_worker({**place.environ, "FORGE_BOT_BATCH_SECONDS": "30"})
    tasks = (TASK, "Somebody is on call twice in a row")
    runs = [place.start(*place.beginning(task, "--batch")) for task in tasks]
    said = [each.communicate(timeout=180)[0] for each in runs]
    assert [each.returncode for each in runs] == [3, 3], said
    (batch,) = provider.batches
    assert len(batch.questions) == 2
    asked = [next(name for name in batch.questions if name in notes) for notes in noted(place)]
    assert sorted(asked) == sorted(batch.questions)
    over = place.forge("abandon", "--run", runs_of(place)[0])
    assert over.code == 6, over.out + over.err
    assert not batch.cancelled, "the other run waits for it"


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


def test_of_a_batch_that_comes_back_partly_only_the_rest_is_handed_in_again(
    place: Clone, provider: BatchServer
) -> None:
    patient = place.start_worker({**place.environ, "FORGE_BOT_BATCH_SECONDS": "30"})
    tasks = (TASK, "Somebody is on call twice in a row")
    runs = [place.start(*place.beginning(task, "--batch")) for task in tasks]
    said = [each.communicate(timeout=180)[0] for each in runs]
    analyst, other = provider.handed_in
    assert (analyst == other, len(provider.batches)) == (True, 1), said
    patient.kill()
    place.start_worker()
    provider.end(first="expired")
    for run in runs_of(place):
        assert place.forge("resume", "--run", run).code == 3
    asked = Counter(provider.handed_in)
    assert asked.pop(analyst) == 3, "the one that expired, once more"
    assert list(asked.values()) == [1], "the other run went on with its answer"


def runs_of(place: Clone) -> list[str]:
    """The branches of the runs, where they were pushed."""
    names = place.git("branch", "--list", "--format=%(refname:short)", "feature/*", at=place.remote)
    return names.split()


def noted(place: Clone) -> list[str]:
    """What each run has noted of its batch, on its branch where it was pushed."""
    branches = runs_of(place)
    folders = [place.git("ls-tree", "--name-only", f"{each}:.specs") for each in branches]
    return [
        place.git("show", f"{branch}:.specs/{folder.split()[-1]}/batches.jsonl", at=place.remote)
        for branch, folder in zip(branches, folders, strict=True)
    ]
