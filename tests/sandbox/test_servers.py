"""Test suites that open servers: green under bubblewrap, refused with the reason under Landlock."""

import json
import shutil
from pathlib import Path

import pytest

from forge_bot.sandbox.backends import run
from forge_bot.sandbox.box import BackendName, Box, CommandOutcome
from tests.fakes.rows import rows
from tests.fakes.sample import Sample

ROWS = rows(__file__)

HTTP: str = ROWS["http"]
ASYNCIO: str = ROWS["asyncio"]
NODE: str = ROWS["node"]
UNITTEST = ["python3", "-m", "unittest", "discover", "-s", "src"]
NEEDS_NODE = pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
SUITES = [
    pytest.param("test_http.py", HTTP, UNITTEST, "Ran 4 tests", id="http.server"),
    pytest.param("test_echo.py", ASYNCIO, UNITTEST, "Ran 3 tests", id="asyncio"),
    pytest.param(
        "server.test.js", NODE, ["node", "--test", "src/"], "pass 2", id="node", marks=NEEDS_NODE
    ),
]
REFUSED = "under Landlock there is no 127.0.0.1, and no unix socket"


@pytest.mark.parametrize(("name", "suite", "command", "success"), SUITES)
def test_a_suite_with_servers_is_judged_or_said_to_be_beyond_the_backend(
    walled: BackendName, worktree: Path, name: str, suite: str, command: list[str], success: str
) -> None:
    (worktree / "src" / name).write_text(suite, encoding="utf-8")
    outcome = run(walled, Box(worktree=worktree), command)
    if walled is BackendName.BUBBLEWRAP:
        assert (outcome.exit_code, outcome.cannot_judge) == (0, ""), outcome.output
        assert success in outcome.output
    else:
        assert outcome.exit_code != 0
        assert REFUSED in outcome.cannot_judge


def python(backend: BackendName, worktree: Path, code: str) -> CommandOutcome:
    (worktree / "src" / "code.py").write_text(code, encoding="utf-8")
    return run(backend, Box(worktree=worktree), ["python3", "src/code.py"])


RED = """
import asyncio, os, pwd, socket, sys
pwd.getpwuid(os.getuid())
for family, kind in ((socket.AF_INET6, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM)):
    try: socket.socket(family, kind).close()
    except OSError: pass
try: socket.socket(socket.AF_UNIX).connect('/run/nscd/socket')
except OSError: pass
asyncio.run(asyncio.sleep(0))
sys.exit('1 test failed')
"""


def test_a_red_result_counts_although_libraries_looked_for_network_and_services(
    walled: BackendName, worktree: Path
) -> None:
    """urllib3 tries IPv6 when it is imported, names are looked up by datagrams, and users by a
    service of the machine.
    """
    outcome = python(walled, worktree, RED)
    assert (outcome.exit_code, outcome.output, outcome.cannot_judge) == (1, "1 test failed\n", "")


def with_server_tests(sample: Sample, backend: BackendName) -> None:
    (sample.path / "tests" / "test_http.py").write_text(HTTP, encoding="utf-8")
    (sample.path / ".forge").mkdir(exist_ok=True)
    words = json.dumps([["python3", "-m", "unittest", "tests.test_http"]])
    (sample.path / ".forge" / "config.yml").write_text(
        f"commands: {{setup: [], build: [], lint: [], test: {words}}}\nsandbox: {backend}\n",
        encoding="utf-8",
    )
    sample.git("add", "-A")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "tests of a server")


def test_a_run_whose_baseline_landlock_cannot_judge_is_refused_with_the_reason(
    sample: Sample, landlock: BackendName
) -> None:
    with_server_tests(sample, landlock)
    said = sample.forge(
        "run",
        "Who is it on a day before the rota starts?",
        "--effort",
        "S",
        "--model",
        sample.model(),
    )
    assert said.code == 5, said
    assert "SANDBOX-003" in said.err
    assert "127.0.0.1" in said.err
    assert "cannot judge tests that use 127.0.0.1" in said.out + said.err, (
        "the baseline names it before anything is red"
    )
