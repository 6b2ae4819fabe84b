"""What runs have cost in a window of time, by the records, and the caps of a team on it.

Of the records only those of refs that were moved within the window are read, together, by two calls
of git: runs that ended before it cost one line of a list of refs each.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from pydantic import AwareDatetime, ConfigDict, ValidationError

from forge_bot.git import Repository
from forge_bot.git.refs import ENDED, ENDED_AT_ORIGIN, REMOTES
from forge_bot.git.revisions import HEADS
from forge_bot.settings.config import CapSettings
from forge_bot.store import SPECS
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
    """What one report of a run says was paid, and may be billed, for the calls of a model."""

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


def recent_files(
    repository: Repository, since: datetime, file: str, *under: str
) -> list[tuple[str, bytes]]:
    """Return a file of each run that was moved since then below some beginnings of refs, by the
    run's name, as this clone knows them; once for each version that refs have.
    """
    tips = repository.tips_since(since - _DAY, *under)
    trees = repository.read_objects([f"{tip}:{SPECS}" for tip in tips])
    folders = [folder for tree in trees if tree is not None for folder in tree.folders().items()]
    folders = list(dict.fromkeys(folders))
    files = repository.read_objects([f"{oid}:{file}" for _, oid in folders])
    return [
        (name, data.data)
        for (name, _), data in zip(folders, files, strict=True)
        if data is not None
    ]


def paid_since(repository: Repository, since: datetime) -> tuple[Payment, ...]:
    """Return what runs paid since then, as this clone knows their records."""
    records: dict[str, bytes] = {}
    places = (HEADS, REMOTES, ENDED, ENDED_AT_ORIGIN)
    for name, reports in recent_files(repository, since, REPORTS, *places):
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
    rows = (
        ("caps.day", "today (UTC)", caps.day, day, day + _DAY, ""),
        ("caps.month", "this month", caps.month, month, next_month, ""),
        ("caps.person", f"this month for {by or 'nobody'}", caps.person, month, next_month, by),
    )
    return tuple(
        CapWindow(
            key=key,
            span=span,
            cap=cap,
            ends=ends,
            spent=sum(
                (
                    payment.dollars
                    for payment in paid
                    if payment.at >= begins
                    and (key != "caps.person" or payment.by.casefold() == by.casefold())
                ),
                Decimal(0),
            ),
        )
        for key, span, cap, begins, ends, by in rows
        if cap is not None
    )


def spending_now(
    repository: Repository, caps: CapSettings, by: str, now: datetime
) -> tuple[CapWindow, ...]:
    """Return the caps for a run that `by` asks for, as the records of this clone have them."""
    return cap_windows(caps, paid_since(repository, month_of(now)), by, now) if caps.exist else ()
