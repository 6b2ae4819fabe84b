"""The money that a run may spend.

Worst cases are reserved before a call; real costs settle them.
"""

from decimal import Decimal

from pydantic import Field

from forge_bot.values import Recorded


class Reservation(Recorded):
    """The maximum cost of one call under way."""

    key: str
    amount: Decimal


class Budget(Recorded):
    """The cap, the money spent and the possible cost of calls under way, in US dollars.

    A cap of None means no limit. When a reservation is granted, the sum of `spent` and all
    reservations never exceeds the cap. If a call costs more than its worst case, the excess appears
    in `spent` only.
    """

    cap: Decimal | None = None
    spent: Decimal = Decimal(0)
    reserved: tuple[Reservation, ...] = Field(default=())

    @property
    def committed(self) -> Decimal:
        """The sum of spent and reserved money."""
        return self.spent + sum((entry.amount for entry in self.reserved), Decimal(0))

    def reserve(self, key: str, amount: Decimal) -> "Budget | None":
        """Return the budget with `amount` reserved under `key`, or None if the cap forbids it.

        A key reserves once.
        """
        if any(entry.key == key for entry in self.reserved):
            return self
        if self.cap is not None and self.committed + amount > self.cap:
            return None
        return self.model_copy(
            update={"reserved": (*self.reserved, Reservation(key=key, amount=amount))}
        )

    def settle(self, key: str, cost: Decimal) -> "Budget":
        """Settle the call under `key` at its real `cost`.

        For a key without a reservation, only add the cost.
        """
        left = tuple(entry for entry in self.reserved if entry.key != key)
        return self.model_copy(update={"reserved": left, "spent": self.spent + cost})

    def with_higher_cap(self, amount: Decimal) -> "Budget":
        """Return the budget with its cap raised by `amount`."""
        return self if self.cap is None else self.model_copy(update={"cap": self.cap + amount})
