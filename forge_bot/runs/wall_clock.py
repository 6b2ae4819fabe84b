"""The time, read here and nowhere else."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present time in UTC."""
    # The one place that asks; everything below gets its time with the reports.
    return datetime.now(UTC)  # noqa: TID251
