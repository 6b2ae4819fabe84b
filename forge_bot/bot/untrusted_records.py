"""A run's record at a commit, read without trust in its writer."""

import re

from pydantic import ValidationError

from forge_bot.engine import REPORT, Pipeline, Report, State, fold
from forge_bot.engine.next_action import held_patch_name
from forge_bot.engine.phases import WRITING
from forge_bot.engine.reports import (
    ActionFailed,
    AgentFailed,
    Answer,
    Answered,
    ArtifactChanged,
    ArtifactWritten,
    Asked,
    CallBegun,
    CallEnded,
    CallsRequested,
    CommandsRan,
    Prepared,
    RunStarted,
)
from forge_bot.engine.state import Reason
from forge_bot.errors import CommitsRefused, ForgeError
from forge_bot.git import Repository
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.store import SPECS
from forge_bot.store.run_folder import CARRIED, REPORTS, STATE
from forge_bot.values import TaskId

WORKERS = (
    Prepared
    | ArtifactWritten
    | AgentFailed
    | CallsRequested
    | CallBegun
    | CallEnded
    | CommandsRan
    | ActionFailed
    | ArtifactChanged
    | Asked
)
"""The reports that a worker may make. Its supervisor records people's answers and what is
published.
"""


_RUN_FILES = re.compile(
    rf"{re.escape(REPORTS)}|{re.escape(STATE)}|{re.escape(CARRIED)}|request\.md|baseline\.md"
    r"|calls-\d+\.json|calls-\d+-\d+\.md"
)
"""What a worker writes besides the documents of the pipeline and held patches."""

_HELD = held_patch_name(TaskId("{task}"))
_TASK = "[A-Za-z0-9_.-]{0,40}"
MOST_OF_DOCUMENT = 2_000_000
"""Bytes. Only the records of reports and conversations, and held patches, may be longer."""


def is_declared(pipeline: Pipeline, name: str) -> bool:
    """Return whether a worker may write a file of this name into the folder of a run."""
    named = [phase.writes for phase in pipeline.phases if isinstance(phase, WRITING)]
    patterns = [re.escape(name).replace(r"\{task\}", _TASK) for name in (*named, _HELD)]
    return bool(_RUN_FILES.fullmatch(name) or re.fullmatch("|".join(patterns), name))


def is_too_long(name: str, size: int) -> bool:
    """Return whether a document in the folder of a run is longer than documents are."""
    grows = name.endswith((REPORTS, STATE, CARRIED, ".patch"))
    return size > MOST_OF_DOCUMENT and not grows


def pipeline_of(repository: Repository, commit: str, run: str) -> Pipeline:
    """The pipeline that a run's first report names, in the version that counts here."""
    first = next(iter(reports_at(repository, commit, f"{SPECS}/{run}/")), None)
    if not isinstance(first, RunStarted):
        raise CommitsRefused(f"{run} has no beginning.")
    return load_pipeline(first.pipeline, repository.root)


def reports_at(repository: Repository, commit: str, record: str) -> tuple[Report, ...]:
    """The reports as committed. Raises CommitsRefused if a line of them is none."""
    raw = repository.read(commit, f"{record}reports.jsonl") or b""
    try:
        return tuple(REPORT.validate_json(line) for line in raw.splitlines())
    except ValidationError as error:
        details = (str(error)[:500],)
        raise CommitsRefused("The run's record cannot be read.", details=details) from None


def state_at(repository: Repository, pipeline: Pipeline, commit: str, record: str) -> State:
    """The state that committed reports lead to; state.json is not asked. Raises CommitsRefused."""
    try:
        return fold(pipeline, reports_at(repository, commit, record))
    except CommitsRefused:
        raise
    except ForgeError as error:
        details = (error.message,)
        raise CommitsRefused("The run's record does not hold together.", details=details) from None


def approved_patches(
    repository: Repository, pipeline: Pipeline, commit: str, record: str
) -> tuple[str, ...]:
    """Return the object ids of the patches that persons approved, as they were when they were
    approved, oldest first.
    """
    reports = reports_at(repository, commit, record)
    blobs: list[str] = []
    for place, report in enumerate(reports):
        if not isinstance(report, Answered) or report.answer is not Answer.APPROVE:
            continue
        before, after = (fold(pipeline, reports[:end]) for end in (place, place + 1))
        if before.gate is not None and len(after.decisions) > len(before.decisions):
            decision = after.decisions[-1]
            held = (
                held_patch_name(decision.task or TaskId(""))
                if decision.reason is Reason.PROTECTED_PATHS
                else ""
            )
            blobs += [file.blob for file in before.gate.files if file.name == held]
    return tuple(blobs)


def unfit_reports(old: tuple[Report, ...], new: tuple[Report, ...]) -> list[str]:
    """Return the problems of the reports of a commit, beside those before it: changes of earlier
    ones, and what a worker may not report.
    """
    if new[: len(old)] != old:
        return ["earlier reports were changed"]
    strange = [report.type for report in new[len(old) :] if not isinstance(report, WORKERS)]
    return [f"a worker cannot report {kind}" for kind in strange]
