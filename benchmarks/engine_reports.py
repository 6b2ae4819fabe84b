"""The engine's three questions, by the length of a run's log."""

from collections.abc import Iterator

from benchmarks.measuring import Row, measured
from forge_bot.engine import advance, fold, next_action
from forge_bot.engine.reports import ArtifactChanged, Prepared, Report
from tests.fakes.bench import DEVELOP, Bench, blob

LENGTHS = (1, 100, 10_000)


def rows() -> Iterator[Row]:
    """`next_action`, `advance` and `fold` when 1, 100 and 10,000 reports were told."""
    for length in LENGTHS:
        yield from _after(length)


def _after(length: int) -> Iterator[Row]:
    bench = long_run(length)
    state, reports, new = bench.state, tuple(bench.reports), next_report(bench)
    size = f"{length:,} reports" if length > 1 else "1 report"
    yield Row("next_action", size, 20, measured(lambda: next_action(DEVELOP, state), 20, inner=50))
    yield Row(
        "advance by one report",
        size,
        20,
        measured(lambda: advance(DEVELOP, state, new), 20, inner=20),
    )
    times = 5 if length == LENGTHS[-1] else 20
    whole = measured(lambda: fold(DEVELOP, reports), times)
    yield Row("fold of the whole log", size, times, whole)
    yield Row("… for each report", size, times, whole.over(length))


def long_run(length: int) -> Bench:
    """A run at its first checkpoint, where a person edits the design again and again."""
    bench = Bench()
    while len(bench.reports) < length and bench.action.phase != "checkpoint-a":
        bench.step()
    while len(bench.reports) < length:
        bench.tell(edit(bench))
    return bench


def next_report(bench: Bench) -> Report:
    """A report that the run would take now; it is not told."""
    if bench.action.phase == "checkpoint-a":
        return edit(bench)
    name = bench.action.action_id
    return Prepared(key=name, at=bench.now(), action_id=name, results=())


def edit(bench: Bench) -> ArtifactChanged:
    """The next edit."""
    stamp = bench.now()
    return ArtifactChanged(
        key=f"edit-{bench.ticks}",
        at=stamp,
        artifact="design.md",
        blob=blob(str(bench.ticks)),
        by="ann",
    )
