"""The run that is under way in a folder, as hooks see it: a record that cannot be read is not taken
for “no run”.

Whether a run is over, its state.json says, or its reports where that is broken; so a run that ended
lets go even if one of them is.
"""

import os
from pathlib import Path

from pydantic import ValidationError

from forge_bot.engine import REPORT, State
from forge_bot.engine.reports import RunStarted
from forge_bot.errors import ReportsDamaged
from forge_bot.git import Repository
from forge_bot.runs.find_runs import RunInfo, run_in
from forge_bot.runs.snapshot_of_run import RunSnapshot, run_snapshot
from forge_bot.sentences import say
from forge_bot.settings import load_config
from forge_bot.store import SPECS
from forge_bot.store.run_folder import REPORTS, STATE


def has_runs(folder: Path) -> bool:
    """Return whether the folder, or one above it, has runs in any state. False for a path that
    cannot be a folder.
    """
    try:
        return any(any(specs.glob(f"*/{REPORTS}")) for specs in _around(folder))
    except (OSError, ValueError):
        return False


def under_way(folder: Path) -> RunSnapshot | None:
    """Return the run of the checked-out branch, if it is not over.

    Raises ReportsDamaged if the branch may have a run with an unreadable record, and the errors of
    reading a repository.
    """
    if not _around(folder):
        return None
    repository = Repository.find(folder)
    seen = {place: _info(repository.root, place) for place in _places(repository.root)}
    known = [info for info in seen.values() if info is not None and not info.ended]
    if known and (found := _read(repository, known)) is not None:
        return found
    if lost := next(
        (place for place, info in seen.items() if info is None and _is_lost(repository, place)),
        None,
    ):
        raise _unreadable(lost)
    return None


def _around(folder: Path) -> list[Path]:
    here = folder.resolve()
    return [specs for each in (here, *here.parents) if (specs := each / SPECS).is_dir()]


def _places(root: Path) -> list[Path]:
    """The folders of runs, newest first."""
    specs = root / SPECS
    try:
        return sorted(specs.iterdir(), reverse=True) if specs.is_dir() else []
    except OSError as error:
        raise ReportsDamaged(
            say("client.active_run.folder_is_unreadable", specs=SPECS),
            hint=say("client.active_run.let_the_person_look", specs=specs),
        ) from error


def _info(root: Path, place: Path) -> RunInfo | None:
    try:
        return run_in(root, place.name)
    except OSError as error:
        raise _unreadable(place) from error


def _read(repository: Repository, known: list[RunInfo]) -> RunSnapshot | None:
    branch = repository.head().branch
    for info in (info for info in known if info.branch == branch):
        try:
            found = run_snapshot(repository, info, load_config(repository.root))
        except ReportsDamaged as error:
            raise _unreadable(repository.root / SPECS / info.name) from error
        if not found.state.ended:
            return found
    return None


def _is_lost(repository: Repository, place: Path) -> bool:
    """Return whether a folder has an unreadable record that may be the checked-out branch's and not
    over.
    """
    state = _state(place)
    if state is not None and (state.ended or state.branch != repository.head().branch):
        return False
    reports = place / REPORTS
    if os.path.lexists(reports):
        return not _begins(reports)
    # Without reports a state.json that is none of ours may be another program's.
    return state is not None


def _begins(reports: Path) -> bool:
    """Return whether the first report can be read, which says whose record this is."""
    try:
        line, end, _ = reports.read_bytes().partition(b"\n")
        return bool(end) and isinstance(REPORT.validate_json(line), RunStarted)
    except (OSError, ValidationError):
        return False


def _unreadable(place: Path) -> ReportsDamaged:
    name = f"{SPECS}/{place.name}"
    return ReportsDamaged(
        say("client.active_run.record_is_unreadable", name=name),
        hint=say("client.active_run.bring_it_back", name=name, reports=REPORTS, state=STATE),
    )


def _state(place: Path) -> State | None:
    try:
        return State.model_validate_json((place / STATE).read_bytes())
    except (OSError, ValidationError):
        return None
