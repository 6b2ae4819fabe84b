"""A Temporal server, a worker, and a clone with a remote: each a process of its own."""

import asyncio
import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError

from forge_bot.git import Repository
from forge_bot.resources import templates
from forge_bot.temporal.temporal_server import find_server_program, name_workflow
from tests.fakes import script
from tests.fakes.agents import AgentServer
from tests.fakes.sample import Said, by_script
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import Json

NAMESPACE = "default"


@dataclass
class Server:
    """A development server, with a file for its history."""

    history: Path
    port: int
    options: tuple[str, ...] = ()
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                *(str(find_server_program()), "server", "start-dev", "--headless"),
                *("--ip", "127.0.0.1", "--port", str(self.port), "--log-level", "never"),
                *("--db-filename", str(self.history)),
                *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=off"),
                *self.options,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ends = time.monotonic() + 30
        while not _answers(self.port):
            assert time.monotonic() < ends, "the server does not start"
            assert self.process.poll() is None, "the server ended"

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def _answers(port: int) -> bool:
    async def asked() -> bool:
        client = await Client.connect(f"127.0.0.1:{port}", namespace=NAMESPACE)
        await client.count_workflows()
        return True

    try:
        return asyncio.run(asked())
    except (RuntimeError, RPCError):
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def server(folder: Path, *options: str) -> Generator[Server]:
    """A server for the time of the block. Between the look at a port and its use another process
    may have taken it, so a server that ends at once is started with another one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    it = Server(folder / "history.sqlite", free_port(), options)
    try:
        try:
            it.start()
        except AssertionError:
            it.kill()
            it.port = free_port()
            it.start()
        yield it
    finally:
        it.kill()


@dataclass
class Clone:
    """The sample repository with a remote, the environment of its commands, and its workers."""

    folder: Path
    server: Server
    environ: dict[str, str] = field(default_factory=dict[str, str])
    workers: list["subprocess.Popen[str]"] = field(default_factory=list["subprocess.Popen[str]"])

    @property
    def path(self) -> Path:
        return self.folder / "rota"

    @property
    def remote(self) -> Path:
        return self.folder / "remote.git"

    @property
    def pushes(self) -> Path:
        """Lines of the remote: the old and the new commit of each push, and the branch."""
        return self.folder / "pushes"

    def forge(self, *words: str, at: Path | None = None) -> Said:
        done = subprocess.run(
            [warm_python(), "-m", "forge_bot", *words, *by_script(words)],
            cwd=at or self.path,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """A command that goes on while the test does something else."""
        return subprocess.Popen(
            [sys.executable, "-m", "forge_bot", *words, *by_script(words)],
            cwd=self.path,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def beginning(self, task: str, *words: str) -> tuple[str, ...]:
        """The words of the command that begins a run on the server."""
        at = ("--on", "temporal", "--address", self.server.address)
        return ("run", task, "--effort", "S", "--yes", *at, *words)

    def begin(self, task: str, *words: str) -> Said:
        return self.forge(*self.beginning(task, *words))

    def git(self, *words: str, at: Path | None = None) -> str:
        done = subprocess.run(
            ["git", "-C", str(at or self.path), *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def start_worker(
        self, environ: Mapping[str, str] | None = None, *words: str
    ) -> "subprocess.Popen[str]":
        """A worker that has said where it works."""
        process = subprocess.Popen(
            [sys.executable, "-m", "forge_bot", "worker", "--address", self.server.address, *words],
            cwd=self.path,
            env=environ or self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.workers.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Working for 127.0.0.1:")
        return process

    def again(self, name: str = "local") -> Path:
        """Another clone, of what the remote had before any run."""
        path = self.folder / name
        self.git("clone", "-q", "--single-branch", "--branch", "main", str(self.remote), str(path))
        self.git("remote", "remove", "origin", at=path)
        return path

    def model(self) -> str:
        return script.write(self.folder / "script.jsonl")

    @property
    def branch(self) -> str:
        names = self.git("branch", "--list", "--format=%(refname:short)", "feature/*").split()
        assert len(names) == 1, names
        return names[0]

    @property
    def run(self) -> str:
        return self.git("ls-tree", "--name-only", f"{self.branch}:.specs").split()[-1]

    def reports(self, at: Path | None = None) -> list[str]:
        """The lines of the run's log on its branch."""
        path = f"{self.branch}:.specs/{self.run}/reports.jsonl"
        return self.git("show", path, at=at).splitlines()

    def workflow(self) -> str:
        """The name of the run's workflow."""
        return name_workflow(Repository.find(self.path), self.run)

    def timers(self) -> list[int]:
        """The seconds of the timers that the workflow of the run has started."""
        attributes = [each.timer_started_event_attributes for each in self.history().events]
        return [each.start_to_fire_timeout.seconds for each in attributes if each.timer_id]

    def history(self, name: str = "") -> WorkflowHistory:
        """The history of the run's workflow, or of the one that is called so."""

        async def fetched() -> WorkflowHistory:
            client = await at_server(self.server)
            return await client.get_workflow_handle(name or self.workflow()).fetch_history()

        return asyncio.run(fetched())

    def stop(self) -> None:
        for process in self.workers:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.workers:
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


@contextmanager
def clone(folder: Path, at: Server) -> Generator[Clone]:
    """A clone with a remote, whose workers end with the block."""
    it = Clone(folder, at)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        templates() / "demo" / "repository", it.path, ignore=shutil.ignore_patterns("__pycache__")
    )
    it.environ = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        **{
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.org"))
        },
        "FORGE_BOT_MODEL": it.model(),
        "ANTHROPIC_API_KEY": "sk-ant-secret-of-the-worker",
    }
    as_ann = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    it.git("init", "-q", "-b", "main")
    it.git("add", "-A")
    it.git(*as_ann, "commit", "-qm", "start")
    it.git("clone", "-q", "--bare", str(it.path), str(it.remote))
    it.git("remote", "add", "origin", str(it.remote))
    hook = it.remote / "hooks" / "post-receive"
    hook.write_text(f"#!/bin/sh\ncat >> '{it.pushes}'\n", encoding="utf-8")
    hook.chmod(0o755)
    try:
        yield it
    finally:
        it.stop()


async def at_server(server: Server) -> Client:
    return await Client.connect(server.address, data_converter=pydantic_data_converter)


def asks(models: AgentServer) -> dict[str, str]:
    """The environment of a machine on which these are asked."""
    return {
        "FORGE_BOT_MODEL": "openai-chat:fake",
        "OPENAI_BASE_URL": f"{models.url}/v1",
        "OPENAI_API_KEY": "sk-none",
    }


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    out, _ = process.communicate(timeout=120)
    return process.returncode, out


def texts(place: Clone, name: str = "") -> list[str]:
    """Everything that the history of a workflow holds, event by event."""
    events: list[Json] = place.history(name).to_json_dict()["events"]
    return [json.dumps(_decoded(event)) for event in events]


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(part) for part in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    whole = cast("Json", value)
    if set(whole) >= {"metadata", "data"}:
        return base64.b64decode(whole["data"]).decode()
    return {name: _decoded(part) for name, part in whole.items()}
