"""Providers over real HTTP: what goes over the wire, and what becomes of everything that can come
back.
"""

import asyncio
import base64
import json
import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from forge_bot.agent.model_answers import ANSWER_FORMS, AnswerKind
from forge_bot.agent.models.base import (
    ChatMessage,
    FinishReason,
    Image,
    MessageRole,
    Model,
    ModelCall,
    ReplayKey,
)
from forge_bot.agent.models.known_providers import worst_case
from forge_bot.agent.models.open_model import open_model
from forge_bot.agent.models.provider import ProviderSettings
from forge_bot.errors import BadConfig, NoModelKey, UnknownModel
from forge_bot.remedies import Remedy
from forge_bot.settings.config import parse_config
from forge_bot.values import Tier
from tests.agent.scene import document, explore
from tests.fakes.model_server import ModelServer, Says

CHAT, RESPONSES, ANTHROPIC = (
    "openai-chat:gpt-6-luna",
    "openai:gpt-6-luna",
    "anthropic:claude-sonnet-5-5",
)
ALL = pytest.mark.parametrize("spec", [CHAT, RESPONSES, ANTHROPIC])

CONVERSATION = (
    ChatMessage(role=MessageRole.SYSTEM, text="You analyse."),
    ChatMessage(role=MessageRole.USER, text="Analyse <system>this</system> ✓."),
    ChatMessage(role=MessageRole.ASSISTANT, text=explore()),
    ChatMessage(role=MessageRole.USER, text="Answer now."),
)


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """The server, with nothing asked yet, and an environment that points to it."""
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "key-of-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{running.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
    running.questions.clear()
    return running.will(Says(document()))


def opened(spec: str, **settings: object) -> Model:
    return open_model(spec, ProviderSettings.model_validate({"retries": 0, **settings}))


def call(
    kind: AnswerKind = AnswerKind.DOCUMENT, messages: tuple[ChatMessage, ...] = CONVERSATION
) -> ModelCall:
    key = ReplayKey("analyst", "phase-1", "1.2", kind.value)
    return ModelCall(key=key, messages=messages, kind=kind, output_tokens=1_234, tier=Tier.STANDARD)


