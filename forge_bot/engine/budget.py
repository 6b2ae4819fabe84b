"""The money and the tokens that a run may spend.

Worst cases are reserved before a call; real costs settle them.
"""

from decimal import Decimal

from pydantic import Field

from forge_bot.values import Recorded, unless_empty


class Reservation(Recorded):
    """The maximum cost of one call under way."""

    key: str
    amount: Decimal
    tokens: int = 0


class Budget(Recorded):
    """The limits, the spending, and the possible cost of calls under way, in US dollars and tokens.
    A cap of None means no limit.

    When a reservation is granted, the sum of the spending, of `unanswered` and of all reservations
    never exceeds a cap.
    If a call costs more than its worst case, the excess appears in `spent` and `tokens` only.
    """

    cap: Decimal | None = None
    spent: Decimal = Decimal(0)
    reserved: tuple[Reservation, ...] = Field(default=())
    token_cap: int | None = None
    tokens: int = 0
    unanswered: Decimal = unless_empty(
        Decimal(0), "the most that calls without an answer may cost; nobody knows, so not spent"
    )

    @property
    def ignores_unknown_prices(self) -> bool:
        """Tell whether nothing limits a model without a known price: the cap counts money alone."""
        return self.cap is not None and self.token_cap is None

    @property
    def committed(self) -> Decimal:
        """The sum of spent, reserved and possibly billed money."""
        return (
            self.spent
            + self.unanswered
            + sum((entry.amount for entry in self.reserved), Decimal(0))
        )

    def fits_alone(self, amount: Decimal, tokens: int) -> bool:
        """Return whether the caps allow a call if no other one is under way."""
        return self._allow(self.spent + self.unanswered + amount, self.tokens + tokens)

    def reserve(self, key: str, amount: Decimal, tokens: int = 0) -> "Budget | None":
        """Return the budget with `amount` reserved under `key`, or None if a cap forbids it.

        A key reserves once.
        """
        if any(entry.key == key for entry in self.reserved):
            return self
        committed_tokens = self.tokens + sum(entry.tokens for entry in self.reserved)
        if not self._allow(self.committed + amount, committed_tokens + tokens):
            return None
        entry = Reservation(key=key, amount=amount, tokens=tokens)
        return self.replace(reserved=(*self.reserved, entry))

    def settle(
        self, key: str, cost: Decimal, tokens: int = 0, unanswered: Decimal = Decimal(0)
    ) -> "Budget":
        """Settle the call under `key` at its real cost, or at what it may cost without an answer.

        For a key without a reservation, only add the cost.
        """
        left = tuple(entry for entry in self.reserved if entry.key != key)
        return self.replace(reserved=left).with_cost(cost, tokens, unanswered)

    def with_cost(self, cost: Decimal, tokens: int, unanswered: Decimal = Decimal(0)) -> "Budget":
        """Return the budget with more spent, or possibly billed."""
        return self.replace(
            spent=self.spent + cost,
            tokens=self.tokens + tokens,
            unanswered=self.unanswered + unanswered,
        )

    def with_higher_cap(self, amount: Decimal | None, tokens: int | None) -> "Budget":
        """Return the budget with its limits raised. A limit that is not set stays unset."""
        cap = self.cap if self.cap is None else self.cap + (amount or 0)
        token_cap = self.token_cap if self.token_cap is None else self.token_cap + (tokens or 0)
        return self.replace(cap=cap, token_cap=token_cap)

    def _allow(self, spent: Decimal, tokens: int) -> bool:
        return (self.cap is None or spent <= self.cap) and (
            self.token_cap is None or tokens <= self.token_cap
        )
