"""The permissions of a command (Box, ResourceLimits), the backends, and the outcome."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path, PurePosixPath

from pydantic import Field, field_validator

from forge_bot.settings.protected_paths import held_in_sandbox
from forge_bot.values import Frozen

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a place inside a box


class BackendName(StrEnum):
    """The means by which a command is held, strongest first."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    OFF = "off"


class ResourceLimits(Frozen):
    """The resources that one command may use.

    docs/sandbox.md explains how each limit is enforced.
    """

    seconds: float = Field(
        default=600, gt=0, description="until everything that was started is ended; exit code 124"
    )
    output_bytes: int = Field(
        default=1_000_000, ge=1_000, description="kept of the output, half of it from the end"
    )
    memory_bytes: int = Field(
        default=4 * 2**30,
        ge=2**20,
        description="resident, of all processes added up; exit code 137",
    )
    processes: int = Field(default=512, ge=1, description="alive at a time; exit code 137")
    file_bytes: int = Field(default=2**30, ge=1, description="size of any one file that is written")
    shared_memory_bytes: int = Field(
        default=2**30, ge=2**20, description="in /dev/shm; by bubblewrap only"
    )


class Box(Frozen):
    """The place where a command runs and what it may access. It cannot reach anything else."""

    worktree: Path = Field(
        description="the only project folder that can be written; also where the command starts"
    )
    network: bool = Field(default=False, description="for the installation of dependencies only")
    hosts: tuple[str, ...] = Field(
        default=(), description="that setup reaches beside registries, as HOST or HOST:PORT"
    )
    services: tuple[int, ...] = Field(
        default=(),
        description="ports of this machine's 127.0.0.1 that it reaches; by bubblewrap and off only",
    )
    writable: tuple[Path, ...] = Field(
        default=(), description="further folders it may write; made when missing"
    )
    readable: tuple[Path, ...] = Field(
        default=(), description="further folders or files it may read; skipped when missing"
    )
    copied: Mapping[str, Path] = Field(
        default={}, description="by variables: folders of which it gets a copy, deleted afterwards"
    )
    env: Mapping[str, str] = Field(default={}, description="added to the clean environment")
    secret_env: Mapping[str, str] = Field(
        default={}, repr=False, description="variables that stand on no command line"
    )
    read_only_inside: tuple[str, ...] = Field(
        default=(".git", ".github", ".specs", ".forge"), description="inside the work tree"
    )
    kept_inside: tuple[str, ...] = Field(
        default=held_in_sandbox(),
        description="inside the work tree: read-only if there, removed afterwards if new",
    )
    limits: ResourceLimits = ResourceLimits()

    @field_validator("read_only_inside", "kept_inside")
    @classmethod
    def _stays_inside(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        for entry in entries:
            path = PurePosixPath(entry)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError(f"{entry!r} is not the name of something inside the work tree")
        return entries


class CommandOutcome(Frozen):
    """The result of a command.

    The exit code is its own, 124 for a timeout, 126 and 127 when it could not be started, and 128 +
    n for signal n.
    """

    exit_code: int
    output: str = Field(
        description=(
            "stdout and stderr as they came; when cut, one line says how many bytes are left out"
        )
    )
    timed_out: bool
    truncated: bool
    duration_ms: int
    backend: BackendName
    cannot_judge: str = Field(
        default="",
        description="why a failure says nothing about the project: what the backend could not give",
    )
