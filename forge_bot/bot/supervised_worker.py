"""Run the worker as a child process, record what it hands over, and stop it by the switch of the
repository.

Tokens of jobs may not read variables, so that a job that begins with the switch set puts a ref at
the remote, and one without it takes it away.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Event, Thread

from forge_bot.agent.redaction import secrets_of
from forge_bot.bot.job_context import JobContext, without_token
from forge_bot.bot.record_work import WorkRecorder
from forge_bot.bot.worker_messages import (
    CANCELLED,
    GO_ON,
    LONGEST_LINE,
    HandedOver,
    LogMessage,
    WorkerQuestion,
    WorkerStopped,
    read_message,
)
from forge_bot.engine.reports import CommandsRan
from forge_bot.errors import ForgeError
from forge_bot.forge import show_error, show_warning, write_line
from forge_bot.git import Repository, remotes
from forge_bot.git.commits import OWN_IDENTITY
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.model_access import SWITCH, SWITCH_FILE, is_switched_off
from forge_bot.runs.open_run import look_at_run
from forge_bot.runs.run import Run
from forge_bot.settings.config import load_config
from forge_bot.verification.command_outcome import red_places
from forge_bot.verification.judgement import newly_failing

_MOST_SHOWN = 10
"""Errors of one step that GitHub shows."""

_GENTLE_SECONDS = 4.0
"""Of the seven and a half that GitHub leaves a cancelled step before it is ended."""


class WorkerProcess:
    """One worker: started without the token, read line by line, asked to stop and then killed.

    Iterate over its messages, and answer handed files by `go_on`.
    """

    def __init__(
        self, folder: Path, arguments: tuple[str, ...], environ: Mapping[str, str]
    ) -> None:
        # -P: the folder is the repository's, and its files may have the names of our libraries.
        prefix = sys.pycache_prefix
        kept_code = ("-X", f"pycache_prefix={prefix}") if prefix is not None else ()
        command = [sys.executable, *kept_code, "-P", "-m", "forge_bot.bot.worker", *arguments]
        # Unbuffered and in a session of its own: a signal for us is passed on by us, and what it
        # started ends with it.
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._stopped: WorkerStopped | None = None

    def messages(self) -> Generator[HandedOver | LogMessage]:
        """Yield the worker's messages until it has stopped; then read `stopped`."""
        out = self._process.stdout
        while out is not None and (line := out.readline(LONGEST_LINE + 1)):
            message = read_message(line)
            if message is None:
                self.kill()
                self._stopped = WorkerStopped(
                    code="ERR-001",
                    message="The worker said something that is no message.",
                    exit_code=1,
                )
                return
            if isinstance(message, WorkerStopped):
                self._stopped = message
            elif self._stopped is None:
                yield message

    def go_on(self) -> None:
        """Tell the worker that its files are recorded."""
        with suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.write(GO_ON.encode())
                self._process.stdin.flush()

    def hang_up(self) -> None:
        """Ask the worker to stop at its current place."""
        with suppress(BrokenPipeError, OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def stopped(self) -> WorkerStopped:
        """Return the worker's result. A worker that died without a message has failed."""
        code = self._end()
        if self._stopped is not None:
            return self._stopped
        how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
        message = f"The worker {how}, without a word."
        return WorkerStopped(code="ERR-001", message=message, exit_code=1)

    def cancel(self) -> None:
        """Ask it to stop, wait a little, and end it."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.wait(_GENTLE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the worker and all processes that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _end(self) -> int:
        self.hang_up()
        try:
            return self._process.wait(_GENTLE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()
        finally:
            # What outlives a worker could go on with its branch while that is looked at and pushed.
            self.kill()
            if self._process.stdout is not None:
                self._process.stdout.close()


class SupervisedWorker:
    """Starts workers, one at a time. `recorded` is called with the run for each commit that was
    made of a worker's files.
    """

    def __init__(
        self,
        repository: Repository,
        around: JobContext,
        recorded: Callable[[Run, str], None],
    ) -> None:
        self.repository = repository
        self.around = around
        self.recorded = recorded
        self._child: WorkerProcess | None = None
        self._cancelled = False
        self._done = False

    def cancel(self) -> None:
        """End the worker soon, and start no further one."""
        self._cancelled = True
        if self._child is not None:
            self._child.cancel()

    def stop_after_this(self) -> None:
        """End the worker at the commit that is being made: nothing is begun after it."""
        self._done = True

    def work(self, info: RunInfo, question: WorkerQuestion | None = None) -> WorkerStopped:
        """Perform until somebody else has to act, or have a model answer a question about the run;
        return how it stopped, with the answer.
        """
        if self._cancelled:
            return CANCELLED
        asked = (question.model_dump_json(),) if question is not None else ()
        # The worker opens the run, and has its lock; it waits whenever this process writes.
        run = look_at_run(self.repository, info, load_config(self.repository.root))
        known = len(run.workspace.reports())
        recorder = WorkRecorder(run, secrets_of(self.around.environ))
        with watched_switch(self.repository) as switch:
            stopped = self._watched((info.name, *asked), recorder, switch)
        _show_red(run, known)
        return CANCELLED if self._cancelled else stopped

    def _watched(
        self, arguments: tuple[str, ...], recorder: WorkRecorder, switch: Path
    ) -> WorkerStopped:
        """Start a worker, and follow it until it has stopped."""
        environ = without_token(self.around.environ, self.around.step.token)
        self._child = child = WorkerProcess(
            self.repository.root,
            arguments,
            {**environ, **OWN_IDENTITY, SWITCH_FILE: str(switch)},
        )
        if self._cancelled:
            # A signal may have arrived while the worker was being started.
            child.cancel()
        try:
            self._follow(child, recorder)
        except BaseException:
            child.kill()
            raise
        finally:
            self._child = None
            stopped = child.stopped()
        return stopped

    def _follow(self, child: WorkerProcess, recorder: WorkRecorder) -> None:
        """Heed a worker's messages until it has stopped."""
        for message in child.messages():
            match message:
                case HandedOver(files=files):
                    self.recorded(recorder.run, recorder.record(files))
                    if self._done:
                        child.hang_up()
                    else:
                        child.go_on()
                case LogMessage(level=level, text=text):
                    (show_warning if level == "warning" else write_line)(text)


def _show_red(run: Run, known: int) -> None:
    """Say in the log what is newly red in the last verification after the known reports, at the
    lines of its files, for GitHub to show there.
    """
    reports = run.workspace.reports()[known:]
    ran = [report for report in reports if isinstance(report, CommandsRan)]
    before = {(old.name, old.argv): old for old in run.state.baseline}
    files = frozenset(run.repository.list_files(run.ref)) if ran else ()
    places = (
        place
        for now in (ran[-1].results if ran else ())
        for old in (before.get((now.name, now.argv)),)
        for place in red_places(
            newly_failing(old, now) if old else now.failures, now.tail.splitlines(), files
        )
    )
    for place in islice(places, _MOST_SHOWN):
        show_error(f"Newly red: {place.name[:200]}", place.file, place.line)


STOPPED = "refs/forge-bot/stopped"
_PAUSE = 20.0


def tell_jobs(repository: Repository, environ: Mapping[str, str]) -> None:
    """Let jobs under way know how the switch is set, if this job was told."""
    if SWITCH not in environ:
        return
    with suppress(ForgeError):
        off, there = is_switched_off(environ), remotes.has_at_origin(repository.root, STOPPED)
        if off and not there:
            remotes.put_at_origin(repository.root, STOPPED, repository.head().commit)
        elif there and not off:
            remotes.put_at_origin(repository.root, STOPPED, "")


@contextmanager
def watched_switch(repository: Repository, seconds: float = _PAUSE) -> Generator[Path]:
    """Yield the path of a file that is made, in these seconds, when the ref is at the remote."""
    done = Event()
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as folder:
        file = Path(folder) / "stopped"

        def watch() -> None:
            while not (done.wait(seconds) or file.exists()):
                with suppress(ForgeError):
                    if remotes.has_at_origin(repository.root, STOPPED):
                        file.touch()

        thread = Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield file
        finally:
            done.set()
            thread.join()
