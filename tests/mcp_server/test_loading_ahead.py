"""While a client asks for nothing, the server loads what the first call of each tool needs; the
first answer does not wait for it, and neither does the end.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.fakes.kept_samples import made
from tests.fakes.sample import Sample

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}
FIRST, LAST = "forge_bot.engine.actions", "forge_bot.mcp_server.run_management"
"""Of what is loaded ahead, a module of the first part and one of the last."""

CALLED = """
import json, sys
from pathlib import Path
from forge_bot.mcp_server.sdk_server.loading_ahead import steps
from forge_bot.mcp_server.service_calls import LazyService
lazy = LazyService([Path(sys.argv[1])])
for step in steps(lazy):
    step()
service, ahead = lazy(), {*sys.modules}
service.managing.orient("L1", "")
service.managing.run_list(ended=True)
service.managing.history("title", "runs", 5, "")
more = sorted({*sys.modules} - ahead)
print(json.dumps({"more": more, "numpy": "numpy" in ahead}))
"""


class Called(NamedTuple):
    """A server that has loaded ahead: what its first calls imported more, and whether it had numpy
    before them.
    """

    more: list[str]
    numpy: bool


def called(folder: Path) -> Called:
    done = subprocess.run(
        [sys.executable, "-c", CALLED, str(folder)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Called(**json.loads(done.stdout))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Called:
    """A server in the sample repository, after its first calls."""
    folder = tmp_path_factory.mktemp("first")
    made(folder / "rota")
    return called(folder / "rota")


def test_the_first_call_of_a_tool_that_looks_imports_nothing_more(first: Called) -> None:
    assert first.more == []


def test_numpy_is_not_loaded_ahead(first: Called) -> None:
    assert not first.numpy


@pytest.fixture
def server(sample: Sample) -> Iterator["subprocess.Popen[str]"]:
    """A server that has been greeted, and whose answers stand between the lines that tell what it
    imports.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "forge_bot", "mcp"],
        cwd=sample.path,
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdin is not None
        asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        yield process


def lines_until(process: "subprocess.Popen[str]", module: str) -> Iterator[str]:
    """What the server writes until it has imported a module; of imports, the names alone."""
    assert process.stdout is not None
    for line in process.stdout:
        name = line.rpartition("|")[2].strip()
        yield name
        if name == module:
            return


def test_a_server_loads_while_its_client_asks_for_nothing_and_only_after_the_first_answer(
    server: "subprocess.Popen[str]",
) -> None:
    said = [*lines_until(server, LAST)]
    answer = next(place for place, line in enumerate(said) if line.startswith("{"))
    assert json.loads(said[answer])["id"] == 1
    assert answer < said.index(FIRST)
    assert said[-1] == LAST


def test_a_client_that_leaves_meanwhile_is_not_waited_for(
    server: "subprocess.Popen[str]",
) -> None:
    assert FIRST in lines_until(server, FIRST)
    rest, _ = server.communicate()
    assert server.returncode == 0
    assert LAST not in {line.rpartition("|")[2].strip() for line in rest.splitlines()}
