"""What holds for every sequence of reports, legal or not."""

from collections.abc import Callable
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge_bot.engine import (
    Checkpoint,
    Exec,
    HumanGate,
    SpawnAgent,
    WriteFile,
    advance,
    fold,
    next_action,
)
from forge_bot.engine.reports import (
    Abandoned,
    Answer,
    Answered,
    ArtifactChanged,
    Asked,
    BudgetRaised,
    FailureReason,
    GateShown,
    Report,
    RetryAsked,
    RunFlags,
)
from forge_bot.engine.state import State
from forge_bot.errors import ForgeError
from forge_bot.values import (
    CommandName,
    Effort,
    PhaseId,
    RunStatus,
    TaskId,
    TaskMode,
    TaskSpec,
    Verdict,
)
from tests.fakes.bench import BROKEN, DEVELOP, GREEN, MAJOR, MISSING, RED, Bench, blob

TASKS = (
    TaskSpec(id=TaskId("1"), title="One", mode=TaskMode.PARALLEL, files=("a.py",)),
    TaskSpec(id=TaskId("2"), title="Two", mode=TaskMode.PARALLEL, files=("b.py",)),
    TaskSpec(id=TaskId("3"), title="Ask ops", mode=TaskMode.HUMAN_GATE, depends_on=(TaskId("1"),)),
    TaskSpec(id=TaskId("4"), title="Four", depends_on=(TaskId("2"), TaskId("3"))),
)
PHASES = [phase.id for phase in DEVELOP.phases]


def agent_moves(bench: Bench) -> dict[str, Callable[[], State]]:
    """Everything an agent can do to the outstanding action."""
    return {
        "good": bench.step,
        "no headings": lambda: bench.wrote(problems=(MISSING,)),
        "broken": lambda: bench.wrote(problems=(BROKEN,)),
        "unreadable": lambda: bench.wrote(verdict=Verdict.UNREADABLE),
        "negative": lambda: bench.wrote(verdict=_negative(bench), findings=(MAJOR,)),
        "foreign verdict": lambda: bench.wrote(verdict=Verdict.REVISE),
        "protected": lambda: bench.wrote(held=("CODEOWNERS",)),
        "limit": bench.failed,
        "budget": lambda: bench.failed(FailureReason.BUDGET),
    }


def _negative(bench: Bench) -> Verdict:
    verdicts = getattr(DEVELOP.phase(bench.action.phase), "verdicts", (Verdict.FAIL,))
    return verdicts[-1]


def host_moves(bench: Bench) -> dict[str, Callable[[], State]]:
    """Everything that can happen at an Exec."""
    operation = bench.action.operation if isinstance(bench.action, Exec) else ""
    broken = GREEN.model_copy(update={"name": CommandName.SETUP, "exit_code": 2})
    moves = {"good": bench.step, "could not": bench.could_not}
    if operation == "prepare":
        return {
            "good": bench.step,
            "setup failed": lambda: bench.prepared(broken),
            "red before": lambda: bench.prepared(RED),
        }
    return {**moves, "red": lambda: bench.ran(RED)} if operation == "verify" else moves


def person_moves(bench: Bench) -> dict[str, Callable[[], State]]:
    """Everything a person can say at an open gate."""
    if isinstance(bench.action, HumanGate):
        return {
            answer.value: lambda answer=answer: bench.answer(answer)
            for answer in (Answer.DONE, Answer.SKIP)
        }
    return {
        "approve": bench.approve,
        "reject": bench.reject,
        "more money": lambda: bench.tell(
            BudgetRaised(
                key=f"m{bench.ticks}", at=bench.now(), amount=Decimal(1), by="ann", via="terminal"
            )
        ),
        "edit": lambda: bench.tell(
            ArtifactChanged(
                key=f"e{bench.ticks}",
                at=bench.now(),
                artifact="design.md",
                blob=blob(str(bench.ticks)),
            )
        ),
    }


def nonsense(bench: Bench, draw: st.DataObject) -> Report:
    """A report that fits nowhere, or nearly fits."""
    phase = draw.draw(st.sampled_from(PHASES))
    stamp, key = bench.now(), f"nonsense-{bench.ticks}"
    known = draw.draw(st.sampled_from(bench.reports))
    digest = draw.draw(
        st.sampled_from(
            [None, "0" * 12, "", bench.state.gate.digest if bench.state.gate else "f" * 64]
        )
    )
    answer = draw.draw(st.sampled_from([each for each in Answer if each is not Answer.ABANDON]))
    return draw.draw(
        st.sampled_from(
            [
                known,
                known.model_copy(update={"key": key}),
                GateShown(key=key, at=stamp, gate=phase, digest="0" * 64, via="terminal"),
                Answered(
                    key=key,
                    at=stamp,
                    gate=phase,
                    answer=answer,
                    digest=digest,
                    notes=" ",
                    by="eve",
                    via="terminal",
                ),
                ArtifactChanged(key=key, at=stamp, artifact="nothing.md", blob="0" * 40),
                RetryAsked(key=key, at=stamp, phase=phase, by="eve", via="terminal"),
                Asked(key=key, at=stamp, phase=phase, question="Why?", by="eve", via="terminal"),
            ]
        )
    )


