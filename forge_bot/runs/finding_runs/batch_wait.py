"""The batch that a run waits for, read without the run's lock and without a model's library."""

import json
from collections.abc import Mapping
from datetime import datetime

from pydantic import AwareDatetime, ValidationError

from forge_bot.git import Repository
from forge_bot.interaction.number_format import duration
from forge_bot.runs.finding_runs.find_runs import RunInfo, raw_file
from forge_bot.store.run_folder import CARRIED
from forge_bot.values import Recorded


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


def batch_in_words(repository: Repository, info: RunInfo) -> str:
    """Return the wait of a run for a batch in words; empty without such a wait."""
    wait = batch_wait(repository, info)
    if wait is None:
        return ""
    # Few runs wait for one.
    from forge_bot.runs.wall_clock import now

    return wait.in_words(now())
