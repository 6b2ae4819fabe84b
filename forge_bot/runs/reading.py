"""A run to look at, without its lock: what is on disk or on its branch, and nothing is changed."""

from forge_bot.checkout import Repository
from forge_bot.engine import REPORT, Pipeline, State, fold
from forge_bot.engine.reports import RunStarted
from forge_bot.errors import ReportsDamaged
from forge_bot.runs.find import RunInfo
from forge_bot.settings import Config, load_pipeline
from forge_bot.workspace import SPECS


class Reading:
    """One run as it was when it was read."""

    def __init__(self, repository: Repository, info: RunInfo, pipeline: Pipeline, state: State) -> None:
        self.repository = repository
        self.info = info
        self.pipeline = pipeline
        self.state = state

    def artifact(self, name: str) -> str | None:
        """The text of an artifact, or None."""
        if "/" in name or name.startswith("."):
            return None
        raw = raw_file(self.repository, self.info, name)
        return raw.decode("utf-8", "replace") if raw is not None else None


def raw_file(repository: Repository, info: RunInfo, name: str) -> bytes | None:
    """A file of the run's folder: from its work tree if there is one, else from its branch."""
    path = f"{SPECS}/{info.name}/{name}"
    if info.tree is None:
        return repository.read(info.ref, path)
    file = info.tree / path
    return file.read_bytes() if file.is_file() else None


def reading(repository: Repository, info: RunInfo, config: Config) -> Reading:
    """The run, folded from its reports."""
    raw = raw_file(repository, info, "reports.jsonl") or b""
    whole = raw[: raw.rfind(b"\n") + 1]
    try:
        reports = [REPORT.validate_json(line) for line in whole.splitlines() if line.strip()]
    except ValueError as error:
        raise ReportsDamaged(f"{SPECS}/{info.name}/reports.jsonl cannot be read: {error}.") from error
    first = reports[0] if reports else None
    name = first.pipeline if isinstance(first, RunStarted) else config.pipeline

    pipeline = load_pipeline(name, repository.text_here)
    return Reading(repository, info, pipeline, fold(pipeline, reports))
