"""The rota: people in order, shifts of equal length, and single days that were swapped."""

from dataclasses import dataclass, field
from datetime import date, timedelta


@dataclass(frozen=True)
class Schedule:
    """A rota. Shifts are `days` long, begin at `start`, and go round through `people`."""

    people: tuple[str, ...]
    start: date
    days: int = 7
    swaps: dict[date, str] = field(default_factory=dict)

    def on_call(self, day: date) -> str:
        """The person on call on a day."""
        if day in self.swaps:
            return self.swaps[day]
        shift = (day - self.start).days // self.days
        return self.people[shift % len(self.people)]

    def week(self, first: date) -> list[tuple[date, str]]:
        """Seven days from `first` on, each with the person on call."""
        return [(day, self.on_call(day)) for day in (first + timedelta(days=n) for n in range(7))]

    def load(self, first: date, last: date) -> dict[str, int]:
        """How many days each person is on call between two days, both included."""
        counts = dict.fromkeys(self.people, 0)
        day = first
        while day <= last:
            person = self.on_call(day)
            counts[person] = counts.get(person, 0) + 1
            day += timedelta(days=1)
        return counts
