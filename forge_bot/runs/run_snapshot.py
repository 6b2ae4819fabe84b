"""A run as it is on disk or on its branch, and what it waits for, read without its lock. Nothing
is changed.
"""

import json
from contextlib import suppress
from typing import Literal, NamedTuple

from pydantic import AwareDatetime, ValidationError

from forge_bot.engine import Pipeline, State
from forge_bot.engine.reports import RunStarted
from forge_bot.git import Repository
from forge_bot.runs.find_runs import RunInfo, artifact_text, raw_file
from forge_bot.settings import Config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import SPECS
from forge_bot.store.run_folder import CARRIED, REPORTS, STATE, read_reports, read_state
from forge_bot.values import Recorded, unless_empty


class RunSnapshot(NamedTuple):
    """One run as it was when it was read."""

    repository: Repository
    info: RunInfo
    pipeline: Pipeline
    state: State

    def artifact(self, name: str) -> str | None:
        """The text of an artifact, or None."""
        return artifact_text(self.repository, self.info, name)


def run_snapshot(repository: Repository, info: RunInfo, config: Config) -> RunSnapshot:
    """Return the run, folded from its reports. Raise ReportsDamaged."""
    pipeline, state = folded(
        repository, config, raw_file(repository, info, REPORTS) or b"", info.name
    )
    return RunSnapshot(repository, info, pipeline, state)


def folded(repository: Repository, config: Config, raw: bytes, run: str) -> tuple[Pipeline, State]:
    """Return the pipeline that the first report names, and the state that all of them lead to.
    Raise ReportsDamaged.
    """
    place = f"{SPECS}/{run}/{REPORTS}"
    reports = read_reports(raw, place)
    first = reports[0] if reports else None
    pipeline = load_pipeline(
        first.pipeline if isinstance(first, RunStarted) else config.pipeline, repository.root
    )
    return pipeline, read_state(pipeline, raw, place)


class RunStanding(Recorded):
    """What a run waits for, the same for every face."""

    waits_for: Literal["", "person", "batch", "limit", "cap", "switch"] = unless_empty(
        "", "a person, or what goes away by itself; nothing where the run can go on, or is over"
    )
    question: str = unless_empty("", "the gate at which a person is asked")
    trouble: str = unless_empty("", "what is waited for that goes away by itself, in words")
    retry_after: AwareDatetime | None = unless_empty(None, "when it may go on, where known")
    progress: str

    @property
    def in_words(self) -> str:
        """Return the standing in a few words for people."""
        if self.question:
            return f"waits for an answer at {self.question}"
        return f"{self.progress}, {self.trouble}" if self.trouble else self.progress


def run_standing(repository: Repository, info: RunInfo) -> RunStanding:
    """Return what a run waits for, as its record tells here."""
    if info.waiting:
        return RunStanding(waits_for="person", question=info.gate, progress=f"at {info.phase}")
    if info.ended:
        return RunStanding(progress=info.status)
    progress = f"at {info.phase}"
    if batch := _oldest_batch(raw_file(repository, info, CARRIED) or b""):
        return RunStanding(waits_for="batch", trouble=batch, progress=progress)
    with suppress(ValidationError):
        pause = State.model_validate_json(raw_file(repository, info, STATE) or b"").pause
        if pause is not None:
            why, until = pause.why.value, pause.until
            words = f"waits{f' until {until:%Y-%m-%d %H:%M} UTC' if until else ''}"
            return RunStanding(
                waits_for=why,
                trouble=f"{words}, for the sake of a {why}",
                retry_after=until,
                progress=progress,
            )
    return RunStanding(progress=progress)


def _oldest_batch(carried: bytes) -> str:
    """Return in words the oldest of the questions that wait for a batch; empty without one."""
    waits: dict[str, tuple[str, str]] = {}
    for line in carried.splitlines():
        with suppress(ValueError):
            match json.loads(line):
                case {"entry": "started", "key": str(key), "model": str(model), "at": str(at)}:
                    waits[key] = (at, model)
                case {"entry": "failed" | "finished", "key": str(key)}:
                    waits.pop(key, None)
                case _:
                    pass
    at, model = min(waits.values(), default=("", ""))
    return f"waits for a batch of {model} since {at[:16].replace('T', ' ')} UTC" if at else ""
