"""Runs tests in several processes: `pytest -n 3`. The tests are collected once, and each worker is a
fork of the process that has collected them, so what they import is loaded and parsed once.

Each worker asks for one unit after another (`tests.scheduling`) and sends its reports back, as bytes
of `pickle` behind their length. A worker that ends in a test fails that test, and another worker takes
over the rest of its unit.
"""

import atexit
import os
import pickle
import random
import selectors
import socket
import sys
import traceback
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NoReturn

import pytest

from tests.scheduling import units

_BYTES = 4
"""The bytes that hold the length of a message."""
_FAULT = 70
"""The exit status of a worker that failed outside of a test (sysexits.h: EX_SOFTWARE)."""


def add_option(parser: pytest.Parser) -> None:
    """Take `-n 3`: run the tests in three processes."""
    # pytest's public function takes no lower-case letter; plugins take them by this one.
    parser.getgroup("workers")._addoption(  # pyright: ignore[reportPrivateUsage]
        "-n",
        dest="workers",
        type=int,
        default=0,
        metavar="N",
        help="run the tests in N processes, which are forked once the tests are collected",
    )


def run_in_workers(session: pytest.Session) -> bool | None:
    """Run what was collected in the workers that were asked for. None where none were."""
    option = session.config.option
    if option.workers < 2 or option.collectonly or session.testsfailed or not session.items:
        return None
    _Workers(session).run(option.workers)
    return True


@dataclass
class _Worker:
    """A process that runs tests, as the process that started it sees it."""

    number: int
    process: int
    connection: socket.socket
    todo: list[int]
    """The tests that it was given and has not finished, by their place among those collected."""

    def give(self, unit: list[int]) -> None:
        self.todo += unit
        _send(self.connection, unit)


