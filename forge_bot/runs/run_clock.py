"""The time for which a run is worked on, on this machine, and its limit (`run_seconds`)."""

import asyncio
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from forge_bot.errors import TimeUsedUp, WriteFailed
from forge_bot.interaction.number_format import duration
from forge_bot.sentences import say
from forge_bot.store import write_whole

_FILE = "worked-seconds"


class RunClock:
    """Counts while work goes on, and not while a person is waited for.

    What earlier invocations took is kept beside the run. Once the limit is reached, as much time
    again is allowed.
    """

    def __init__(self, home: Path, limit: float | None) -> None:
        self._file = home / _FILE
        self._limit = limit
        self._counted = self._kept() if limit is not None else 0.0
        self._since: float | None = None
        self._timeout: asyncio.Timeout | None = None

    @asynccontextmanager
    async def limited(self) -> AsyncGenerator[None]:
        """Count the work of a block. Raises TimeUsedUp when its time is over; the work has been
        cancelled then, and what was reported is recorded.
        """
        if self._limit is None:
            yield
            return
        try:
            async with asyncio.timeout(None) as self._timeout:
                self._go()
                try:
                    yield
                finally:
                    self._stop()
        except TimeoutError:
            if self._timeout is None or not self._timeout.expired():
                raise
            self._counted = 0.0
            raise TimeUsedUp(
                say("runs.run_clock.time_is_up", duration=duration(round(self._limit * 1000)))
            ) from None
        finally:
            with suppress(WriteFailed):
                write_whole(self._file, f"{self._counted:.1f}\n")

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop counting while a person is asked."""
        self._stop()
        try:
            yield
        finally:
            self._go()

    def _go(self) -> None:
        if self._timeout is not None and self._limit is not None and not self._timeout.expired():
            self._since = time.monotonic()
            left = max(0.0, self._limit - self._counted)
            self._timeout.reschedule(asyncio.get_running_loop().time() + left)

    def _stop(self) -> None:
        if self._since is not None:
            self._counted += time.monotonic() - self._since
            self._since = None
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(None)

    def _kept(self) -> float:
        try:
            return max(0.0, float(self._file.read_text("utf-8")))
        except (OSError, ValueError):
            return 0.0
