"""What earlier runs teach about a task: asked once they are known, and asked for the first time."""

from collections.abc import Iterator

from benchmarks.measuring import Row, measured
from forge_bot.knowledge.history import History
from forge_bot.runs.past_runs.past_run_reader import RUNS_READ
from tests.fakes.made_up import MadeUp

SIZES = (0, RUNS_READ)


def rows() -> Iterator[Row]:
    """Warm: the same kind of question again. First: the index is made on the way."""
    for size in SIZES:
        yield from _among(size)


def _among(size: int) -> Iterator[Row]:
    made_up = MadeUp()
    runs = [made_up.run(number) for number in range(size)]
    question = f"{made_up.text(8)}\n{made_up.text(120)}"
    files = runs[0].files if runs else ("src/a.py",)
    history = History(runs)
    said = f"{size:,} past runs"
    yield Row("recall, warm", said, 30, measured(lambda: history.recall(question, files), 30))
    if size:
        yield Row(
            "recall, first question",
            said,
            3,
            measured(lambda: History(runs).recall(question, files), 3, warm=False),
        )
