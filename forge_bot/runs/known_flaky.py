"""The tests of a repository that were found to be flaky, kept beside git's own data.

What is kept comes from the records of runs and may be deleted at any time. It saves reruns and
decides nothing alone: a test that fails each time is red, whatever was known of it.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from forge_bot.errors import WriteFailed
from forge_bot.git import Repository
from forge_bot.store import write_whole

MOST_KNOWN = 500
_NAMES = TypeAdapter(tuple[str, ...])


def known_flaky(repository: Repository) -> tuple[str, ...]:
    """Return the names of the flaky tests that are known, the newest last."""
    try:
        return _NAMES.validate_json(_kept_in(repository).read_bytes())
    except (OSError, ValidationError):
        return ()


def remember_flaky(repository: Repository, names: Sequence[str]) -> None:
    """Add tests to the known flaky ones; the oldest are dropped."""
    known = known_flaky(repository)
    kept = tuple(dict.fromkeys((*(name for name in known if name not in names), *names)))
    if kept != known:
        with suppress(WriteFailed):
            write_whole(_kept_in(repository), _NAMES.dump_json(kept[-MOST_KNOWN:]).decode())


def _kept_in(repository: Repository) -> Path:
    """Return the file of the names; all work trees of a clone share it."""
    return repository.kept / "flaky-tests.json"
