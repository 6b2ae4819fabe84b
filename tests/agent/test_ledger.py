"""Money: the worst case is set aside before a call, and parallel calls never pass the cap
together.
"""

import asyncio
from decimal import Decimal

import pytest

from forge_bot.agent.ledger import Ledger
from forge_bot.agent.models.base import ChatMessage, MessageRole, prompt_tokens
from forge_bot.agent.models.known_providers import worst_case
from forge_bot.engine.budget import Budget
from tests.agent.scene import priced

QUESTION = (ChatMessage(role=MessageRole.USER, text="Why?"),)


def ledger(cap: str, price: str | None = "0.40") -> Ledger:
    return priced(cap, price)


async def reserve(book: Ledger, key: str) -> bool:
    return await book.reserve(key, "a:b", QUESTION, 100) is not None


async def test_a_call_is_reserved_at_its_worst_and_settled_at_its_real_cost() -> None:
    book = ledger("1.00")
    assert await reserve(book, "one")
    assert book.budget.committed == Decimal("0.40")
    book.settle("one", Decimal("0.05"))
    assert (book.budget.spent, book.budget.reserved) == (Decimal("0.05"), ())


async def test_parallel_calls_never_reserve_more_than_the_cap_and_wait_for_one_another() -> None:
    book = ledger("1.00")
    most = Decimal(0)

    async def call(key: str) -> None:
        nonlocal most
        assert await reserve(book, key)
        most = max(most, book.budget.committed)
        for _ in range(3):
            await asyncio.sleep(0)
        book.settle(key, Decimal("0.02"))

    async with asyncio.timeout(5):
        await asyncio.gather(*(call(str(number)) for number in range(8)))
    assert most <= Decimal("1.00")
    assert book.budget.spent == Decimal("0.16")


async def test_a_call_that_waits_is_refused_when_the_others_turn_out_too_dear() -> None:
    book = ledger("1.00")
    assert await reserve(book, "one")
    assert await reserve(book, "two")
    waiting = asyncio.create_task(reserve(book, "three"))
    await asyncio.sleep(0)
    assert not waiting.done()
    book.settle("one", Decimal("0.70"))
    async with asyncio.timeout(5):
        assert not await waiting


async def test_a_model_without_a_price_is_asked_and_nothing_is_set_aside() -> None:
    book = ledger("0.01", price=None)
    reserved = await book.reserve("one", "openai-chat:qwen", QUESTION, 100)
    assert reserved is not None
    assert not reserved.price_known


async def test_a_cap_of_tokens_holds_also_where_the_price_is_unknown() -> None:
    most = prompt_tokens(QUESTION) + 100
    book = Ledger(Budget(token_cap=2 * most - 1), lambda _model, _input, _output: None)
    assert await reserve(book, "one")
    waiting = asyncio.create_task(reserve(book, "two"))
    await asyncio.sleep(0)
    assert not waiting.done(), "the first may use less than it could"
    book.settle("one", None, most)
    async with asyncio.timeout(5):
        assert not await waiting
    assert (book.budget.spent, book.budget.tokens) == (0, most)


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("anthropic:claude-sonnet-5-5", "anthropic"),
        ("openai-chat:gpt-6-luna", "openai"),
        ("openai:gpt-6-luna", "openai"),
    ],
)
def test_the_worst_case_is_the_listed_price_with_every_token_written_to_the_cache(
    model: str, listed: str
) -> None:
    from genai_prices import Usage, calc_price

    plain = calc_price(
        Usage(input_tokens=10_000, output_tokens=1_000), model.partition(":")[2], provider_id=listed
    ).total_price
    worst = worst_case(model, 10_000, 1_000)
    assert worst is not None
    assert 0 < plain <= worst <= 2 * plain


def test_records_and_scripts_are_free_and_local_models_have_no_known_price() -> None:
    assert worst_case("scripted:demo.yaml", 10_000, 1_000) == 0
    assert worst_case("replay:run.jsonl", 10_000, 1_000) == 0
    assert worst_case("ollama:qwen", 10_000, 1_000) is None
    assert worst_case("anthropic:claude-of-the-future", 10_000, 1_000) is None


def test_a_prompt_is_estimated_generously_in_every_script() -> None:
    assert prompt_tokens((ChatMessage(role=MessageRole.USER, text="a" * 3_500),)) >= 1_000
    assert prompt_tokens((ChatMessage(role=MessageRole.USER, text="語" * 3_500),)) >= 3_000
