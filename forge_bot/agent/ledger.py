"""The money and tokens of a run while calls are under way: one ledger for all parallel tasks."""

import asyncio
from collections.abc import Callable, Sequence
from decimal import Decimal

from forge_bot.agent.models.base import ChatMessage, prompt_tokens
from forge_bot.agent.models.known_providers import BATCH_PRICE, worst_case
from forge_bot.engine.budget import Budget
from forge_bot.errors import ModelUnavailable
from forge_bot.values import Frozen

PriceOf = Callable[[str, int, int], Decimal | None]
MayAsk = Callable[[Decimal, Decimal], None]
"""Raises ModelUnavailable where a call may not begin, by the committed dollars and its own."""


class Reserved(Frozen):
    """The worst case reserved for one call. A model without a known price reserves no money."""

    amount: Decimal
    price_known: bool


class Ledger:
    """Reserves before each call, settles after it. It belongs to one event loop.

    `price` returns the worst case of a call in US dollars by model name, input tokens and output
    tokens, or None. `may_ask` decides about each call beside the budget.
    """

    def __init__(
        self,
        budget: Budget,
        price: PriceOf = worst_case,
        may_ask: MayAsk = lambda _committed, _dollars: None,
    ) -> None:
        self.budget = budget
        self._price = price
        self._may_ask = may_ask
        self._limit: ModelUnavailable | None = None
        self._settled = asyncio.Event()

    async def reserve(
        self,
        key: str,
        model: str,
        messages: Sequence[ChatMessage],
        output_tokens: int,
        *,
        batched: bool = False,
    ) -> Reserved | None:
        """Reserve the worst case of one call. Return None if a cap forbids it. Raises
        ModelUnavailable after `close`, and where no model may be asked.

        While other calls hold reservations that they will hardly need, it waits for them instead of
        giving up. `batched` calls cost half, and do not wait, since that could take hours.
        """
        asked = prompt_tokens(messages)
        tokens = asked + output_tokens
        amount = self._price(model, asked, output_tokens)
        dollars = (amount or Decimal(0)) * (BATCH_PRICE if batched else 1)
        while (granted := self.budget.reserve(key, dollars, tokens)) is None:
            if batched or not self.budget.reserved:
                return None
            if not self.budget.fits_alone(dollars, tokens):
                return None
            await self._settled.wait()
        if self._limit is not None:
            raise self._limit
        self._may_ask(self.budget.committed, dollars)
        self.budget = granted
        return Reserved(amount=dollars, price_known=amount is not None)

    def close(self, error: ModelUnavailable) -> None:
        """Let no call begin any more if the error says that the provider's limit is reached: the
        others of a wave would only run into it too.
        """
        if error.trouble.cause in {"rate-limited", "no-credit"}:
            self._limit = error

    def settle(
        self, key: str, cost: Decimal | None, tokens: int = 0, unanswered: Decimal = Decimal(0)
    ) -> None:
        """Replace the reservation by the real cost; `unanswered` is the most that a call without an
        answer may cost.

        A call without a reservation here only adds its cost.
        """
        self.budget = self.budget.settle(key, cost or Decimal(0), tokens, unanswered)
        done, self._settled = self._settled, asyncio.Event()
        done.set()
