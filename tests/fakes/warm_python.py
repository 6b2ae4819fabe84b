"""A Python that has imported forge-bot before it is started: what takes an interpreter a second of
imports takes it a fork.

`warm_python()` is a program that takes the place of `sys.executable` for `-m forge_bot` and for its
worker; anything else it hands to the real Python. What runs is a process of its own with its own
environment, folder, files and signals. How Python itself starts is not tested with it: tests of
that, of kills of single jobs and of process ids start the real one.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

ROOT = Path(__file__).parents[2]
_MODULES = ("forge_bot", "forge_bot.bot.worker")
_LOADED = (
    "forge_bot.cli.app",
    "forge_bot.bot.job",
    "forge_bot.bot.worker",
    "forge_bot.mcp_server.server",
    "forge_bot.mcp_server.service",
    "forge_bot.agent.models.open_model",
    "forge_bot.agent.models.provider",
    # What some commands read only when they need it.
    "forge_bot.project.graph.stacks.own_stacks",
    "forge_bot.runs.estimate_evidence",
    "forge_bot.runs.estimate_prices",
    "filelock",
    "rank_bm25",
    "rich.console",
    "rich.markdown",
)
# A shell decides, since it starts at once: each sandbox is kept by a Python that comes this way.
_LAUNCHER = """#!/bin/sh
case "$1 $2 $3" in
{modules}) exec "{python}" -IS "{asking}" "$0" "$@" ;;
esac
exec "{python}" "$@"
"""
_ASKING = """import json, os, signal, socket, sys
here, *words = sys.argv[1:]
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
order = dict(words=words, folder=os.getcwd(), environment=dict(os.environ), leads=os.getsid(0) == os.getpid(), executable=here)
socket.send_fds(server, [b"!"], [0, 1, 2])
text = json.dumps(order).encode()
server.sendall(len(text).to_bytes(4, "big") + text)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: server.send(bytes([number])))
os.close(0), os.close(1)
status = os.waitstatus_to_exitcode(int.from_bytes(server.recv(4) or b"\\1\\0", "big"))
if status < 0:
    signal.signal(-status, signal.SIG_DFL) if -status != signal.SIGKILL else None
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@cache
def warm_python() -> str:
    """Start the server of this test process, once; the path of the program that asks it."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    launcher = folder / "python"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "socket"))
    listener.listen(64)
    asking = folder / "asking.py"
    asking.write_text(_ASKING.format(address=str(folder / "socket")), encoding="utf-8")
    began = (f'"-m {each} "* | "-P -m {each}"' for each in _MODULES)
    names = {
        "python": sys.executable,
        "modules": " | ".join(began),
        "asking": asking,
    }
    launcher.write_text(_LAUNCHER.format(**names), encoding="utf-8")
    launcher.chmod(0o755)
    environment = {
        name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.warm_python", str(listener.fileno())],
        cwd=ROOT,
        env={**environment, "OPENBLAS_NUM_THREADS": "1"},
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


def main() -> None:
    """Fork for everybody who asks, until the tests that started this server are over."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    for name in _LOADED:
        importlib.import_module(name)
    from forge_bot.github_api import load_library

    load_library()
    build_models()
    gc.freeze()
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if sys.stdin in ready:
            return None
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return _look_after(connection)
        connection.close()


def build_models() -> None:
    """Build what pydantic builds when it is used first, which each process would do anew."""
    todo: list[type[BaseModel]] = [BaseModel]
    while todo:
        model = todo.pop()
        todo += model.__subclasses__()
        if model.__module__.startswith("forge_bot.") and not model.__pydantic_complete__:
            model.model_rebuild(raise_errors=False)
    for each in gc.get_objects():
        if isinstance(each, TypeAdapter):
            each.rebuild(raise_errors=False)


def _look_after(connection: socket.socket) -> None:
    """Start a process as it was ordered, pass signals on to it, and say how it ended."""
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    order = json.loads(_exactly(connection, int.from_bytes(_exactly(connection, 4), "big")))
    process = os.fork()
    if process == 0:
        connection.close()
        return _become(order, files)
    for file in files:
        os.close(file)
    threading.Thread(
        target=_pass_on, args=(connection, process, order["leads"]), daemon=True
    ).start()
    _, status = os.waitpid(process, 0)
    if order["leads"]:
        _send(process, signal.SIGKILL, group=True)
    with suppress(OSError):
        connection.sendall(status.to_bytes(4, "big"))
    os._exit(0)


def _pass_on(connection: socket.socket, process: int, group: bool) -> None:
    """Send the process what was sent to its launcher; where that is gone, it was killed."""
    while number := connection.recv(1):
        _send(process, number[0], group=group)
    _send(process, signal.SIGKILL, group=group)


def _send(process: int, number: int, *, group: bool) -> None:
    with suppress(ProcessLookupError):
        (os.killpg if group else os.kill)(process, number)


def _exactly(connection: socket.socket, size: int) -> bytes:
    return connection.recv(size, socket.MSG_WAITALL)


def _become(order: dict[str, Any], files: list[int]) -> None:
    """Run the module as the interpreter that was asked for would have."""
    if order["leads"]:
        os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115 - as long as the process
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    words: list[str] = order["words"]
    # Without -P, Python looks for modules in the folder that it is started in.
    sys.path[:1] = [] if words[0] == "-P" else [order["folder"]]
    _, module, *arguments = words[words[0] == "-P" :]
    sys.executable = order["executable"]
    sys.argv = ["", *arguments]
    sys.modules.pop(module if module != "forge_bot" else "forge_bot.__main__", None)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
