"""Providers that misbehave on the wire: every failure ends in time, says its reason, and is
repeated as often as it helps.
"""

import json
import os
import socket
import time
from email.utils import formatdate

import pytest

from forge_bot.agent.models.base import FinishReason, Model, ModelReply, PossiblyCharged
from forge_bot.agent.models.open_model import open_model
from forge_bot.agent.models.provider import ProviderSettings
from forge_bot.errors import (
    ContextTooLong,
    ForgeError,
    KeyRefused,
    ModelUnavailable,
    QuestionRejected,
    UnknownModel,
)
from forge_bot.runs.this_process import now
from tests.agent.scene import document
from tests.agent.test_provider import call
from tests.fakes.broken_server import (
    Act,
    BrokenServer,
    cuts,
    cuts_a_chunk,
    hangs,
    leaves,
    replies,
    resets,
    trickles,
)
from tests.fakes.sampled import sampled

SPEC = "openai-chat:gpt-6-luna"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key; and the library behind the provider is imported, so that no test takes the time of
    that for its own.
    """
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-test")
    # Each test sets its own; the one before comes back afterwards.
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    open_model(SPEC)


def model_at(url: str, *, seconds: float = 600.0, retries: int = 0) -> Model:
    """A model whose provider answers at an address."""
    os.environ["OPENAI_BASE_URL"] = url
    return open_model(SPEC, ProviderSettings(seconds=seconds, retries=retries))


def answer(text: str = "", **different: object) -> bytes:
    """A reply's body as OpenAI's chat completions write it."""
    body: dict[str, object] = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "gpt-6-luna",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text or document()},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
    return json.dumps({**body, **different}).encode()


async def ask(server: BrokenServer, *, seconds: float = 5.0, retries: int = 0) -> ModelReply:
    return await model_at(server.url, seconds=seconds, retries=retries).ask(call())


async def failed(act: Act, *, retries: int = 0, seconds: float = 5.0) -> tuple[ForgeError, int]:
    """What a question to such a server ends with, and how many requests it was."""
    with BrokenServer([act]) as server, pytest.raises(ForgeError) as caught:
        await ask(server, seconds=seconds, retries=retries)
    return caught.value, server.count


@pytest.mark.parametrize("act", [hangs, trickles], ids=["silence", "a byte now and then"])
async def test_an_attempt_has_its_time_from_first_byte_to_last(act: Act) -> None:
    began = time.monotonic()
    error, count = await failed(act, seconds=1)
    assert time.monotonic() - began < 20
    assert isinstance(error, PossiblyCharged)
    assert "did not answer within 1 seconds, after 1 attempt" in error.message
    assert count == 1


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (leaves, "disconnected"),
        (resets, "reset by peer"),
        (cuts, "closed connection"),
        (cuts_a_chunk, "closed connection"),
    ],
)
async def test_a_lost_connection_is_tried_again_and_then_told_with_its_reason(
    act: Act, said: str
) -> None:
    error, count = await failed(act, retries=1)
    assert isinstance(error, PossiblyCharged)
    assert said in error.message
    assert "after 2 attempts" in error.message
    assert count == 2


@pytest.mark.parametrize("status", [408, 500, 502, 503, 529])
async def test_a_server_that_fails_once_and_is_good_again_goes_unnoticed(status: int) -> None:
    with BrokenServer(
        [replies(status, b"<html>", "retry-after: 0.01"), replies(200, answer())]
    ) as server:
        assert (await ask(server, retries=4)).text == document()
    assert server.count == 2


@pytest.mark.parametrize("status", sampled([500, 529], 2))
async def test_a_server_that_fails_for_ever_is_asked_as_often_as_configured(status: int) -> None:
    error, count = await failed(replies(status, b"<html>no</html>", "retry-after: 0.01"), retries=2)
    assert type(error) is ModelUnavailable
    assert f"after 3 attempts: it answers with status {status}" in error.message
    assert count == 3


async def test_a_wait_the_provider_asks_for_is_kept() -> None:
    with BrokenServer([replies(429, b"{}", "retry-after: 1"), replies(200, answer())]) as server:
        began = time.monotonic()
        await ask(server, retries=1)
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("3600", "60 minutes"),
        ("86400", "1,440 minutes"),
        ("604800", "10,080 minutes"),
        (formatdate(now().timestamp() + 30 * 86_400, usegmt=True), "43,"),
    ],
    # Written out: a date in the name of a test would be another one in each process that collects
    # it.
    ids=["an hour", "a day", "a week", "a date"],
)
async def test_nobody_sits_through_a_long_wait_it_is_told(header: str, said: str) -> None:
    error, count = await failed(replies(429, b"{}", f"retry-after: {header}"), retries=4)
    assert type(error) is ModelUnavailable
    assert f"asks to wait for {said}" in error.message
    assert count == 1


@pytest.mark.parametrize("header", ["nan", "-5", "soon", "1e999", formatdate(0, usegmt=True)])
async def test_a_wait_that_means_nothing_is_our_own_short_one(header: str) -> None:
    error, count = await failed(replies(429, b"{}", f"retry-after: {header}"), retries=1)
    assert "The rate limit of openai-chat:gpt-6-luna is reached, after 2 attempts." in error.message
    assert count == 2


async def test_nobody_listening_is_told_with_the_reason_and_costs_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    model = model_at(f"http://127.0.0.1:{port}/v1", retries=1)
    with pytest.raises(
        ModelUnavailable, match=r"No connection .* after 2 attempts: .*Connection refused"
    ) as caught:
        await model.ask(call())
    assert type(caught.value) is ModelUnavailable


@pytest.mark.parametrize("url", ["not a url", "ftp://127.0.0.1/v1", "http://"])
async def test_an_address_that_is_none_is_told_as_that(url: str) -> None:
    model = model_at(url)
    with pytest.raises(ModelUnavailable, match=r"(?i)url|protocol|host|address"):
        await model.ask(call())


@pytest.mark.parametrize(
    ("status", "body", "error", "said"),
    [
        (
            401,
            b'{"error": {"message": "wrong key"}}',
            KeyRefused,
            "does not accept the key in OPENAI_API_KEY: wrong key",
        ),
        (
            403,
            b'{"error": {"message": "not for you"}}',
            KeyRefused,
            "does not accept the key in OPENAI_API_KEY: not for you",
        ),
        (
            404,
            b'{"error": {"message": "no", "code": "model_not_found"}}',
            UnknownModel,
            "knows no model openai-chat:gpt-6-luna",
        ),
        (404, b"<html>nginx</html>", UnknownModel, "knows no model openai-chat:gpt-6-luna"),
        (400, b'{"error": {"message": "odd schema"}}', QuestionRejected, "odd schema"),
        (413, b"<html>too large</html>", ForgeError, "openai-chat:gpt-6-luna"),
        (
            400,
            b'{"error": {"message": "long", "code": "context_length_exceeded"}}',
            ContextTooLong,
            "agent.prompt_tokens",
        ),
    ],
)
async def test_what_asking_again_cannot_mend_is_asked_once(
    status: int, body: bytes, error: type[ForgeError], said: str
) -> None:
    caught, count = await failed(replies(status, body), retries=4)
    assert isinstance(caught, error)
    assert said in caught.message
    assert count == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", answer()[:80], b"[]", answer(choices=None), answer(usage={}), b"\xff\xfe"],
    ids=["nothing", "html", "truncated", "list", "null choice", "no counts", "no text"],
)
async def test_a_body_that_is_no_answer_is_perhaps_paid_and_not_asked_again(body: bytes) -> None:
    error, count = await failed(replies(200, body), retries=4)
    assert isinstance(error, PossiblyCharged)
    assert "not what its API promises" in error.message
    assert count == 1


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": -5_000, "completion_tokens": -1, "total_tokens": -5_001},
        {"prompt_tokens": 10**15, "completion_tokens": 10**15, "total_tokens": 2 * 10**15},
    ],
    ids=["missing", "zero", "negative", "giant"],
)
async def test_counts_that_cannot_be_true_are_estimated_so_that_the_budget_holds(
    usage: object,
) -> None:
    with BrokenServer([replies(200, answer(usage=usage))]) as server:
        counted = (await ask(server)).usage
    assert 0 < counted.input_tokens < 10_000
    assert 0 < counted.output_tokens < 1_000
    assert counted.cost is not None
    assert 0 < counted.cost < 1


async def test_an_answer_of_fifty_megabytes_is_cut_and_sent_back_as_too_long() -> None:
    with BrokenServer([replies(200, answer("{" * 50_000_000))]) as server:
        reply = await ask(server, seconds=60)
    assert reply.finish is FinishReason.LENGTH
    assert len(reply.text) == 2_000_000
