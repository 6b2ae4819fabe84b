"""The limit on the time of work on a run (`run_seconds`)."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

from forge_bot.errors import TimeUsedUp
from forge_bot.interaction.number_format import duration


@asynccontextmanager
async def time_limit(seconds: float | None) -> AsyncGenerator[asyncio.Timeout]:
    """Limit the work of a block. Raises TimeUsedUp when its time is over; the work has been
    cancelled then, and what was reported is recorded.
    """
    timeout = asyncio.timeout(seconds)
    try:
        async with timeout:
            yield timeout
    except TimeoutError:
        if seconds is None or not timeout.expired():
            raise
        allowed = duration(round(seconds * 1000))
        raise TimeUsedUp(
            f"The run has been worked on for {allowed}, which is what run_seconds allows."
        ) from None


@contextmanager
def paused(timeout: asyncio.Timeout) -> Generator[None]:
    """Stop counting while a person is asked."""
    loop = asyncio.get_running_loop()
    end, began = timeout.when(), loop.time()
    timeout.reschedule(None)
    try:
        yield
    finally:
        if end is not None:
            timeout.reschedule(end + loop.time() - began)
