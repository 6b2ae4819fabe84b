"""Without a terminal, long silence is broken by a line that says what is being done."""

import io
from decimal import Decimal
from threading import Event

from forge_bot.agent.assignment import CallLost, ModelAsked
from forge_bot.cli.console import Console
from forge_bot.cli.progress import Progress
from forge_bot.runs.notifications import CommandBegan, PhaseBegan, Thinking
from forge_bot.values import CommandName, PhaseId, Usage


class _Output(io.StringIO):
    """A file that says when a number of lines is written."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self.lines = lines
        self.full = Event()

    def flush(self) -> None:
        if self.getvalue().count("\n") >= self.lines:
            self.full.set()


def _working(output: _Output, every: float) -> Progress:
    console = Console()
    console.file = output
    progress = Progress(console, every=every)
    phase = PhaseId("phase-5")
    progress(PhaseBegan(phase=phase, label="Implementation", agent="implementer"))
    progress(CommandBegan(name=CommandName.TEST, argv=("make", "test")))
    return progress


def test_what_is_being_done_is_said_again_and_again_until_it_is_over() -> None:
    output = _Output(lines=3)
    progress = _working(output, every=0.01)
    assert output.full.wait(timeout=30)
    progress.stop()
    lines = output.getvalue().splitlines()
    # The first of them may come before the command is told of.
    assert all("Implementation · " in line for line in lines), lines
    assert "Implementation · running make test" in lines[-1], lines


def test_a_model_that_is_waited_for_is_named_and_a_call_without_an_answer_is_told() -> None:
    output = _Output(lines=4)
    progress = _working(output, every=3600)
    progress(Thinking(notice=ModelAsked(turn=2, model="a:b", reserved=None)))
    lost = Usage(unanswered=1, may_be_billed=Decimal("0.17"))
    progress.every = 0.01
    progress(Thinking(notice=CallLost(usage=lost)))
    assert output.full.wait(timeout=30)
    progress.stop()
    lines = output.getvalue().splitlines()
    assert "one call was interrupted; it may be billed: up to $0.17" in lines[0]
    assert "Implementation · turn 2: waiting for a:b" in lines[-1]
