"""A Python that has imported forge-bot before it is started: what takes an interpreter a second of
imports takes it a fork.

`warm_python()` is a program that takes the place of `sys.executable` for `-m forge_bot` and for its
worker; anything else it hands to the real Python. What runs is a process of its own with its own
environment, folder, files and signals. How Python itself starts is not tested with it: tests of
that, of kills of single jobs and of process ids start the real one.
"""

import ast
import atexit
import gc
import importlib
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, TypeAdapter

ROOT = Path(__file__).parents[2]
_MODULES = ("forge_bot", "forge_bot.bot.worker")
_WITHOUT = ("temporal",)
"""The rooms that nothing here needs: what they import is an extra."""
_LIBRARIES = (
    # What some commands read only when they need it.
    "anyio._backends._asyncio",
    "concurrent.futures.thread",
    "filelock",
    "genai_prices",
    "html5lib.serializer",
    "html5lib.treebuilders.etree",
    "jmespath",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.openai",
    "rank_bm25",
    "rich._emoji_codes",
    "rich.console",
    "rich.live",
    "rich.logging",
    "rich.markdown",
    "rich.prompt",
    "tree_sitter_python",
)
# A shell decides, since it starts at once: each sandbox is kept by a Python that comes this way.
_LAUNCHER = """#!/bin/sh
case "$1 $2 $3" in
{modules}) exec "{python}" -IS "{asking}" "$0" "$@" ;;
esac
exec "{python}" "$@"
"""
# Only modules that the interpreter has anyway: `json` and `socket` would take as long as its start.
_ASKING = """import sys, posix
from _signal import SIG_DFL, SIGINT, SIGTERM, signal
from _socket import AF_UNIX, SCM_RIGHTS, SOL_SOCKET, socket
here, *words = sys.argv[1:]
server = socket(AF_UNIX)
server.connect({address!r})
files = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([b"!"], [(SOL_SOCKET, SCM_RIGHTS, files)])
environment = [*posix.environ.items()]
order = repr((words, posix.getcwd(), environment, posix.getsid(0) == posix.getpid(), here)).encode()
server.sendall(len(order).to_bytes(4, "big") + order)
for number in (SIGINT, SIGTERM):
    signal(number, lambda number, _: server.send(bytes([number])))
posix.close(0), posix.close(1)
status = posix.waitstatus_to_exitcode(int.from_bytes(server.recv(4) or b"\\1\\0", "big"))
if status < 0:
    signal(-status, SIG_DFL) if -status != 9 else None
    posix.kill(posix.getpid(), -status)
posix._exit(status)
"""


