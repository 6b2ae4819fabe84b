"""The engine's three questions in a run of a thousand tasks."""

from collections.abc import Iterator

from benchmarks.measuring import Row, measured
from forge_bot.engine import SpawnAgent, advance, fold, next_action
from forge_bot.engine.reports import ArtifactWritten
from forge_bot.values import TaskId, TaskMode, TaskSpec
from tests.fakes.bench import DEVELOP, Bench, blob

TASKS = 1_000


def rows() -> Iterator[Row]:
    """`next_action` and `advance` in the middle of the tasks, and the fold of a whole run."""
    size = f"{TASKS:,} tasks"
    bench = Bench(tasks=specs(TASKS)).until("phase-5")
    while len(bench.reports) < TASKS:
        bench.step()
    state, written = bench.state, _written(bench)
    yield Row("next_action", size, 20, measured(lambda: next_action(DEVELOP, state), 20, inner=20))
    yield Row(
        "advance by one report",
        size,
        20,
        measured(lambda: advance(DEVELOP, state, written), 20, inner=20),
    )
    while not bench.state.ended:
        bench.step()
    whole = measured(lambda: fold(DEVELOP, bench.reports), 5)
    size = f"{TASKS:,} tasks, {len(bench.reports):,} reports"
    yield Row("fold of the whole log", size, 5, whole)
    yield Row("… for each report", size, 5, whole.over(len(bench.reports)))


def specs(count: int) -> tuple[TaskSpec, ...]:
    """Tasks that may all run beside each other."""
    return tuple(
        TaskSpec(
            id=TaskId(str(number)),
            title=f"Task {number}",
            mode=TaskMode.PARALLEL,
            files=(f"part{number}.py",),
            acceptance=("It works",),
        )
        for number in range(1, count + 1)
    )


def _written(bench: Bench) -> ArtifactWritten:
    """What the next implementer, or reviewer, of the wave could report."""
    action = bench.action
    if not isinstance(action, SpawnAgent) or not action.parallel_task_ids:
        raise TypeError(action)
    task = action.parallel_task_ids[0]
    last = next(
        report
        for report in reversed(bench.reports)
        if isinstance(report, ArtifactWritten) and report.phase == action.phase
    )
    return last.model_copy(
        update={
            "key": f"{action.action_id}/{task}",
            "at": bench.now(),
            "action_id": action.action_id,
            "task": task,
            "artifact": action.output_file.replace("{task}", task),
            "blob": blob("new"),
        }
    )
