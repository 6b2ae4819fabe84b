"""The money of a run while calls are under way: one ledger for all tasks that work side by side."""

import asyncio
from collections.abc import Callable, Sequence
from decimal import Decimal

from forge_bot.agent.models.base import ChatMessage, prompt_tokens
from forge_bot.agent.prices import worst_case
from forge_bot.engine.budget import Budget
from forge_bot.values import Frozen

PriceOf = Callable[[str, int, int], Decimal | None]


class Reserved(Frozen):
    """The worst case set aside for one call. Nothing is set aside for a model without a known price."""

    amount: Decimal
    price_known: bool


class Ledger:
    """Reserves before each call, settles after it. Belongs to one event loop.

    `price` gives the worst case of a call in US dollars by model name, input tokens and output tokens, or None.
    """

    def __init__(self, budget: Budget, price: PriceOf = worst_case) -> None:
        self.budget = budget
        self._price = price
        self._unpriced: dict[str, None] = {}
        self._settled = asyncio.Event()

    @property
    def unknown_prices(self) -> tuple[str, ...]:
        """Models that were asked although nobody knows what they cost: a cap cannot hold them back."""
        return tuple(self._unpriced)

    async def reserve(self, key: str, model: str, messages: Sequence[ChatMessage], output_tokens: int) -> Reserved | None:
        """The worst case of one call, set aside; None if the cap forbids it.

        While other calls hold reservations that they will hardly need, this one waits for them instead of giving up.
        """
        amount = self._price(model, prompt_tokens(messages), output_tokens)
        if amount is None:
            self._unpriced[model] = None
            return Reserved(amount=Decimal(0), price_known=False)
        while (granted := self.budget.reserve(key, amount)) is None:
            if self.budget.cap is None or not self.budget.reserved or self.budget.spent + amount > self.budget.cap:
                return None
            await self._settled.wait()
        self.budget = granted
        return Reserved(amount=amount, price_known=True)

    def settle(self, key: str, cost: Decimal | None) -> None:
        """What the call really cost replaces its reservation; a call that was not reserved here only adds its cost."""
        self.budget = self.budget.settle(key, cost or Decimal(0))
        done, self._settled = self._settled, asyncio.Event()
        done.set()
