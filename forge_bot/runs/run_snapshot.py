"""A run as it is on disk or on its branch, read without its lock. Nothing is changed."""

from typing import NamedTuple

from forge_bot.engine import Pipeline, State
from forge_bot.engine.reports import RunStarted
from forge_bot.git import Repository
from forge_bot.runs.find_runs import RunInfo, artifact_text, raw_file
from forge_bot.settings import Config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import SPECS
from forge_bot.store.run_folder import REPORTS, read_reports, read_state


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
