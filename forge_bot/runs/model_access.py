"""Decide whether a run may ask a model: the switch of the repository, a limit that another run was
told of, and the caps of a team on what runs have cost in a window of time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import ceil
from pathlib import Path
from typing import NamedTuple

from pydantic import AwareDatetime, ConfigDict, ValidationError

from forge_bot.engine.reports import LONGEST_PAUSE, Paused, PauseReason
from forge_bot.errors import ModelUnavailable
from forge_bot.git import Repository
from forge_bot.git.revisions import ENDED, ENDED_AT_ORIGIN, HEADS, REMOTES
from forge_bot.remedies import ModelTrouble
from forge_bot.runs.find_runs import RunInfo, committed_files, runs
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now
from forge_bot.settings.config import CapSettings
from forge_bot.store.run_folder import REPORTS
from forge_bot.text_format import money
from forge_bot.values import Frozen, Recorded, Usage

_DAY = timedelta(days=1)
"""Also how much the clocks of two machines may differ."""


class _Entry(Recorded):
    """The part of a report that says what was paid, and of the first one who asked for the run."""

    model_config = ConfigDict(extra="ignore")

    at: AwareDatetime
    by: str = ""
    usage: Usage = Usage()


class Payment(NamedTuple):
    """The money that one report says was paid, and may be billed, for the calls of a model."""

    at: datetime
    by: str
    dollars: Decimal
    model: str


class CapWindow(Frozen):
    """One cap, what was spent of it, and when its window ends."""

    key: str
    span: str
    cap: Decimal
    spent: Decimal
    ends: datetime

    @property
    def left(self) -> Decimal:
        return self.cap - self.spent

    @property
    def sentence(self) -> str:
        """The amounts, for people."""
        return f"{money(self.spent)} of {money(self.cap)} {self.span}"


def month_of(now: datetime) -> datetime:
    """Return the beginning of the month, in UTC."""
    return now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def paid_since(repository: Repository, since: datetime) -> tuple[Payment, ...]:
    """Return what runs paid since then, as this clone knows their records: those of refs that were
    moved since.
    """
    tips = repository.tips_since(since - _DAY, HEADS, REMOTES, ENDED, ENDED_AT_ORIGIN)
    records: dict[str, bytes] = {}
    for named in committed_files(repository, tips, REPORTS).values():
        for name, reports in named.items():
            # Reports are only added.
            records[name] = max(records.get(name, b""), reports, key=len)
    return tuple(payment for reports in records.values() for payment in payments(reports))


def payments(reports: bytes) -> Iterator[Payment]:
    """Yield what was paid in a run. A line that cannot be read tells nothing."""
    by = ""
    for place, line in enumerate(reports.splitlines()):
        with suppress(ValidationError):
            entry = _Entry.model_validate_json(line)
            by = entry.by if place == 0 else by
            dollars = (entry.usage.cost or Decimal(0)) + entry.usage.may_be_billed
            if dollars or entry.usage.calls:
                yield Payment(entry.at, by, dollars, entry.usage.model)


def cap_windows(
    caps: CapSettings, paid: Sequence[Payment], by: str, now: datetime
) -> tuple[CapWindow, ...]:
    """Return the caps that hold for a run that `by` asked for, with what was spent of each."""
    month = month_of(now)
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    next_month = month_of(month + 32 * _DAY)
    own = [payment for payment in paid if payment.by.casefold() == by.casefold()]
    rows = (
        ("caps.day", "today (UTC)", caps.day, day, day + _DAY, paid),
        ("caps.month", "this month", caps.month, month, next_month, paid),
        ("caps.person", f"this month for {by or 'nobody'}", caps.person, month, next_month, own),
    )
    return tuple(
        CapWindow(
            key=key,
            span=span,
            cap=cap,
            ends=ends,
            spent=sum((one.dollars for one in counted if one.at >= begins), Decimal(0)),
        )
        for key, span, cap, begins, ends, counted in rows
        if cap is not None
    )


def spending_now(
    repository: Repository, caps: CapSettings, by: str, now: datetime
) -> tuple[CapWindow, ...]:
    """Return the caps for a run that `by` asks for, as the records of this clone have them."""
    return cap_windows(caps, paid_since(repository, month_of(now)), by, now) if caps.exist else ()


SWITCH = "FORGE_BOT_STOP"
"""The variable of the repository, of a job or of a terminal that stops every run."""

SWITCH_FILE = "FORGE_BOT_STOP_FILE"
"""The variable that names a file to a worker: once it is there, the switch was set meanwhile."""

_OFF = frozenset({"", "0", "false", "no", "off"})
_HOUR = 3_600


def is_switched_off(environ: Mapping[str, str]) -> bool:
    """Return whether the switch is set: by any word that does not mean no."""
    if environ.get(SWITCH, "").strip().casefold() not in _OFF:
        return True
    file = environ.get(SWITCH_FILE, "")
    return bool(file) and Path(file).exists()


def pause_of(error: ModelUnavailable, action_id: str, at: datetime) -> Paused | None:
    """Return the report that a run is paused, for an error that passes by itself; None for others.
    A limit without a known end is tried again after an hour.
    """
    trouble = error.trouble
    why = _REASONS.get(trouble.cause)
    if why is None:
        return None
    # A provider that asks for a longer pause is asked again after the longest one.
    wait = min(timedelta(seconds=trouble.seconds or _HOUR), LONGEST_PAUSE)
    return Paused(
        key=f"{action_id}/paused@{at.isoformat()}",
        at=at,
        why=why,
        until=None if why is PauseReason.SWITCH else at + wait,
        model=trouble.model,
        told=trouble.told,
        dollars=trouble.dollars,
    )


_REASONS = {
    "rate-limited": PauseReason.LIMIT,
    "cap": PauseReason.CAP,
    "switched-off": PauseReason.SWITCH,
}


class ModelAccess:
    """Decides before each call of a run whether a model may be asked.

    The records of other runs are read by `renew`, as this clone knows them then. What another run
    pays after that is not counted before the next `renew`.
    """

    def __init__(self, run: Run, environ: Mapping[str, str]) -> None:
        self._run = run
        self._environ = environ
        self._recorded = run.state.budget.committed
        self._windows: tuple[CapWindow, ...] = ()

    def renew(self, model: str) -> None:
        """Read the records anew. Raises ModelUnavailable if another run was told to wait for this
        model.
        """
        at, repository = now(), self._run.repository
        others = (info for info in runs(repository) if info.name != self._run.name)
        if (limit := limit_of_others(others, model, at)) is not None:
            until, told = limit
            seconds = ceil((until - at).total_seconds())
            raise ModelUnavailable(
                f"{model} has a limit until {until:%Y-%m-%d %H:%M} UTC, as {told} was told.",
                trouble=ModelTrouble("rate-limited", seconds, model, told),
            )
        caps, by = self._run.config.caps, self._run.request.requested_by
        self._windows = spending_now(repository, caps, by, at)
        self._recorded = self._run.state.budget.committed
        self.check(self._run.state.budget.committed, Decimal(0))

    def check(self, committed: Decimal, dollars: Decimal) -> None:
        """Raise ModelUnavailable where a call that may cost `dollars` must not begin. `committed`
        is everything of this run that was spent or is reserved, without that call.
        """
        if is_switched_off(self._environ):
            raise ModelUnavailable(
                f"The variable {SWITCH} is set, so no run asks a model.",
                trouble=ModelTrouble("switched-off"),
            )
        new = committed - self._recorded
        for window in self._windows:
            if new + dollars > window.left:
                raise _cap_reached(window, new, dollars)


def limit_of_others(
    others: Iterable[RunInfo], model: str, at: datetime
) -> tuple[datetime, str] | None:
    """Return the end of the limit of a model that holds longest, of those that other runs were told
    of by its provider, and that run; None if none is in force.
    """
    limits = (
        (pause.until, info.name)
        for info in others
        if (pause := info.pause) is not None
        and pause.until is not None
        and pause.until > at
        and pause.model == model
        and not pause.told
        and not (info.waiting or info.ended)
    )
    return max(limits, default=None)


def _cap_reached(window: CapWindow, new: Decimal, dollars: Decimal) -> ModelUnavailable:
    reached = window.replace(spent=window.spent + new)
    seconds = max(60, round((window.ends - now()).total_seconds()))
    return ModelUnavailable(
        f"The cap {window.key} is reached: {reached.sentence} spent or reserved, and the next call "
        f"may cost {money(dollars)}. The run can go on from {window.ends:%Y-%m-%d %H:%M} UTC, or "
        f"when {window.key} in .forge/config.yml is raised.",
        trouble=ModelTrouble("cap", seconds, dollars=dollars),
    )
