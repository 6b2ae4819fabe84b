"""One prompt of a run, by the number of past runs: with everything, and without what git takes."""

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import WALL, Figure, Row, measured, summed_up, timed
from forge_bot.engine.pipeline import AnsweringPhase
from forge_bot.git import Repository
from forge_bot.knowledge.past_runs import DocumentNames
from forge_bot.prompts.assemble import assemble
from forge_bot.runs.past_runs.past_run_reader import RUNS_READ, history_at
from forge_bot.values import PhaseId
from tests.fakes.finished import Finished, demo, finished
from tests.fakes.processes import started_by

SIZES = (0, RUNS_READ)


def rows() -> Iterator[Row]:
    """All prompts of the demo's run are made again; a figure is the mean of them in one go through
    all.
    """
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        played = demo(Path(name)).repository
        for size in SIZES:
            yield from _among(played, Path(name), size)


def _among(played: Repository, folder: Path, size: int) -> Iterator[Row]:
    said, place = f"{size:,} past runs", folder / str(size)
    place.mkdir()
    run = finished(played, place, size)
    if size:
        yield from _reading(run, said)
    yield Row("prompt, recall and assembly only", said, 15, _alone(run))
    yield Row("prompt, git included", said, 15, _each(run))
    calls = [len(started_by(lambda step=step: run.prompt(step))) for step in run.steps]
    yield Row(
        "prompt, calls of git",
        said,
        len(calls),
        Figure(statistics.median(calls), min(calls), max(calls), ""),
    )


def _each(run: Finished) -> Figure:
    whole = measured(lambda: [run.prompt(step) for step in run.steps], 15, clock=WALL)
    return whole.over(len(run.steps))


def _alone(run: Finished) -> Figure:
    history = history_at(run.repository, run.base, DocumentNames.of(run.prompts.run.pipeline))
    made = [(run.prompt(step)[1], step.task) for step in run.steps]
    request, environment = run.prompts.run.request, run.prompts.environment
    text = f"{request.title}\n{request.text}"

    def again() -> None:
        for material, task in made:
            phase = run.prompts.run.pipeline.phase(PhaseId(material.phase))
            parts = phase.recalls if isinstance(phase, AnsweringPhase) else ()
            history.recall(
                text if task is None else f"{task}\n{text}",
                exclude=run.prompts.run.name,
                parts=parts,
            )
            assemble(material, environment)

    return measured(again, 15).over(len(made))


def _reading(run: Finished, said: str) -> Iterator[Row]:
    """The first question about the past runs of a commit, which reads them."""
    documents = DocumentNames.of(run.prompts.run.pipeline)
    title = run.prompts.run.request.title

    def first() -> object:
        history_at.cache_clear()
        return history_at(run.repository, run.base, documents).recall(title)

    yield Row("past runs, first question", said, 3, summed_up([timed(first) for _ in range(3)]))
