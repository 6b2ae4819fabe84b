"""A stage whose jobs hand their events to a Temporal server, and a worker that does the rest."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue

from tests.bot.stage import SECRET, Stage, outputs
from tests.fakes.github import FakeGitHub

_SECONDS = 120
"""Time in which a job ends."""


@dataclass
class ServedStage(Stage):
    """The job of an event is the gate and the step that hands the event over; without an address
    it does the work itself.
    """

    address: str = ""
    namespace: str = "default"
    workers: list["subprocess.Popen[str]"] = field(default_factory=list["subprocess.Popen[str]"])
    lines: "Queue[str]" = field(default_factory=Queue[str])
    log: list[str] = field(default_factory=list[str])

    def process(
        self, environ: dict[str, str], folder: Path, *options: str
    ) -> "subprocess.Popen[str]":
        """The step after the gate."""
        if not self.address:
            return super().process(environ, folder, *options)
        given = {
            "FORGE_BOT_WAKE": outputs(folder / "outputs")["wake"],
            "TEMPORAL_ADDRESS": self.address,
            "TEMPORAL_NAMESPACE": self.namespace,
        }
        words = [sys.executable, "-m", "forge_bot.temporal.action_door"]
        self.running = subprocess.Popen(
            words,
            env={**environ, **given},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return self.running

    def start_worker(self, name: str = "machine", *more: str) -> "subprocess.Popen[str]":
        """A worker on a machine that stays, with a token and the model's key."""
        home = self.folder / name
        home.mkdir(parents=True, exist_ok=True)
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "forge_bot", "worker", "--github", self.repo.full_name),
                *("--address", self.address, *more),
            ],
            cwd=home,
            env={
                **{each: os.environ[each] for each in ("PATH", "LANG") if each in os.environ},
                "HOME": str(home),
                "XDG_STATE_HOME": str(home / "state"),
                "GITHUB_TOKEN": self.hub.actions_token(self.repo, **self.permissions),
                "GITHUB_API_URL": self.hub.url,
                "GITHUB_SERVER_URL": self.hub.url,
                "OPENAI_API_KEY": SECRET,
                **self.environ,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.workers.append(process)
        threading.Thread(target=self._read, args=(process,), daemon=True).start()
        # A worker before it may have said how it ended.
        while not self.lines.get(timeout=_SECONDS).startswith("Working for"):
            pass
        return process

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self.log.append(line)
                self.lines.put(line)

    def ended(self) -> str:
        """The end of the next job, in a word."""
        while ": the job ended, " not in (line := self.lines.get(timeout=_SECONDS)):
            pass
        return line.rpartition(" ")[2].strip()

    def stop(self) -> None:
        for process in self.workers:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.workers:
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def served(hub: FakeGitHub, folder: Path, address: str) -> Generator[ServedStage]:
    """A stage whose workers end with the block."""
    stage = ServedStage(hub, folder / "jobs", folder / "script.jsonl", address=address)
    try:
        yield stage
    finally:
        stage.stop()
