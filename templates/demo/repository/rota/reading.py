"""Reading a rota file."""

from datetime import date

from rota.schedule import Schedule


class BadRota(Exception):
    """A line that cannot be read; the message names it."""


def read_rota(text: str) -> Schedule:
    """The schedule in a rota file. Raises BadRota."""
    people: list[str] = []
    swaps: dict[date, str] = {}
    start, days = None, 7
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            match words:
                case ["start", day]:
                    start = date.fromisoformat(day)
                case ["days", count]:
                    days = int(count)
                case ["swap", day, person]:
                    swaps[date.fromisoformat(day)] = person
                case [person]:
                    people.append(person)
                case _:
                    raise ValueError("too many words")
        except ValueError as error:
            raise BadRota(f"line {number}: {error}") from error
    if start is None or not people or days < 1:
        raise BadRota("a rota needs a start, at least one person, and shifts of at least one day")
    return Schedule(tuple(people), start, days, swaps)