class _Workers:
    """The workers, and the units that none of them has taken yet."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._hook = session.config.hook
        self._units = deque(units(session.items))
        self._folder = _temporary(session.config).getbasetemp()
        self._waiting = selectors.DefaultSelector()

    def run(self, workers: int) -> None:
        """Return when every test has been run; end all workers whatever happens."""
        try:
            for number in range(min(workers, len(self._units))):
                self._begin(number)
            while self._waiting.get_map():
                for key, _ in self._waiting.select():
                    self._hear(key.data)
                if self._session.shouldfail:
                    raise self._session.Failed(self._session.shouldfail)
                if self._session.shouldstop:
                    raise self._session.Interrupted(self._session.shouldstop)
        finally:
            for key in list(self._waiting.get_map().values()):
                key.data.connection.close()
                os.waitpid(key.data.process, 0)
            self._waiting.close()

    def _begin(self, number: int) -> None:
        """Fork a worker and give it a unit."""
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            ours.close()
            for key in self._waiting.get_map().values():
                key.data.connection.close()
            _work(self._session, theirs, self._folder / f"worker-{number}")
        theirs.close()
        worker = _Worker(number, process, ours, [])
        self._waiting.register(ours, selectors.EVENT_READ, worker)
        worker.give(self._units.popleft())

    def _hear(self, worker: _Worker) -> None:
        """Take a message of a worker: what it began, a report, or that it wants another unit."""
        try:
            kind, about = _receive(worker.connection)
        except (EOFError, ConnectionError):
            kind, about = "gone", -1
        if kind == "gone":
            self._gone(worker)
        elif kind == "began":
            item = self._session.items[about]
            self._hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        elif kind == "report":
            report = self._hook.pytest_report_from_serializable(
                config=self._session.config, data=about
            )
            self._hook.pytest_runtest_logreport(report=report)
        elif kind == "finished":
            item = self._session.items[about]
            worker.todo.remove(about)
            self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        else:
            worker.give(self._units.popleft() if self._units else [])

    def _gone(self, worker: _Worker) -> None:
        """Wait for a worker that has ended. If it had not finished, its test has failed, and another
        worker does the rest.
        """
        self._waiting.unregister(worker.connection)
        worker.connection.close()
        status = os.waitstatus_to_exitcode(os.waitpid(worker.process, 0)[1])
        if status == _FAULT:
            raise RuntimeError("A worker failed outside of its tests: see above")
        if worker.todo:
            first, *rest = worker.todo
            item = self._session.items[first]
            said = f"the worker ended in this test with status {status}"
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", said, "call")
            self._hook.pytest_runtest_logreport(report=report)
            if rest:
                self._units.appendleft(rest)
        if self._units:
            self._begin(worker.number)


# -- in a worker
# --------------------------------------------------------------------------------------------------


class _Reports:
    """Sends the reports of a worker to the process that tells of them."""

    def __init__(self, config: pytest.Config, connection: socket.socket) -> None:
        self._config, self._connection = config, connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        _send(self._connection, ("report", data))


def _work(session: pytest.Session, connection: socket.socket, folder: Path) -> NoReturn:
    """Run one unit after another, and end this process."""
    status = _FAULT
    # What was registered before belongs to the process that has forked this one.
    # Python has no public names for these two.
    atexit._clear()  # pyright: ignore[reportPrivateUsage]
    try:
        _settle(session.config, connection, folder)
        _run(session, connection)
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
        _keep_coverage()
        status = 0
    except (EOFError, ConnectionError, KeyboardInterrupt):
        status = 0  # whoever asked is gone, or ends all of it
    except Exception:  # noqa: BLE001 - it is told, and this process ends
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _settle(config: pytest.Config, connection: socket.socket, folder: Path) -> None:
    """Be a process of one's own: nothing is told but over the connection, and output, temporary
    folders and random numbers are not those of another worker.
    """
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_Reports(config, connection))
    _write_elsewhere(config)
    folder.mkdir(mode=0o700, exist_ok=True)
    vars(_temporary(config))["_basetemp"] = folder
    random.seed()


def _write_elsewhere(config: pytest.Config) -> None:
    """Keep what tests print in files of this process. The objects that pytest writes to stay as they
    are: a library may have kept `sys.stderr` as it found it.
    """
    if config.option.capture != "fd":
        return
    capturing = vars(config.pluginmanager.getplugin("capturemanager"))["_global_capturing"]
    for kept in (capturing.out.tmpfile, capturing.err.tmpfile):
        with TemporaryFile(buffering=0) as own:
            os.dup2(own.fileno(), kept.fileno())


def _run(session: pytest.Session, connection: socket.socket) -> None:
    """Run the tests that are given. What comes behind a test says which fixtures stay, so the next
    unit is asked for before the last test of one is begun.
    """
    todo: deque[int] = deque(_receive(connection))
    while todo:
        number = todo.popleft()
        if not todo:
            _send(connection, ("more", None))
            todo.extend(_receive(connection))
        _send(connection, ("began", number))
        item, following = session.items[number], session.items[todo[0]] if todo else None
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        _send(connection, ("finished", number))


def _keep_coverage() -> None:
    """Write down which lines were run, if somebody asked for it."""
    if "coverage" in sys.modules:
        from coverage import Coverage

        measured = Coverage.current()
        if measured is not None:
            measured.stop()
            measured.save()


# -- between them
# --------------------------------------------------------------------------------------------------


def _send(connection: socket.socket, message: object) -> None:
    data = pickle.dumps(message)
    connection.sendall(len(data).to_bytes(_BYTES, "big") + data)


def _receive(connection: socket.socket) -> Any:
    size = int.from_bytes(_exactly(connection, _BYTES), "big")
    return pickle.loads(_exactly(connection, size))  # noqa: S301 - our own process


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = connection.recv(size - len(found), socket.MSG_WAITALL)
        if not piece:
            raise EOFError
        found += piece
    return found


def _temporary(config: pytest.Config) -> pytest.TempPathFactory:
    """Where the fixtures `tmp_path` make their folders; pytest has no public name for it."""
    return vars(config)["_tmp_path_factory"]
