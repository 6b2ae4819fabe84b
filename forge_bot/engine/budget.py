"""Money that may be spent: worst cases are reserved before a call, real costs settle them after it."""

from decimal import Decimal

from pydantic import Field

from forge_bot.values import Recorded


class Reservation(Recorded):
    """The most one call under way can cost."""

    key: str
    amount: Decimal


class Budget(Recorded):
    """What may be spent, what is spent, and what calls under way may still cost; US dollars.

    A cap of None means no limit. The sum of `spent` and all reservations never passes the cap when a
    reservation is granted; a call that turns out dearer than its worst case shows up in `spent` alone.
    """

    cap: Decimal | None = None
    spent: Decimal = Decimal(0)
    reserved: tuple[Reservation, ...] = Field(default=())

    @property
    def committed(self) -> Decimal:
        """Spent and reserved together."""
        return self.spent + sum((entry.amount for entry in self.reserved), Decimal(0))

    def reserve(self, key: str, amount: Decimal) -> "Budget | None":
        """The budget with `amount` set aside under `key`, or None if the cap forbids it. A key reserves once."""
        if any(entry.key == key for entry in self.reserved):
            return self
        if self.cap is not None and self.committed + amount > self.cap:
            return None
        return self.model_copy(update={"reserved": (*self.reserved, Reservation(key=key, amount=amount))})

    def settle(self, key: str, cost: Decimal) -> "Budget":
        """The budget after the call under `key` has cost `cost`; a key without reservation only adds its cost."""
        left = tuple(entry for entry in self.reserved if entry.key != key)
        return self.model_copy(update={"reserved": left, "spent": self.spent + cost})

    def raised(self, amount: Decimal) -> "Budget":
        """The budget with a higher cap."""
        return self if self.cap is None else self.model_copy(update={"cap": self.cap + amount})
