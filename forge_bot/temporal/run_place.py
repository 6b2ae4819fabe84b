"""The note on this machine with the Temporal server that leads a run."""

import hashlib
import platform
from pathlib import Path

from pydantic import Field

from forge_bot.git import Repository
from forge_bot.runs.run_files import read_kept, run_paths
from forge_bot.store import write_whole
from forge_bot.values import Frozen


class TemporalPlace(Frozen):
    """The server of a run, and the options that the run was begun with."""

    address: str = Field(default="", description="host:port; empty for an embedded server")
    namespace: str = ""
    dev: bool = Field(default=False, description="each command starts the server by itself")
    model: str | None = None
    push: bool = False
    open_pr: bool = False
    post: bool = False
    heartbeat_seconds: float = Field(default=20.0, ge=1, le=3600)

    @property
    def told(self) -> str:
        """Return the server in words."""
        if self.dev:
            return "a Temporal server that each command starts"
        return f"the Temporal server at {self.address}, namespace {self.namespace}"


def read_place(repository: Repository, run: str) -> TemporalPlace | None:
    """Return the server that leads the run; None for a local run."""
    return read_kept(_note(repository, run), TemporalPlace)


def keep_place(repository: Repository, run: str, place: TemporalPlace) -> None:
    """Note the server that leads the run."""
    write_whole(_note(repository, run), place.model_dump_json())


def forget_place(repository: Repository, run: str) -> None:
    """Make the run a local one."""
    _note(repository, run).unlink(missing_ok=True)


def find_history_file(repository: Repository, run: str) -> Path:
    """Return the file in which an embedded server keeps its history."""
    return run_paths(repository, run).home / "temporal.sqlite"


def name_queue(repository: Repository) -> str:
    """Return the task queue for work in this clone of the repository."""
    clone = f"{platform.node()}:{repository.common_dir}"
    return f"forge-bot-{hashlib.sha256(clone.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


def name_workflow(repository: Repository, run: str) -> str:
    """Return the id of the workflow that leads a run of this clone."""
    return f"{name_queue(repository)}/{run}"


def _note(repository: Repository, run: str) -> Path:
    return run_paths(repository, run).home / "temporal.json"
