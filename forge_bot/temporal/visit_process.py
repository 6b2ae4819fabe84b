"""The process of a visit to a thread, which waits before each step until it may begin."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from forge_bot.bot.step_permission import STEPS
from forge_bot.bot.worker_messages import LONGEST_LINE, ActionEnded, StepBegins, read_message

_PULSE = 5.0
_GENTLE_SECONDS = 10.0
_IDLE_SECONDS = 300.0
"""Time after which a visit that gets no permission for its next step is ended."""

_MODULE = "forge_bot.temporal.thread_job"

Result = TypeVar("Result")


async def watched(work: Awaitable[Result], alive: Callable[[], object]) -> Result:
    """Wait for something, and call `alive` every few seconds meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            alive()
            await asyncio.wait({task}, timeout=_PULSE)
        return await task
    finally:
        task.cancel()


class LiveVisit:
    """One visit, in a process of its own with a folder of its own."""

    def __init__(self, process: Process, folder: Path, back: int) -> None:
        self.folder = folder
        self._process = process
        self._back = back
        self._idle: asyncio.TimerHandle | None = None
        self._stopping: asyncio.Future[None] | None = None
        self._reader = asyncio.StreamReader(limit=LONGEST_LINE)
        self._ended: asyncio.Future[int] | None = None

    @classmethod
    async def begun(
        cls,
        folder: Path,
        environ: Mapping[str, str],
        tell: Callable[[str], None],
        over: Callable[[], object],
    ) -> "LiveVisit":
        """Start the process; its environment names files in the folder. `tell` gets the lines of
        its log; `over` is called when it has ended.
        """
        steps, told = os.pipe()
        heard, back = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", _MODULE),
                cwd=folder,
                env={**environ, STEPS: f"{told},{heard}"},
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                pass_fds=(told, heard),
                start_new_session=True,
            )
        except BaseException:
            os.close(steps)
            os.close(back)
            raise
        finally:
            os.close(told)
            os.close(heard)
        it = cls(process, folder, back)
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(it._reader), os.fdopen(steps, "rb", 0)
        )
        it._ended = asyncio.ensure_future(it._followed(tell, over))
        return it

    async def _followed(self, tell: Callable[[str], None], over: Callable[[], object]) -> int:
        out = self._process.stdout
        try:
            while out is not None and (line := await out.readline()):
                tell(line.decode("utf-8", "replace").rstrip())
            return await self._process.wait()
        finally:
            self._close()
            over()

    @property
    def closed(self) -> bool:
        """Return whether the visit begins no further steps."""
        return self._back < 0

    def go_on(self) -> None:
        """Let the process begin the step that it has announced."""
        if self._idle is not None:
            self._idle.cancel()
        with suppress(OSError):
            os.write(self._back, b"\n")

    async def next_step(self, alive: Callable[[], object]) -> tuple[StepBegins | None, str]:
        """Return the next step that waits for permission, None at the end of the visit; and the
        outcome of the last step if it was an action. `alive` is called now and then.
        """
        outcome = ""
        while line := await watched(self._reader.readline(), alive):
            match read_message(line):
                case ActionEnded(outcome=outcome):
                    continue
                case StepBegins() as step:
                    loop = asyncio.get_running_loop()
                    self._idle = loop.call_later(_IDLE_SECONDS, self._give_up)
                    return step, outcome
                case _:
                    break
        # What it left behind would keep its log open.
        self._kill()
        return None, outcome

    async def ended(self, alive: Callable[[], object] = lambda: None) -> int:
        """Wait for the end of a process that begins no further steps; return its exit code."""
        return 1 if self._ended is None else await watched(asyncio.shield(self._ended), alive)

    def _give_up(self) -> None:
        self._stopping = asyncio.ensure_future(self.stop(at_work=False))

    async def stop(self, *, at_work: bool) -> None:
        """End the visit, at work or while it waits to begin a step."""
        self._close()
        if at_work:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _GENTLE_SECONDS)
        self._kill()
        await self.ended()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _close(self) -> None:
        """Let the process end where it next waits to begin a step."""
        if self._idle is not None:
            self._idle.cancel()
        back, self._back = self._back, -1
        if back >= 0:
            os.close(back)


def new_folder() -> Path:
    """Return a folder for a visit."""
    return Path(tempfile.mkdtemp(prefix="forge-bot-visit-"))
