"""Phases are found by the names people use, and a line after one lets through exactly what comes
before it.
"""

import pytest

from forge_bot.engine import Checkpoint
from forge_bot.errors import BadOption
from forge_bot.runs.this_process import lies_behind, phase_named
from forge_bot.values import Effort, PhaseId, TaskId, TaskSpec, Verdict
from tests.fakes.bench import DEVELOP, MAJOR, RED, Bench
from tests.fakes.rows import rows

ROWS = rows(__file__)


@pytest.mark.parametrize(("said", "phase"), ROWS["a_phase_is_found_by"])
def test_a_phase_is_found_by_id_label_or_document(said: str, phase: str) -> None:
    assert phase_named(DEVELOP, said) == phase


@pytest.mark.parametrize(
    "said", ["nonsense", "", " ", "phase-99", "checkpoint-c", "esign", "Review"]
)
def test_a_name_that_fits_none_lists_all(said: str) -> None:
    with pytest.raises(BadOption) as refused:
        phase_named(DEVELOP, said)
    assert any("phase-3 " in line and "Design" in line for line in refused.value.details)
    assert len(refused.value.details) == len(DEVELOP.phases) - 1


def performed_until(bench: Bench, last: str) -> list[str]:
    """What is done before the line, and at the end what waits behind it."""
    seen: list[str] = []
    for _ in range(200):
        action = bench.action
        seen.append(action.name if isinstance(action, Checkpoint) else action.phase)
        if lies_behind(DEVELOP, PhaseId(last), bench.state, action) or bench.state.ended:
            return seen
        bench.step()
    raise AssertionError(seen)


def test_the_review_and_the_gate_of_a_phase_lie_behind_it() -> None:
    assert performed_until(Bench(), "phase-3")[-2:] == ["phase-3", "phase-3b"]
    assert performed_until(Bench(), "phase-3b")[-2:] == ["phase-3b", "checkpoint-a"]
    assert performed_until(Bench(), "checkpoint-a")[-2:] == ["checkpoint-a", "phase-4"]


def test_a_phase_that_the_effort_leaves_out_stops_at_the_first_after_it() -> None:
    assert performed_until(Bench(Effort.S), "phase-3b")[-2:] == ["phase-3", "checkpoint-a"]
    assert performed_until(Bench(Effort.S), "phase-4b")[-2:] == ["phase-4", "phase-5"]


def test_what_a_review_sends_back_is_done_again_before_the_line() -> None:
    bench = Bench().until("phase-3b")
    bench.wrote(verdict=Verdict.REVISE, findings=(MAJOR,))
    assert performed_until(bench, "phase-3b") == ["phase-3", "phase-3b", "checkpoint-a"]


def test_a_fix_that_verification_asks_for_is_made_before_the_line() -> None:
    bench = Bench(Effort.S).until("final-verification")
    bench.ran(RED)
    assert performed_until(bench, "final-verification")[:3] == [
        "phase-5",
        "phase-7",
        "final-verification",
    ]


def test_the_implementation_is_complete_when_every_task_is_implemented() -> None:
    first = TaskSpec(id=TaskId("1"), title="One", files=("a.py",))
    second = TaskSpec(id=TaskId("2"), title="Two", files=("b.py",), depends_on=(TaskId("1"),))
    seen = performed_until(Bench(tasks=(first, second)), "phase-5")
    assert seen[-4:] == ["phase-5", "phase-6", "phase-5", "phase-6"]
    assert performed_until(Bench(), "phase-5")[-2:] == ["phase-5", "phase-6"]


def test_a_run_that_is_past_the_line_does_nothing() -> None:
    assert performed_until(Bench().until("phase-7"), "phase-3") == ["phase-7"]


def test_nothing_lies_behind_the_end() -> None:
    assert performed_until(Bench(Effort.S), "completed")[-2:] == ["final-commit", "completed"]
