"""The status of a run, stored by the process that holds the run, at each report.

A command that only reads it needs no pipeline and applies no reports. The name of the stored file
depends on the bytes of its sources. It may be deleted at any time. A broken, old or incompatible
one is made again from the reports.
"""

import hashlib
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from forge_bot import __version__
from forge_bot.errors import ForgeError
from forge_bot.git import Repository
from forge_bot.runs.finding_runs.files_of_run import raw_file
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.run_paths import read_kept, run_paths
from forge_bot.settings import load_config
from forge_bot.settings.config import CONFIG, file_text
from forge_bot.settings.load_pipeline import pipeline_source
from forge_bot.store import Content, Workspace, write_whole
from forge_bot.store.run_folder import REPORTS, STATE, state_file
from forge_bot.values import Frozen, Usage

if TYPE_CHECKING:
    from forge_bot.engine import Pipeline, State

_FORM = 1
"""The number of the form of the file. It grows when a status is made differently."""


class PhaseLine(Frozen):
    """A phase as a status shows it."""

    phase: str
    label: str
    standing: str
    usage: Usage
    note: str


class CapabilityLine(Frozen):
    """A tool or skill from outside as a status shows it."""

    name: str
    words: str
    cost: Decimal | None


class OpenQuestion(Frozen):
    """The question that a person is asked."""

    gate: str
    answers: tuple[str, ...]
    files: tuple[str, ...]


class RunStatusShown(Frozen):
    """The status of a run, as shown."""

    pipeline: str
    title: str
    effort: str
    effort_reason: str
    phases: tuple[PhaseLine, ...]
    capabilities: tuple[CapabilityLine, ...]
    usage: Usage
    cap: Decimal | None
    token_cap: int | None
    question: OpenQuestion | None
    ended: bool


class RunStatusRead(NamedTuple):
    """The status of a run, and its state as JSON."""

    shown: RunStatusShown
    state: bytes


class _Kept(Frozen):
    made_from: str
    shown: RunStatusShown


def read_status(repository: Repository, info: RunInfo) -> RunStatusRead:
    """Return the status of a run. Raises ReportsDamaged, BadConfig and BadPipeline."""
    reports = raw_file(repository, info, REPORTS) or b""
    state = raw_file(repository, info, STATE) or b""
    kept = read_kept(run_paths(repository, info.name).status, _Kept)
    if kept is not None and kept.made_from == _name(repository, kept.shown, reports, state):
        return RunStatusRead(kept.shown, state)
    from forge_bot.runs.finding_runs.snapshot_of_run import run_snapshot

    found = run_snapshot(repository, info, load_config(repository.root))
    return RunStatusRead(_made(found.pipeline, found.state), state_file(found.state))


def keep_status(repository: Repository, workspace: Workspace, state: "State") -> None:
    """Store the current status of a run. A failure is ignored."""
    from forge_bot.settings.load_pipeline import load_pipeline

    with suppress(ForgeError, OSError):
        reports = (workspace.path / REPORTS).read_bytes()
        if Content.of(reports) != workspace.content:
            return
        shown = _made(load_pipeline(state.pipeline, repository.root), state)
        kept = _Kept(made_from=_name(repository, shown, reports, state_file(state)), shown=shown)
        if kept != read_kept(run_paths(repository, workspace.name).status, _Kept):
            write_whole(run_paths(repository, workspace.name).status, kept.model_dump_json())


def _name(repository: Repository, shown: RunStatusShown, reports: bytes, state: bytes) -> str:
    """Return a digest of all sources of a status; empty if one is missing."""
    try:
        pipeline, place = pipeline_source(shown.pipeline, repository.root)
    except ForgeError:
        return ""
    config = file_text(repository.root, CONFIG) or ""
    digest = hashlib.sha256()
    for part in (f"{_FORM} {__version__}", place, pipeline, config, reports, state):
        raw = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(b"%d " % len(raw) + raw)
    return digest.hexdigest()


def _made(pipeline: "Pipeline", state: "State") -> RunStatusShown:
    from forge_bot.engine.capability_uses import use_lines
    from forge_bot.engine.phase_rows import rows

    gate = state.gate
    return RunStatusShown(
        pipeline=state.pipeline,
        title=state.title,
        effort=state.effort,
        effort_reason=state.effort_reason,
        phases=tuple(PhaseLine.model_validate(dict(row)) for row in rows(pipeline, state)),
        capabilities=tuple(CapabilityLine.model_validate(dict(line)) for line in use_lines(state)),
        usage=state.usage,
        cap=state.budget.cap,
        token_cap=state.budget.token_cap,
        question=(
            OpenQuestion(
                gate=gate.name,
                answers=tuple(gate.options),
                files=tuple(file.name for file in gate.files),
            )
            if gate is not None
            else None
        ),
        ended=state.ended,
    )
