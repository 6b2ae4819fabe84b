"""How many made-up examples a test of a property tries."""

from hypothesis import settings

FEW = "few"
"""The profile of the first line: `scripts/check --coverage` tries four times as many."""


def at_most(number: int) -> int:
    """Return so many, or a quarter of them where only few are wanted."""
    return number // 4 if settings.get_current_profile_name() == FEW else number
