"""The Temporal server of a run: the note on this machine that names it, and the connection to it,
or to a development server that runs as long as a command.
"""

import hashlib
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from forge_bot.errors import (
    TemporalMissing,
    TemporalRefused,
    TemporalServerMissing,
    TemporalUnavailable,
)
from forge_bot.git import Repository
from forge_bot.runs.run_files import read_kept, run_paths
from forge_bot.sandbox.helper_processes import keeper
from forge_bot.store.files import waited_for, write_whole
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from temporalio.client import Client
    from temporalio.service import RPCError


_PROGRAM = "temporal"
_LOOPBACK = "127.0.0.1"
_SECONDS = 10.0
_PAUSE = 0.05
_FAST = ("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=off")
"""A development server may lose its history: the run lies on its branch."""


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


def require_client() -> None:
    """Raise TemporalMissing where the client of Temporal is not installed."""
    if find_spec("temporalio") is None:
        raise TemporalMissing("The client of Temporal is not installed.")


def find_server_program() -> Path:
    """Return the program of the development server. Raises TemporalServerMissing."""
    beside = Path(sys.executable).with_name(_PROGRAM)
    program = str(beside) if beside.is_file() else shutil.which(_PROGRAM)
    if program is None:
        raise TemporalServerMissing("--dev starts Temporal's own server, which is not installed.")
    return Path(program)


def read_named_place(address: str | None, namespace: str | None) -> TemporalPlace:
    """Return the server that options, the environment or the client's own profile name."""
    from temporalio.envconfig import ClientConfig

    known = ClientConfig.load_client_connect_config()
    return TemporalPlace(
        address=address or known.get("target_host", "localhost:7233"),
        namespace=namespace or known.get("namespace", "default"),
    )


@asynccontextmanager
async def open_connection(place: TemporalPlace, history: Path) -> AsyncGenerator["Client"]:
    """Connect to the server of a run; an embedded one begins here, with its history in a file, and
    ends with this process, however that ends. Only one at a time has the file.

    Raises TemporalUnavailable and TemporalRefused.
    """
    if not place.dev:
        yield await connect(place)
        return
    import asyncio

    port = _find_free_port()
    words = ("server", "start-dev", "--headless", "--ip", _LOOPBACK, "--port", str(port))
    kept = ("--db-filename", str(history), "--log-level", "never")
    with waited_for(history.with_suffix(".lock")):
        # Ctrl-C is for this process, which ends the server when its work has ended.
        server = await asyncio.create_subprocess_exec(
            *(*keeper(), find_server_program(), *words, *kept, *_FAST),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield await _connect_to_new(place.replace(address=f"{_LOOPBACK}:{port}"))
        finally:
            # It keeps nothing in memory alone, and takes a second longer to end by itself.
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            await server.wait()


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        return probe.getsockname()[1]


async def _connect_to_new(place: TemporalPlace) -> "Client":
    """Connect to a server that is just being started."""
    import asyncio

    ends = asyncio.get_running_loop().time() + _SECONDS
    while True:
        try:
            return await connect(place)
        except (TemporalUnavailable, TemporalRefused):
            if asyncio.get_running_loop().time() > ends:
                raise
            await asyncio.sleep(_PAUSE)


async def connect(place: TemporalPlace) -> "Client":
    """Connect to a running server. Raises TemporalUnavailable and TemporalRefused."""
    import asyncio

    from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
    from temporalio.client import Client
    from temporalio.contrib.pydantic import pydantic_data_converter
    from temporalio.envconfig import ClientConfig
    from temporalio.service import RPCError

    known = ClientConfig.load_client_connect_config()
    known["target_host"], known["namespace"] = place.address, place.namespace
    try:
        async with asyncio.timeout(_SECONDS):
            client = await Client.connect(**known, data_converter=pydantic_data_converter)
            asked = DescribeNamespaceRequest(namespace=place.namespace)
            await client.workflow_service.describe_namespace(asked)
    except RPCError as error:
        raise make_forge_error(error, place) from error
    except (RuntimeError, TimeoutError) as error:
        raise TemporalUnavailable(
            f"The Temporal server at {place.address} does not answer."
        ) from error
    return client


def make_forge_error(
    error: "RPCError", place: TemporalPlace
) -> TemporalUnavailable | TemporalRefused:
    """Return the error for an error of the server's protocol."""
    from temporalio.service import RPCStatusCode

    if error.status in {RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT}:
        return TemporalRefused(f"{place.address} has no namespace {place.namespace!r}.")
    if error.status in {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}:
        return TemporalRefused(f"{place.address} refuses access to {place.namespace!r}.")
    where = place.address or "of this command"
    return TemporalUnavailable(f"The Temporal server {where} does not answer.")
