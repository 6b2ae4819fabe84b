"""A process killed in the middle of its work, and the one that goes on: the provider's own count
says what was repeated.
"""

import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

from forge_bot.agent.assignment import StopReason, WorkResult
from forge_bot.agent.model_answers import Document
from tests.agent.scene import document, explore
from tests.fakes.model_server import ModelServer, Question, Says

ROOT = Path(__file__).parents[2]


def worker(server: ModelServer, tmp_path: Path) -> "subprocess.Popen[str]":
    arguments = [
        sys.executable,
        "-m",
        "tests.agent.worker",
        server.url,
        str(tmp_path),
        str(tmp_path / "journal.jsonl"),
    ]
    return subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def newest(question: Question) -> str:
    return str(question.body["messages"][-1]["content"])


def test_a_process_that_is_killed_and_one_that_goes_on_ask_no_answered_question_twice(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with ModelServer() as server:
        server.will(
            Says(explore(("read_file", {"path": "a.py"}))),
            Says(hangs=True),
            Says(document("# Report\n")),
        )
        with worker(server, tmp_path) as first:
            # The second question can only be there once the first answer is in the journal and the
            # file has been read.
            assert server.wait_for(2, seconds=60)
            first.send_signal(signal.SIGKILL)
            assert first.wait(10) == -signal.SIGKILL
        (tmp_path / "a.py").write_text("x = 2, and nobody reads it again\n")
        with worker(server, tmp_path) as second:
            output, _ = second.communicate(timeout=60)
        asked = [newest(question) for question in server.questions]

    done = WorkResult.model_validate_json(output)
    assert done.stop is StopReason.ANSWERED
    assert done.answer == Document(artifact_markdown="# Report\n")
    assert len(asked) == 3
    assert "Analyse this." in asked[0]
    assert "x = 1" in asked[1]
    assert asked[2] == asked[1]
    assert done.usage.calls == 2
    # Two answers at 0.01; the question under way when the process died may be billed, 0.25 at most,
    # and is told apart.
    assert done.usage.cost == Decimal("0.02")
    assert done.usage.unanswered == 1
    assert done.usage.may_be_billed == Decimal("0.25")
