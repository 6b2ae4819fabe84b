"""An agent that works for a person does not answer for them: at the command line, through its
host's shell, or over MCP.
"""

import json
import os
import pty
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from forge_bot.mcp_server.hooks import answer_hook
from tests.fakes.rows import rows
from tests.fakes.sample import Sample
from tests.fakes.warm_python import warm_python
from tests.mcp_server.host import Refusal, hosting

ROWS = rows(__file__)

TASK = "Nobody is on call before the rota starts"


def begun(sample: Sample) -> str:
    """A run that has asked its first question; the model it goes on with."""
    model = sample.model()
    assert sample.forge("run", TASK, "--effort", "S", "--model", model).code == 3
    return model


def typed(
    sample: Sample, *words: str, stdin: int = subprocess.DEVNULL, python: str = ""
) -> tuple[int, str]:
    """The command in a process of its own, as an agent's shell starts it."""
    command = [python or warm_python(), "-m", "forge_bot", *words]
    done = subprocess.run(
        command, cwd=sample.path, stdin=stdin, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def reports(sample: Sample) -> str:
    return (sample.workspace / "reports.jsonl").read_text(encoding="utf-8")


def ways(sample: Sample) -> list[tuple[str, str]]:
    """Each decision with the way it came."""
    state = json.loads(sample.forge("status", "--json").out)
    return [(decision["answer"], decision["via"]) for decision in state["decisions"]]


ANSWERS = (
    ("approve",),
    ("reject", "Not like this"),
    ("answer", "A date"),
    ("done",),
    ("skip",),
    ("continue", "+$5"),
    ("abandon",),
    ("retry", "phase-1"),
)


def test_no_answer_counts_that_comes_without_a_terminal(asked_sample: Sample) -> None:
    before = reports(asked_sample)
    for words in ANSWERS:
        code, said = typed(asked_sample, *words)
        assert (code, "GATE-005" in said, "--by-script" in said) == (5, True, True), (words, said)
    assert reports(asked_sample) == before


def test_an_answer_of_a_script_is_recorded_as_one(asked_sample: Sample) -> None:
    model = asked_sample.model()
    assert (
        typed(asked_sample, "reject", "Say what swaps do", "--by-script", "--model", model)[0] == 3
    )
    assert typed(asked_sample, "retry", "design", "--by-script", "--model", model)[0] == 3
    until = ("--until", "tasks")
    assert typed(asked_sample, "approve", "--by-script", "--model", model, *until)[0] == 3
    assert ways(asked_sample) == [("reject", "script"), ("approve", "script")]
    assert '"type":"retry_asked"' in reports(asked_sample)
    assert '"via":"terminal"' not in "".join(
        line for line in reports(asked_sample).splitlines() if '"retry_asked"' in line
    )


def test_an_answer_at_a_terminal_is_recorded_as_one(asked_sample: Sample) -> None:
    model = asked_sample.model()
    ours, theirs = pty.openpty()
    try:
        words = ("approve", "--until", "tasks", "--model", model)
        assert typed(asked_sample, *words, stdin=theirs, python=sys.executable)[0] == 3
    finally:
        os.close(ours)
        os.close(theirs)
    assert ways(asked_sample) == [("approve", "terminal")]


def test_a_terminal_that_a_coding_agent_made_is_none(
    asked_sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    before = reports(asked_sample)
    ours, theirs = pty.openpty()
    try:
        code, said = typed(asked_sample, "approve", stdin=theirs, python=sys.executable)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (code, reports(asked_sample)) == (5, before)
    assert "this terminal belongs to claude, which is an agent" in said


def test_a_run_that_asks_nothing_is_sent_back_without_a_terminal_and_not_as_from_one(
    asked_sample: Sample,
) -> None:
    model = asked_sample.model()
    typed(asked_sample, "approve", "--by-script", "--model", model, "--until", "tasks")
    assert typed(asked_sample, "retry", "tasks", "--until", "tasks", "--model", model)[0] == 3
    (line,) = (line for line in reports(asked_sample).splitlines() if '"retry_asked"' in line)
    assert json.loads(line)["via"] == "script"


REFUSED = ROWS["refused"]

ALLOWED = ROWS["allowed"]


def test_a_hosts_shell_does_not_answer_in_any_spelling(tmp_path: Path) -> None:
    assert [command for command in REFUSED if judged(tmp_path, command) != 2] == []


def test_a_hosts_shell_may_look_and_go_on(tmp_path: Path) -> None:
    assert [command for command in ALLOWED if judged(tmp_path, command) != 0] == []


def judged(folder: Path, command: str) -> int:
    payload = {"cwd": str(folder), "tool_name": "Bash", "tool_input": {"command": command}}
    return answer_hook("pre-tool", StringIO(json.dumps(payload)))


def test_the_reason_says_whose_answer_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(tmp_path, "forge-bot approve")
    said = capsys.readouterr().err
    assert "The person answers" in said
    assert "terminal" in said


@pytest.mark.parametrize("operation", ["abandon", "retry"])
async def test_an_open_question_is_neither_ended_nor_gone_round_by_a_model(
    clients_sample: Sample, operation: str
) -> None:
    async with hosting(clients_sample) as host:
        name = (await host.asked_now())["action_id"]
        with pytest.raises(Refusal, match=f"forge-bot {operation} .*--run") as refused:
            await host.call(
                "run_control",
                workspace=host.workspace,
                operation=operation,
                phase="phase-1" if operation == "retry" else "",
            )
        assert refused.value.error["code"] == "MCP-014"
        assert f". Only the person may pass that by with {operation}." in str(refused.value)
        assert (await host.next())["action_id"] == name
