"""Questions of several runs, each in a thread with an event loop of its own, come into one batch."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from forge_bot.agent.model_answers import AnswerKind
from forge_bot.agent.models.base import ChatMessage, MessageRole, ModelCall, ReplayKey
from forge_bot.agent.models.batch_api import (
    BatchApi,
    BatchingModel,
    BatchQuestion,
    BatchTicket,
    BatchUnclear,
)
from forge_bot.agent.models.open_model import open_model
from forge_bot.agent.shared_batches import GatheredBatches
from forge_bot.errors import ForgeError
from forge_bot.runs.wall_clock import now
from forge_bot.values import Tier
from tests.fakes.batches import BatchServer

pytestmark = pytest.mark.xdist_group("providers")

SONNET, GPT = "anthropic:claude-sonnet-5-5", "openai:gpt-6-luna"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    with BatchServer() as server:
        for name, path in (("ANTHROPIC", ""), ("OPENAI", "/v1")):
            monkeypatch.setenv(f"{name}_BASE_URL", f"{server.url}{path}")
            monkeypatch.setenv(f"{name}_API_KEY", "sk-team-first")
        yield server


def question(name: str) -> BatchQuestion:
    return BatchQuestion(
        id=name,
        call=ModelCall(
            key=ReplayKey("architect", "design", "1", "document"),
            messages=(ChatMessage(role=MessageRole.USER, text=f"Design {name}."),),
            kind=AnswerKind.DOCUMENT,
            output_tokens=1000,
            tier=Tier.STANDARD,
        ),
    )


def batches_of(spec: str) -> BatchApi:
    model = open_model(spec)
    assert isinstance(model, BatchingModel)
    assert model.batches is not None
    return model.batches


class OneRun(threading.Thread):
    """A run that hands in questions, and what it was told."""

    def __init__(self, gathered: GatheredBatches, spec: str, *names: str) -> None:
        super().__init__()
        self.told: BatchTicket | Exception | None = None
        self._gathered, self._api = gathered, batches_of(spec)
        self._asked = asyncio.run(self._api.encode([question(name) for name in names]))
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.new_event_loop()

    def run(self) -> None:
        self._task = self._loop.create_task(self._hand_in())
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        finally:
            self._loop.close()

    async def _hand_in(self) -> None:
        try:
            self.told = await self._gathered.hand_in(self._api, self._asked)
        except (ForgeError, BatchUnclear) as error:
            self.told = error

    def stop(self) -> None:
        """Cancel it, as a worker that is stopped does."""
        assert self._task is not None
        self._loop.call_soon_threadsafe(self._task.cancel)
        self.join(60)


def begun(*runs: OneRun) -> None:
    for each in runs:
        each.start()


def ended(*runs: OneRun) -> list[BatchTicket | Exception | None]:
    for each in runs:
        each.join(60)
    return [each.told for each in runs]


def asked_for(provider: BatchServer) -> list[list[str]]:
    return sorted(sorted(each.questions) for each in provider.batches)


def test_runs_that_ask_within_the_time_share_a_batch_for_each_model(provider: BatchServer) -> None:
    gathered = GatheredBatches(1)
    runs = [
        OneRun(gathered, SONNET, "a", "b"),
        OneRun(gathered, SONNET, "c"),
        OneRun(gathered, GPT, "d"),
        OneRun(gathered, SONNET, "e"),
    ]
    begun(*runs)
    first, second, other, third = ended(*runs)
    assert first == second == third != other
    assert isinstance(first, BatchTicket)
    assert first.size == 4
    assert asked_for(provider) == [["a", "b", "c", "e"], ["d"]]


def test_runs_with_keys_of_two_accounts_share_nothing(
    provider: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered = GatheredBatches(1)
    first = OneRun(gathered, SONNET, "a")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-others-first")
    runs = first, OneRun(gathered, SONNET, "b")
    begun(*runs)
    ended(*runs)
    assert asked_for(provider) == [["a"], ["b"]]


@pytest.mark.parametrize("which", [0, 1])
def test_a_run_that_is_stopped_before_takes_its_questions_back_and_the_others_go_on(
    provider: BatchServer, which: int
) -> None:
    gathered = GatheredBatches(1)
    runs = [OneRun(gathered, SONNET, name) for name in ("a", "b")]
    begun(*runs)
    assert not provider.wait_for_batches(1, seconds=0.3)
    runs[which].stop()
    told = ended(*runs)
    assert told[which] is None
    assert isinstance(told[1 - which], BatchTicket)
    assert asked_for(provider) == [["b" if which == 0 else "a"]]


def test_each_run_finds_a_batch_whose_answer_was_lost_by_its_own_question(
    provider: BatchServer,
) -> None:
    gathered, provider.loses_reply = GatheredBatches(1), True
    runs = OneRun(gathered, SONNET, "a"), OneRun(gathered, SONNET, "b")
    begun(*runs)
    assert provider.wait_for_batches(1)
    provider.release()
    told = ended(*runs)
    assert all(isinstance(each, BatchUnclear) for each in told), told
    provider.end(all="expired")
    hour, at = timedelta(hours=1), now()

    async def found() -> list[BatchTicket | None]:
        api = batches_of(SONNET)
        return [await api.find(question(name), at - hour, at + hour) for name in ("a", "b", "c")]

    first, second, missing = asyncio.run(found())
    assert first == second
    assert first is not None
    assert (first.size, missing) == (2, None)
    assert asked_for(provider) == [["a", "b"]]


def test_a_provider_that_is_down_is_told_to_every_run(provider: BatchServer) -> None:
    provider.broken = 529
    gathered = GatheredBatches(1)
    runs = OneRun(gathered, SONNET, "a"), OneRun(gathered, SONNET, "b")
    begun(*runs)
    told = ended(*runs)
    assert [type(each).__name__ for each in told] == ["BatchUnclear", "BatchUnclear"]
