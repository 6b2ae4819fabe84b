"""Providers over exchanges in the shapes that they publish, through the real adapter, with the
network blocked.

Chat completions: https://platform.openai.com/docs/api-reference/chat/object Responses:
https://platform.openai.com/docs/api-reference/responses/object Messages:
https://docs.claude.com/en/api/messages, and its errors: https://docs.claude.com/en/api/errors
"""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import vcr

from forge_bot.agent.models.base import FinishReason
from forge_bot.errors import KeyRefused
from tests.agent.scene import document
from tests.agent.test_provider import call, opened

PUBLISHED = Path(__file__).parent / "cassettes" / "published"
SPECS = {
    "chat": "openai-chat:gpt-6-luna",
    "responses": "openai:gpt-6-luna",
    "messages": "anthropic:claude-sonnet-5-5",
}
pytestmark = [pytest.mark.block_network(allowed_hosts=["nobody.invalid"])]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "key-of-the-test")
    for variable in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)


@contextmanager
def replayed(name: str) -> Generator[Any]:
    player: Any = vcr
    played: AbstractContextManager[Any] = player.use_cassette(
        str(PUBLISHED / f"{name}.yaml"),
        record_mode="none",
        match_on=["method", "scheme", "host", "path"],
    )
    with played as cassette:
        yield cassette


@pytest.mark.parametrize("name", SPECS)
async def test_what_a_provider_publishes_is_understood_from_an_answer_to_a_refused_key(
    name: str,
) -> None:
    model = opened(SPECS[name], retries=1)
    with replayed(name) as cassette:
        answer = await model.ask(call())
        assert (answer.text, answer.finish) == (document("# ✓\n"), FinishReason.STOP)
        used = answer.usage
        assert (used.input_tokens, used.cached_tokens, used.output_tokens) == (1_117, 1_024, 46)
        assert (await model.ask(call())).finish is FinishReason.LENGTH
        assert (await model.ask(call())).finish is FinishReason.REFUSAL
        assert cassette.play_count == 3
        assert (await model.ask(call())).text == document("# ✓\n"), (
            "what was too much is asked once more"
        )
        assert cassette.play_count == 5
        with pytest.raises(KeyRefused):
            await model.ask(call())
        assert cassette.all_played


def test_every_folder_of_cassettes_is_listed_with_its_origin() -> None:
    tests = Path(__file__).parents[1]
    table = (tests / "cassettes.md").read_text(encoding="utf-8")
    folders = {str(file.parent.relative_to(tests)) for file in tests.rglob("cassettes/*/*.yaml")}
    listed = {line.split("`")[1] for line in table.splitlines() if line.startswith("| `")}
    assert folders <= listed
    assert "published" in table