def moves_of(bench: Bench) -> dict[str, Callable[[], State]]:
    match bench.action:
        case WriteFile():
            return {"good": bench.step}
        case SpawnAgent():
            return agent_moves(bench)
        case Exec():
            return host_moves(bench)
        case _:
            return person_moves(bench)


def move(bench: Bench, draw: st.DataObject) -> None:
    moves = moves_of(bench)
    moves[draw.draw(st.sampled_from(sorted(moves)))]()


def gate_of(state: State) -> tuple[str, int, str] | None:
    return (
        (state.gate.name, state.gate.round, state.gate.subject) if state.gate is not None else None
    )


MAY_CLOSE_A_GATE = Answered | RetryAsked | BudgetRaised | Abandoned


@settings(
    max_examples=75,
    deadline=None,
    suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow],
)
@given(st.data(), st.sampled_from(Effort), st.booleans(), st.booleans())
def test_no_sequence_of_reports_breaks_a_run(
    draw: st.DataObject, effort: Effort, auto: bool, skip_pr: bool
) -> None:
    bench = Bench(effort, RunFlags(auto=auto, skip_pr=skip_pr), tasks=TASKS)
    for _ in range(draw.draw(st.integers(1, 60))):
        if bench.state.ended:
            break
        before, told = bench.state, len(bench.reports)
        try:
            if draw.draw(st.integers(0, 4)) == 0:
                bench.tell(nonsense(bench, draw))
            else:
                move(bench, draw)
        except ForgeError:
            bench.reports = bench.reports[: max(told, _counted(bench, before))]
        after = bench.state
        assert next_action(DEVELOP, after) == next_action(DEVELOP, after)
        if gate_of(before) is not None and gate_of(after) != gate_of(before):
            assert any(isinstance(report, MAY_CLOSE_A_GATE) for report in bench.reports[told:])
        for report in bench.reports[told:]:
            assert advance(DEVELOP, after, report) is after
    assert fold(DEVELOP, bench.reports).model_dump_json() == bench.state.model_dump_json()


def _counted(bench: Bench, _before: State) -> int:
    """Reports that counted: a move such as reject shows the gate first and may be refused
    afterwards.
    """
    return sum(1 for report in bench.reports if report.key in bench.state.seen)


@settings(
    max_examples=37,
    deadline=None,
    suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow],
)
@given(st.data(), st.sampled_from(Effort), st.integers(0, 6))
def test_with_finitely_many_rejections_every_run_ends(
    draw: st.DataObject, effort: Effort, rejections: int
) -> None:
    bench = Bench(effort, tasks=TASKS)
    troubles = draw.draw(
        st.lists(
            st.sampled_from(["broken", "limit", "budget", "could not", "setup failed"]), max_size=12
        )
    )
    habit = draw.draw(
        st.sampled_from(["good", "negative", "unreadable", "no headings", "protected", "red"])
    )
    for _ in range(1500):
        if bench.state.ended:
            return
        moves = moves_of(bench)
        if isinstance(bench.action, Checkpoint):
            offered = "approve" in bench.action.options
            if "reject" in bench.action.options and rejections > 0:
                rejections -= 1
                moves["reject"]()
            elif offered:
                moves["approve"]()
            else:
                bench.answer(Answer.ABANDON)
        elif troubles and troubles[-1] in moves:
            moves[troubles.pop()]()
        else:
            moves.get(habit, moves.get("good", bench.step))()
    raise AssertionError(f"still at {bench.state.current_phase} after {len(bench.reports)} reports")


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_nothing_after_the_design_gate_is_asked_without_an_approval_of_the_design(
    draw: st.DataObject,
) -> None:
    bench = Bench(Effort.M, tasks=TASKS)
    beyond = set(PHASES[PHASES.index(PhaseId("checkpoint-a")) + 1 : -1])
    for _ in range(draw.draw(st.integers(1, 50))):
        if bench.state.ended:
            break
        try:
            move(bench, draw)
        except ForgeError:
            bench.reports = [report for report in bench.reports if report.key in bench.state.seen]
        if (
            bench.action.phase in beyond
            and bench.state.current_phase_status is not RunStatus.ABANDONED
        ):
            approvals = [
                each
                for each in bench.state.decisions
                if each.gate == "checkpoint-a" and each.answer == "approve"
            ]
            assert approvals
