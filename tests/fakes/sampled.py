"""Parameters of which `scripts/check` tries some: the others are marked slow."""

from collections.abc import Iterable, Sequence

import pytest


def sampled(values: Iterable[object], every: int) -> list[object]:
    """Return values of one parameter; the first and each `every`-th of them are not marked slow."""
    return sampled_rows(([each] for each in values), every)


def sampled_rows(rows: Iterable[Sequence[object]], every: int) -> list[object]:
    """Return rows of several parameters, sampled alike."""
    return [
        pytest.param(*row, marks=pytest.mark.slow if number % every else ())
        for number, row in enumerate(rows)
    ]