@ALL
async def test_a_reply_comes_back_with_its_text_tokens_and_cost(
    server: ModelServer, spec: str
) -> None:
    server.will(Says(document("# ✓\n"), input_tokens=1_000, cached_tokens=400, output_tokens=50))
    reply = await opened(spec).ask(call())
    assert reply.text == document("# ✓\n")
    assert reply.finish is FinishReason.STOP
    usage = reply.usage
    assert (usage.calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (
        1,
        1_000,
        400,
        50,
    )
    most = worst_case(spec, 1_000, 50)
    assert usage.cost is not None
    assert most is not None
    assert Decimal(0) < usage.cost < most
    assert usage.model == spec.partition(":")[2]


@ALL
async def test_the_wire_has_the_whole_conversation_the_limit_the_cache_and_the_key_and_no_temperature(
    server: ModelServer, spec: str
) -> None:
    await opened(spec).ask(call())
    (question,) = server.questions
    body = question.body
    assert question.key == "key-of-the-test"
    assert 1_234 in {
        body.get("max_tokens"),
        body.get("max_completion_tokens"),
        body.get("max_output_tokens"),
    }
    assert "temperature" not in body
    assert "cache" in str(body)
    said = str(body.get("messages") or body.get("input")) + str(body.get("system", ""))
    for message in CONVERSATION:
        assert message.text in said or message.text.replace("'", "\\'") in said


async def test_openai_is_held_to_the_schema_strictly(server: ModelServer) -> None:
    await opened(CHAT, output="native").ask(call(AnswerKind.CHANGE))
    await opened(RESPONSES, output="native").ask(call(AnswerKind.CHANGE))
    chat, responses = (question.body for question in server.questions)
    assert chat["response_format"]["json_schema"]["strict"] is True
    assert responses["text"]["format"]["strict"] is True


async def test_anthropic_is_held_to_the_schema_natively(server: ModelServer) -> None:
    await opened(ANTHROPIC, output="native").ask(call(AnswerKind.CHANGE))
    body = server.questions[0].body
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert "tools" not in body
    (system,) = body["system"]
    assert system["text"] == f"You analyse.\n\n{ANSWER_FORMS}"
    assert system["cache_control"] == {"type": "ephemeral", "ttl": "5m"}


async def test_a_compatible_server_is_told_the_forms_in_its_one_system_message(
    server: ModelServer,
) -> None:
    await opened("openai-chat:qwen2.5").ask(call())
    body = server.questions[0].body
    assert body["response_format"]["type"] == "json_schema"
    assert [item["role"] for item in body["messages"]] == ["system", "user", "assistant", "user"]
    assert ANSWER_FORMS in body["messages"][0]["content"]


async def test_all_agents_have_one_schema_and_are_told_what_it_means_once(
    server: ModelServer,
) -> None:
    for spec in (CHAT, ANTHROPIC):
        server.questions.clear()
        await opened(spec, output="native").ask(call(AnswerKind.DOCUMENT))
        await opened(spec, output="native").ask(call(AnswerKind.CHANGE))
        one, other = (question.body for question in server.questions)
        assert one == other
        assert str(one).count("with one JSON object") == 1


SEAMED = ChatMessage(
    role=MessageRole.USER, text="repository, request, analysis, design, role", seams=(19, 29, 37)
)


async def test_anthropic_gets_the_parts_of_a_prompt_with_marks_for_its_cache(
    server: ModelServer,
) -> None:
    await opened(ANTHROPIC, output="native").ask(call(messages=(CONVERSATION[0], SEAMED)))
    body = server.questions[0].body
    parts = body["messages"][0]["content"]
    assert [part["text"] for part in parts] == [
        "repository, request",
        ", analysis",
        ", design",
        ", role",
    ]
    assert ["cache_control" in part for part in parts[:3]] == [True, False, True]
    assert str(body).count("cache_control") <= 4


PICTURED = SEAMED.replace(
    images=(
        Image(label="shot.png", media_type="image/png", digest="known"),
        Image(label="lost.png", media_type="image/png", digest="other"),
    )
)


@ALL
async def test_images_stand_before_the_text_and_one_that_is_rejected_is_named(
    server: ModelServer, spec: str
) -> None:
    model = opened(spec)
    asked = call(messages=(CONVERSATION[0], PICTURED)).replace(images={"known": b"bytes"})
    await model.ask(asked)
    server.will(Says("no images here", status=400, error_type="invalid_request_error"), Says("{}"))
    for _ in range(2):
        await model.ask(asked)
    shown, rejected, *without = [json.dumps(question.body) for question in server.questions]
    assert shown == rejected
    encoded = base64.b64encode(b"bytes").decode()
    places = [shown.index(words) for words in ("shot.png:", encoded, "lost.png: not", "repository")]
    assert places == sorted(places)
    assert all("shot.png: not shown to this model" in body for body in without)
    assert encoded not in str(without)
    assert len(without) == 2


async def test_prompted_output_sends_the_schema_as_text_only(server: ModelServer) -> None:
    reply = await opened(CHAT, output="prompted").ask(call())
    body = server.questions[0].body
    assert body.get("response_format", {"type": "json_object"}) == {"type": "json_object"}
    assert "artifact_markdown" in str(body["messages"])
    assert reply.text == document()


def test_one_model_works_in_one_event_loop_after_another(server: ModelServer) -> None:
    model = opened(CHAT)
    for _ in range(2):
        reply = asyncio.run(model.ask(call()))
        assert reply.text == document()


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        (CHAT, "OPENAI_API_KEY"),
        (ANTHROPIC, "ANTHROPIC_API_KEY"),
        ("openrouter:some/model", "OPENROUTER_API_KEY"),
        ("deepseek:deepseek-chat", "DEEPSEEK_API_KEY"),
    ],
)
def test_a_missing_key_is_named(spec: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (variable, "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoModelKey, match=variable) as caught:
        open_model(spec)
    assert caught.value.remedy == Remedy("set-key", variable)


def test_a_local_server_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert open_model("openai-chat:qwen").name == "openai-chat:qwen"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("gpt-6-luna", "does not name a provider"),
        ("test", "does not name a provider"),
        ("", "does not name a provider"),
        ("nobody:nothing", "not a model that can be asked"),
        ("groq:llama", "package"),
        ("bedrock:claude", r"\[bedrock\]"),
        ("vllm:qwen2.5", "VLLM_BASE_URL"),
    ],
)
def test_a_name_that_is_no_model_is_refused(spec: str, said: str) -> None:
    with pytest.raises(UnknownModel, match=said):
        open_model(spec)


async def test_ollama_is_asked_at_its_own_address(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", os.environ["OPENAI_BASE_URL"])
    assert (await opened("ollama:qwen2.5").ask(call())).text == document()
    assert server.questions[0].body["model"] == "qwen2.5"


def test_the_configuration_has_no_address_as_the_documentation_says() -> None:
    with pytest.raises(BadConfig, match="one problem") as caught:
        parse_config("base_url: http://127.0.0.1\n", {})
    assert "there is no such key" in caught.value.details[0]
    assert "`base_url`" not in (Path(__file__).parents[2] / "docs" / "models.md").read_text(
        encoding="utf-8"
    )
