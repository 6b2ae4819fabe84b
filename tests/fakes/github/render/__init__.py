"""State of the fake in GitHub's JSON: every field that the description requires, with addresses
that can be asked for.
"""

from datetime import UTC, datetime


def stamp(seconds: int) -> str:
    """A moment as GitHub writes it: UTC, whole seconds, Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