@cache
def warm_python() -> str:
    """Return the program. Each test process has a server of its own, which ends with it."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "socket"))
    listener.listen(64)
    asking = folder / "asking.py"
    asking.write_text(_ASKING.format(address=str(folder / "socket")), encoding="utf-8")
    began = (f'"-m {each} "* | "-P -m {each}"' for each in _MODULES)
    names = {"python": sys.executable, "modules": " | ".join(began), "asking": asking}
    launcher = folder / "python"
    launcher.write_text(_LAUNCHER.format(**names), encoding="utf-8")
    launcher.chmod(0o755)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.warm_python", str(listener.fileno())],
        cwd=ROOT,
        env={**kept, "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        pass_fds=[listener.fileno()],
        start_new_session=True,
    )
    listener.close()

    def end() -> None:
        server.communicate()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return str(launcher)


# -- the server
# --------------------------------------------------------------------------------------------------


class _Order(NamedTuple):
    """What a launcher asks for."""

    words: list[str]
    folder: str
    environment: list[tuple[bytes, bytes]]
    leads: bool
    """Whether the launcher leads a session."""
    executable: str


@dataclass
class _Child:
    """A process that somebody asked for, and the connection to who did."""

    order: _Order
    connection: socket.socket
    process: int

    def send(self, number: int) -> None:
        """Send it a signal, and to its group if it leads one."""
        with suppress(ProcessLookupError):
            (os.killpg if self.order.leads else os.kill)(self.process, number)

    def pass_on(self) -> bool:
        """Send it what was sent to its launcher, and whether that is still there: where it is gone,
        it was killed.
        """
        number = self.connection.recv(1)
        self.send(number[0] if number else signal.SIGKILL)
        return bool(number)

    def ended(self, status: int) -> None:
        """Say how it ended, to whoever is left to hear."""
        if self.order.leads:
            self.send(signal.SIGKILL)
        with suppress(OSError):
            self.connection.sendall(status.to_bytes(4, "big"))
        self.connection.close()


def main() -> None:
    """Fork for everybody who asks, until the test process that may is gone."""
    leave_without_cleaning()
    gc.disable()
    listener, user = socket.socket(fileno=int(sys.argv[1])), sys.stdin.fileno()
    load(_LIBRARIES, _WITHOUT)
    importlib.import_module("github")
    build_models()
    gc.freeze()
    gc.enable()
    ended, told = socket.socketpair()
    told.setblocking(False)
    signal.set_wakeup_fd(told.fileno())
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    children: dict[int, _Child] = {}
    while True:
        heard = [each.connection for each in children.values() if each.connection.fileno() >= 0]
        ready, _, _ = select.select([listener, ended, user, *heard], [], [])
        if user in ready:
            return
        if ended in ready:
            ended.recv(64)
            _reap(children)
        for child in [each for each in children.values() if each.connection in ready]:
            if not child.pass_on():
                child.connection.close()
        if listener in ready and _began(listener, children):
            for each in (listener, ended, told):
                each.close()
            return


def _reap(children: dict[int, _Child]) -> None:
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            children.pop(found[0]).ended(found[1])


def _began(listener: socket.socket, children: dict[int, _Child]) -> bool:
    """Fork for who asks next. True in the process that was asked for, once it is over."""
    connection, _ = listener.accept()
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    try:
        size = int.from_bytes(_exactly(connection, 4), "big")
        order = _Order(*ast.literal_eval(_exactly(connection, size).decode()))
    except EOFError:  # its launcher was killed before it had said what it wants
        connection.close()
        order = None
    process = 0 if order is None else os.fork()
    if order is not None and process == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (connection, *(child.connection for child in children.values())):
            each.close()
        _become(order, files)
        return True
    for file in files:
        os.close(file)
    if order is not None:
        children[process] = _Child(order, connection, process)
    return False


def load(libraries: Iterable[str], without: Collection[str]) -> None:
    """Import libraries, and every module of forge-bot that is found, but those of some rooms and
    those that run as they are imported.
    """
    for name in libraries:
        importlib.import_module(name)
    for file in sorted((ROOT / "forge_bot").rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        if parts[-1] != "__main__" and parts[1] not in without:
            importlib.import_module(".".join(parts).removesuffix(".__init__"))


def build_models() -> None:
    """Build the models and the shipped pipelines, which each process would do anew when it uses
    them first.
    """
    from forge_bot.settings.load_pipeline import load_pipeline, pipeline_names
    from forge_bot.values import Frozen

    todo: list[type[BaseModel]] = [Frozen]
    while todo:
        model = todo.pop()
        todo += model.__subclasses__()
        if not model.__pydantic_complete__:
            model.model_rebuild(raise_errors=False)
    for each in gc.get_objects():
        if isinstance(each, TypeAdapter):
            each.rebuild(raise_errors=False)
    for name in pipeline_names(None):
        load_pipeline(name, None)


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = connection.recv(size, socket.MSG_WAITALL)
    if len(found) < size:
        raise EOFError
    return found


def _become(order: _Order, files: list[int]) -> None:
    """Run the module as the interpreter that was asked for would have."""
    if order.leads:
        os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115 - as long as the process
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order.folder)
    os.environb.clear()
    os.environb.update(order.environment)
    # Without -P, Python looks for modules in the folder that it is started in.
    safe = order.words[0] == "-P"
    sys.path[:1] = [] if safe else [order.folder]
    _, module, *arguments = order.words[safe:]
    sys.executable = order.executable
    sys.argv = ["", *arguments]
    sys.modules.pop(module if module != "forge_bot" else "forge_bot.__main__", None)
    run_as_main(module)


# -- the end of a process
# --------------------------------------------------------------------------------------------------

_status: list[int] = []


def leave_without_cleaning() -> None:
    """Let processes that are forked from now on leave their memory to the system when they are
    over: to take apart what they share would copy it all first. To be called before anything else
    that wants to be called at the end.
    """
    atexit.register(_leave)


def run_as_main(module: str) -> None:
    """Run a module as the main one, and keep its exit code for the end of the process."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        if not isinstance(error.code, int | None):
            raise
        _status.append(error.code or 0)


def _leave() -> None:
    if _status:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_status[0])


if __name__ == "__main__":
    main()
