"""The money of a run while calls are under way: one ledger for all parallel tasks."""

import asyncio
from collections.abc import Callable, Sequence
from decimal import Decimal

from forge_bot.agent.models.base import ChatMessage, prompt_tokens
from forge_bot.agent.prices import BATCH_PRICE, worst_case
from forge_bot.engine.budget import Budget
from forge_bot.values import Frozen

PriceOf = Callable[[str, int, int], Decimal | None]


class Reserved(Frozen):
    """The worst case reserved for one call. A model without a known price reserves nothing."""

    amount: Decimal
    price_known: bool


class LedgerCrowded(Exception):
    """A call would fit if others cost less than the worst that is reserved for them."""


class Ledger:
    """Reserves before each call, settles after it. It belongs to one event loop.

    `price` returns the worst case of a call in US dollars by model name, input tokens and output
    tokens, or None.
    """

    def __init__(self, budget: Budget, price: PriceOf = worst_case) -> None:
        self.budget = budget
        self._price = price
        self._unpriced: dict[str, None] = {}
        self._settled = asyncio.Event()

    @property
    def unknown_prices(self) -> tuple[str, ...]:
        """The models that were asked without a known price: a cap does not limit them."""
        return tuple(self._unpriced)

    async def reserve(
        self,
        key: str,
        model: str,
        messages: Sequence[ChatMessage],
        output_tokens: int,
        *,
        batched: bool = False,
    ) -> Reserved | None:
        """Reserve the worst case of one call. Return None if the cap forbids it.

        While other calls hold reservations that they will hardly need, it waits for them instead of
        giving up. `batched` calls cost half, and do not wait, since that could take hours: they
        raise LedgerCrowded.
        """
        amount = self._price(model, prompt_tokens(messages), output_tokens)
        if amount is None:
            self._unpriced[model] = None
            return Reserved(amount=Decimal(0), price_known=False)
        amount = amount * BATCH_PRICE if batched else amount
        while (granted := self.budget.reserve(key, amount)) is None:
            if (
                self.budget.cap is None
                or not self.budget.reserved
                or self.budget.spent + amount > self.budget.cap
            ):
                return None
            if batched:
                raise LedgerCrowded
            await self._settled.wait()
        self.budget = granted
        return Reserved(amount=amount, price_known=True)

    def settle(self, key: str, cost: Decimal | None) -> None:
        """Replace the reservation by the real cost.

        A call without a reservation here only adds its cost.
        """
        self.budget = self.budget.settle(key, cost or Decimal(0))
        done, self._settled = self._settled, asyncio.Event()
        done.set()
