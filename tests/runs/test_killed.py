"""A run that is killed, again and again, ends as if nothing had happened, and asks no finished
question twice.
"""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.fakes.agents import AgentServer
from tests.fakes.sample import Sample
from tests.fakes.warm_python import warm_python

pytestmark = pytest.mark.slow

TASK = "`rota who` names somebody for days before the rota starts"
CALLS = 5


def started(sample: Sample, server: AgentServer, *words: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "none"}
    command = [warm_python(), "-m", "forge_bot", *words, "--model", "openai-chat:fake"]
    return subprocess.Popen(
        command,
        cwd=sample.path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finished(process: "subprocess.Popen[str]") -> str:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out
    return out


def result(sample: Sample) -> dict[str, str]:
    """Everything on the run's branch but what has times in it."""
    names = sample.git("ls-tree", "-r", "--name-only", sample.branch).splitlines()
    timed = (
        "reports.jsonl",
        "state.json",
        "pull-request.md",
        "final-verification.md",
        "request.md",
    )
    return {
        name.split("/", 2)[-1]: sample.git("show", f"{sample.branch}:{name}")
        for name in names
        if not name.endswith(timed)
    }


@pytest.fixture
def server() -> Iterator[AgentServer]:
    with AgentServer() as running:
        yield running


def test_killed_in_three_calls_a_run_ends_the_same_and_repeats_only_the_calls_in_flight(
    sample: Sample, server: AgentServer
) -> None:
    words = ("run", TASK, "--effort", "S", "--auto", "--nopr")
    for number, call in enumerate((1, 3, 5)):
        server.will_hang = call + number
        process = started(sample, server, *(words if number == 0 else ("resume",)))
        assert server.wait_for(call + number, seconds=90)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    finished(started(sample, server, "resume"))
    assert len(server.questions) <= CALLS + 3
    assert all(count <= 3 for count in server.asked.values())
    killed = result(sample)

    for words_ in (
        ["worktree", "remove", "--force", str(sample.workspace.parents[1])],
        ["branch", "-D", sample.branch],
    ):
        sample.git(*words_)
    with AgentServer() as other:
        finished(started(sample, other, *words))
        assert len(other.questions) == CALLS
    assert result(sample) == killed
