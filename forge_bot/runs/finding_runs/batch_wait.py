"""What a run waits for that goes away by itself, a batch or a pause, read without the run's lock
and without a model's library.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from pydantic import AwareDatetime, ConfigDict, ValidationError

from forge_bot.engine.reports import Paused
from forge_bot.git import Repository
from forge_bot.interaction.number_format import duration
from forge_bot.runs.finding_runs.find_runs import RunInfo, raw_file
from forge_bot.store.run_folder import CARRIED, STATE
from forge_bot.values import Recorded, RunStatus


class StandingPause(Recorded):
    """The part of a state that says why a run is paused."""

    model_config = ConfigDict(extra="ignore")

    run: str
    updated_at: datetime
    current_phase_status: RunStatus
    pause: Paused | None = None


class BatchWait(Recorded):
    """The oldest question of a run that is in a provider's batch."""

    model: str
    since: AwareDatetime

    def in_words(self, at: datetime) -> str:
        """Return the awaited batch and the duration of the wait in words."""
        waited = max(0, round((at - self.since).total_seconds() * 1000))
        since = f"{self.since:%Y-%m-%d %H:%M} UTC"
        return f"waits for a batch of {self.model} since {since} ({duration(waited)})"


def batch_wait(repository: Repository, info: RunInfo) -> BatchWait | None:
    """Return the batch that a run waits for; None if none of its questions is in a batch."""
    if info.ended or info.waiting:
        return None
    waits: dict[str, Mapping[str, object]] = {}
    for line in (raw_file(repository, info, CARRIED) or b"").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        match entry:
            case {"entry": "started", "key": str(key)}:
                waits[key] = {"model": entry.get("model"), "since": entry.get("at")}
            case {"entry": "failed" | "finished", "key": str(key)}:
                waits.pop(key, None)
            case _:
                pass
    try:
        known = [BatchWait.model_validate(wait) for wait in waits.values()]
    except ValidationError:
        return None
    return min(known, key=lambda wait: wait.since, default=None)


def wait_in_words(repository: Repository, info: RunInfo) -> str:
    """Return in words for what a run waits that goes away by itself; empty if for nothing."""
    wait = batch_wait(repository, info)
    if wait is None:
        return _pause_in_words(repository, info)
    # Few runs wait for one.
    from forge_bot.runs.this_process import now

    return wait.in_words(now())


def _pause_in_words(repository: Repository, info: RunInfo) -> str:
    raw = raw_file(repository, info, STATE) if not (info.ended or info.waiting) else None
    with suppress(ValidationError):
        pause = StandingPause.model_validate_json(raw or b"").pause
        if pause is not None:
            until = f" until {pause.until:%Y-%m-%d %H:%M} UTC" if pause.until else ""
            return f"waits{until}, for the sake of a {pause.why.value}"
    return ""
