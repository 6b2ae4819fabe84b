"""A run that is killed, again and again, ends as if nothing had happened, and asks no finished question twice."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.agents import AgentServer
from tests.fakes.sample import Sample

TASK = "`rota who` names somebody for days before the rota starts"
CALLS = 7


def started(sample: Sample, server: AgentServer, *words: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "none"}
    command = [sys.executable, "-m", "forge_bot", *words, "--model", "openai-chat:fake"]
    return subprocess.Popen(command, cwd=sample.path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finished(process: "subprocess.Popen[str]") -> str:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out
    return out


def result(sample: Sample) -> dict[str, str]:
    """Everything on the run's branch but what has times in it."""
    names = sample.git("ls-tree", "-r", "--name-only", sample.branch).splitlines()
    timed = ("reports.jsonl", "state.json", "pull-request.md", "final-verification.md", "request.md")
    return {name.split("/", 2)[-1]: sample.git("show", f"{sample.branch}:{name}") for name in names if not name.endswith(timed)}


@pytest.fixture
def server() -> Iterator[AgentServer]:
    with AgentServer() as running:
        yield running


@pytest.mark.promise("cli-nothing-lost")
def test_killed_in_three_calls_a_run_ends_the_same_and_repeats_only_the_calls_in_flight(sample: Sample, server: AgentServer) -> None:
    words = ("run", TASK, "--effort", "S", "--auto", "--nopr")
    for number, call in enumerate((2, 4, 6)):
        process = started(sample, server, *(words if number == 0 else ("resume",)))
        assert server.wait_for(call + number, seconds=90)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    finished(started(sample, server, "resume"))
    assert len(server.questions) <= CALLS + 3
    assert all(count <= 3 for count in server.asked.values())
    killed = result(sample)

    for words_ in (["worktree", "remove", "--force", str(sample.workspace.parents[1])], ["branch", "-D", sample.branch]):
        sample.git(*words_)
    with AgentServer() as other:
        finished(started(sample, other, *words))
        assert len(other.questions) == CALLS
    assert result(sample) == killed


@pytest.mark.slow
@pytest.mark.parametrize("line", range(1, 14))
def test_killed_after_any_line_it_printed_a_run_asks_no_finished_question_again(sample: Sample, server: AgentServer, line: int) -> None:
    process = started(sample, server, "run", TASK, "--effort", "S", "--auto", "--nopr")
    assert process.stdout is not None
    for _ in range(line):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    ended = sample.forge("list").out
    if "completed" not in ended:
        finished(started(sample, server, "resume"))
    assert len(server.questions) <= CALLS + 1
    assert Path(sample.workspace / "summary.md").is_file()


@pytest.mark.promise("cli-resume")
def test_stopped_by_hand_a_run_says_how_to_go_on_and_goes_on(sample: Sample, server: AgentServer) -> None:
    server.will_hang = 3
    process = started(sample, server, "run", TASK, "--effort", "S", "--auto", "--nopr")
    assert server.wait_for(3, seconds=90)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "forge-bot resume" in out
    server.will_hang = 0
    finished(started(sample, server, "resume"))
    assert len(server.questions) <= CALLS + 1
