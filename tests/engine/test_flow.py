"""Whole runs on the bench: what is asked, in which order, and where a person decides."""

from decimal import Decimal
from typing import Any

import pytest

from forge_bot.engine import Checkpoint, Done, Exec, HumanGate, SpawnAgent, WriteFile, fold
from forge_bot.engine.gates import may_post
from forge_bot.engine.reports import (
    Answer,
    Answered,
    ArtifactChanged,
    ArtifactWritten,
    Asked,
    BudgetRaised,
    CorrectedDesign,
    FailureReason,
    PublicationAsked,
    RetryAsked,
    RunFlags,
    head_of,
)
from forge_bot.engine.state import Reason, TaskStatus
from forge_bot.errors import (
    AnswerNotOffered,
    NoGateOpen,
    NotesRequired,
    ReportRejected,
    RunEnded,
    StaleApproval,
    WrongAction,
    WrongReport,
)
from forge_bot.values import (
    CommandName,
    Effort,
    Inspection,
    PhaseId,
    Source,
    TaskId,
    TaskMode,
    TaskSpec,
    Usage,
    Verdict,
)
from tests.fakes.bench import BROKEN, DEVELOP, GREEN, MAJOR, MISSING, RED, Bench, blob

ISSUE = Source(type="github_issue", id="42", url="https://github.com/o/r/issues/42")


def spec(
    name: str,
    *,
    mode: TaskMode = TaskMode.PARALLEL,
    files: tuple[str, ...] = (),
    after: tuple[str, ...] = (),
) -> TaskSpec:
    return TaskSpec(
        id=TaskId(name),
        title=f"Task {name}",
        mode=mode,
        files=files or (f"{name}.py",),
        depends_on=tuple(TaskId(a) for a in after),
    )


def test_a_small_run_asks_for_a_design_a_person_and_one_task() -> None:
    assert Bench(Effort.S).finish() == [
        "setup", "phase-1", "phase-3", "checkpoint-a", "phase-4", "phase-5", "phase-7",
        "final-verification", "final-verification", "pr-creation", "final-summary", "final-commit",
    ]  # fmt: skip


def test_a_medium_run_reviews_the_design_and_each_task() -> None:
    assert Bench(Effort.M).finish() == [
        "setup", "phase-1", "phase-2", "phase-3", "phase-3b", "checkpoint-a", "phase-4", "phase-5", "phase-6", "phase-7",
        "final-verification", "final-verification", "pr-creation", "final-summary", "final-commit",
    ]  # fmt: skip


def test_a_large_run_asks_a_person_about_the_tasks_too() -> None:
    seen = Bench(Effort.L, source=ISSUE).finish()
    assert seen[6:9] == ["phase-4", "phase-4b", "checkpoint-b"]
    assert seen[-2:] == ["post-to-source", "final-commit"]


def test_without_a_pull_request_the_run_still_ends_with_its_summary() -> None:
    seen = Bench(Effort.S, RunFlags(skip_pr=True)).finish()
    assert "pr-creation" not in seen
    assert seen[-2:] == ["final-summary", "final-commit"]


def test_a_phase_that_a_condition_leaves_out_is_among_the_skipped_ones_once_the_run_is_past_it() -> (
    None
):
    bench = Bench(Effort.L, RunFlags(skip_pr=True))
    assert bench.state.skipped_phases == ()
    bench.finish()
    assert bench.state.skipped_phases == ("pr-creation", "post-to-source")
    action = bench.action
    assert isinstance(action, Done)
    assert action.summary.endswith("2 skipped")
    asked = Bench(Effort.L, source=ISSUE)
    asked.finish()
    assert asked.state.skipped_phases == ()


def test_going_back_decides_anew_on_phases_that_a_condition_leaves_out() -> None:
    bench = Bench(Effort.S, RunFlags(skip_pr=True))
    bench.finish()
    by_effort = DEVELOP.skipped(Effort.S, auto=False)
    assert bench.state.skipped_phases == (*by_effort, "pr-creation", "post-to-source")
    bench.tell(
        RetryAsked(key="again", at=bench.now(), phase=PhaseId("phase-7"), by="ann", via="test")
    )
    assert bench.state.skipped_phases == by_effort


def test_the_small_run_uses_the_merged_analyst() -> None:
    action = Bench(Effort.S).until("phase-1").action
    assert isinstance(action, SpawnAgent)
    assert action.agent == "situation-analyst-investigator"
    assert action.headings == ("Root Cause or Integration Points",)


def test_the_small_run_writes_its_one_task_without_a_model() -> None:
    action = Bench(Effort.S).until("phase-4").action
    assert isinstance(action, WriteFile)
    assert action.setup_only
    assert "Fix the login" in action.content


def test_debug_asks_for_a_debug_report() -> None:
    action = Bench(Effort.S, RunFlags(debug=True)).until("final-summary").action
    assert isinstance(action, SpawnAgent)
    assert action.headings[-1] == "Debug Report"


def test_the_same_question_twice_gets_the_same_action() -> None:
    bench = Bench().until("phase-3")
    assert bench.action == bench.action


# -- reviews
# --------------------------------------------------------------------------------------------------


def test_revise_sends_back_to_the_architect_with_the_findings() -> None:
    bench = Bench().until("phase-3b")
    bench.wrote(verdict=Verdict.REVISE, findings=(MAJOR,))
    action = bench.action
    assert isinstance(action, SpawnAgent)
    assert (action.phase, action.round) == ("phase-3", 2)
    assert action.input_files[-2:] == ("design.md", "review-design.md")
    assert MAJOR.description in bench.state.notes[-1].text


def test_when_the_design_rounds_are_used_up_a_person_sees_the_open_findings() -> None:
    bench = Bench()
    for _ in range(3):
        bench.until("phase-3b")
        bench.wrote(verdict=Verdict.REVISE, findings=(MAJOR,))
    action = bench.action
    assert isinstance(action, Checkpoint)
    assert action.name == "checkpoint-a"
    assert action.findings == (MAJOR,)


def test_an_unreadable_verdict_is_asked_again_once_and_then_a_person_decides() -> None:
    bench = Bench().until("phase-3b")
    bench.wrote(verdict=Verdict.UNREADABLE)
    assert bench.action.phase == "phase-3b"
    bench.wrote(verdict=Verdict.UNREADABLE)
    action = bench.action
    assert isinstance(action, Checkpoint)
    assert (action.name, action.reason) == ("checkpoint-c", Reason.UNREADABLE_VERDICT)
    bench.approve()
    assert isinstance(bench.action, Checkpoint)
    assert bench.action.name == "checkpoint-a"


def test_a_verdict_of_another_kind_of_review_is_unreadable() -> None:
    bench = Bench().until("phase-3b")
    bench.wrote(verdict=Verdict.PASS)
    assert bench.action.phase == "phase-3b"


def test_a_failed_task_comes_back_with_its_review() -> None:
    bench = Bench().until("phase-6")
    bench.wrote(verdict=Verdict.FAIL, findings=(MAJOR,))
    action = bench.action
    assert isinstance(action, SpawnAgent)
    assert action.phase == "phase-5"
    assert {"impl-1.md", "review-1.md"} <= set(action.input_files)
    assert bench.state.current_phase == "phase-5"


def test_a_task_that_fails_three_reviews_goes_to_a_person_who_may_pass_it() -> None:
    bench = Bench()
    for _ in range(3):
        bench.until("phase-6")
        bench.wrote(verdict=Verdict.FAIL, findings=(MAJOR,))
    action = bench.action
    assert isinstance(action, Checkpoint)
    assert (action.reason, action.findings) == (Reason.ROUNDS_EXHAUSTED, (MAJOR,))
    bench.approve()
    assert bench.action.phase == "phase-7"


def test_rejecting_there_gives_one_more_round_with_the_notes_and_counters_at_zero() -> None:
    bench = Bench()
    for _ in range(3):
        bench.until("phase-6")
        bench.wrote(verdict=Verdict.FAIL, findings=(MAJOR,))
    bench.reject("Use the helper in auth.py")
    task = bench.state.task(TaskId("1"))
    assert task is not None
    assert (task.rounds, bench.action.phase) == (0, "phase-5")
    assert bench.state.notes[-1].text == "Use the helper in auth.py"


def test_a_failed_comprehensive_review_adds_a_fix_task_and_reviews_everything_again() -> None:
    bench = Bench().until("phase-7")
    bench.wrote(verdict=Verdict.FAIL, findings=(MAJOR,))
    action = bench.action
    assert isinstance(action, SpawnAgent)
    assert action.parallel_task_ids == ("fix-1",)
    assert "comprehensive-review.md" in action.input_files
    fix = bench.state.task(TaskId("fix-1"))
    assert fix is not None
    assert fix.spec.acceptance == (MAJOR.description,)
    assert bench.finish()[:3] == ["phase-5", "phase-6", "phase-7"]


def test_a_fix_task_takes_no_name_that_a_planned_task_has() -> None:
    bench = Bench(tasks=(spec("fix-1"), spec("2"))).until("phase-7")
    bench.wrote(verdict=Verdict.FAIL, findings=(MAJOR,))
    assert [task.spec.id for task in bench.state.tasks] == ["fix-1", "2", "fix-2"]
    assert bench.until("phase-7").state.tasks[-1].status is TaskStatus.PASSED


def test_the_comprehensive_review_gives_two_fix_rounds_and_then_asks() -> None:
    bench = Bench(Effort.S)
    for _ in range(3):
        bench.until("phase-7")
        bench.wrote(verdict=Verdict.FAIL, findings=(MAJOR,))
    assert [task.spec.id for task in bench.state.tasks] == ["1", "fix-1", "fix-2"]
    assert isinstance(bench.action, Checkpoint)
    bench.approve()
    assert bench.action.phase == "final-verification"


# -- artifacts and agents
# --------------------------------------------------------------------------------------------------


def test_an_artifact_without_its_headings_is_asked_again_and_then_a_person_decides() -> None:
    bench = Bench().until("phase-3")
    bench.wrote(problems=(MISSING,))
    assert "the heading is missing" in bench.state.notes[-1].text
    bench.wrote(problems=(MISSING,))
    assert isinstance(bench.action, Checkpoint)
    assert bench.action.reason is Reason.INVALID_ARTIFACT
    bench.approve()
    assert bench.action.phase == "phase-3b"


def test_tasks_that_cannot_work_cannot_be_approved() -> None:
    bench = Bench().until("phase-4")
    bench.wrote(problems=(BROKEN,))
    bench.wrote(problems=(BROKEN,))
    bench.show()
    with pytest.raises(AnswerNotOffered, match="reject, abandon"):
        bench.answer(Answer.APPROVE)
    bench.reject()
    assert bench.action.phase == "phase-4"


def test_an_agent_without_an_answer_is_asked_again_and_then_a_person_decides() -> None:
    bench = Bench().until("phase-2")
    bench.failed()
    assert bench.action.phase == "phase-2"
    bench.failed()
    action = bench.action
    assert isinstance(action, Checkpoint)
    assert (action.reason, action.options) == (Reason.AGENT_FAILED, ("reject",))
    bench.reject()
    assert bench.action.phase == "phase-2"


def test_a_change_to_protected_paths_waits_as_a_patch_and_is_applied_after_approval() -> None:
    bench = Bench().until("phase-5")
    bench.wrote(held=(".github/workflows/ci.yml",))
    gate = bench.action
    assert isinstance(gate, Checkpoint)
    assert gate.reason is Reason.PROTECTED_PATHS
    assert [file.name for file in gate.files] == ["impl-1.md", "held-1.patch"]
    bench.approve()
    action = bench.action
    assert isinstance(action, Exec)
    assert (action.operation, action.artifact, action.task) == ("apply-held", "held-1.patch", "1")
    bench.step()
    assert bench.action.phase == "phase-6"


def test_a_refused_change_to_protected_paths_is_implemented_again() -> None:
    bench = Bench().until("phase-5")
    bench.wrote(held=(".github/workflows/ci.yml",))
    bench.reject("Leave the workflow alone")
    assert bench.action.phase == "phase-5"
    assert isinstance(bench.action, SpawnAgent)
    assert "held-1.patch" in bench.action.input_files


def test_a_patch_that_does_not_apply_sends_the_task_back() -> None:
    bench = Bench().until("phase-5")
    bench.wrote(held=("CODEOWNERS",))
    bench.approve()
    bench.could_not()
    assert isinstance(bench.action, SpawnAgent)
    assert "push rejected" in bench.state.notes[-1].text


# -- waves
# --------------------------------------------------------------------------------------------------


def test_disjoint_parallel_tasks_form_one_wave_and_are_reviewed_as_one() -> None:
    bench = Bench(tasks=(spec("1"), spec("2"), spec("3", after=("1", "2")))).until("phase-5")
    action = bench.action
    assert isinstance(action, SpawnAgent)
    assert action.parallel_task_ids == ("1", "2")
    assert action.output_file == "impl-{task}.md"
    bench.wrote(task=TaskId("2"))
    left = bench.action
    assert isinstance(left, SpawnAgent)
    assert (left.parallel_task_ids, left.action_id) == (("1",), action.action_id)
    bench.wrote(task=TaskId("1"))
    review = bench.action
    assert isinstance(review, SpawnAgent)
    assert (review.phase, review.parallel_task_ids, bench.state.current_phase) == (
        "phase-6",
        ("1", "2"),
        "phase-5",
    )
    bench.until("phase-7")
    assert all(task.status is TaskStatus.PASSED for task in bench.state.tasks)
    assert {"phase-5", "phase-6"} <= set(bench.state.completed_phases)


def test_one_failed_task_of_a_wave_goes_back_alone() -> None:
    bench = Bench(tasks=(spec("1"), spec("2"))).until("phase-6")
    bench.wrote(task=TaskId("1"), verdict=Verdict.FAIL, findings=(MAJOR,))
    bench.wrote(task=TaskId("2"))
    action = bench.action
    assert isinstance(action, SpawnAgent)
    assert (action.phase, action.parallel_task_ids) == ("phase-5", ("1",))


def test_a_wave_that_meets_a_problem_finishes_before_the_person_is_asked() -> None:
    bench = Bench(tasks=(spec("1"), spec("2"))).until("phase-5")
    bench.wrote(task=TaskId("1"), held=("CODEOWNERS",))
    assert isinstance(bench.action, SpawnAgent)
    bench.wrote(task=TaskId("2"))
    assert isinstance(bench.action, Checkpoint)


def test_tasks_changed_by_hand_after_one_was_done_leave_it_done() -> None:
    plan = (spec("1"), spec("2", mode=TaskMode.HUMAN_GATE, after=("1",)))
    bench = Bench(tasks=plan)
    while not isinstance(bench.action, HumanGate):
        bench.step()
    bench.tell(
        ArtifactChanged(
            key="by hand",
            at=bench.now(),
            artifact="tasks.md",
            blob=blob("by hand"),
            inspection=Inspection(tasks=plan),
        )
    )
    assert [task.status for task in bench.state.tasks] == [TaskStatus.PASSED, TaskStatus.PENDING]


def test_an_answer_to_another_question_than_the_open_one_is_refused() -> None:
    bench = Bench().until("checkpoint-a")
    other = Answered(
        key="other",
        at=bench.now(),
        gate=PhaseId("phase-5"),
        answer=Answer.ABANDON,
        by="ann",
        via="terminal",
    )
    with pytest.raises(NoGateOpen, match="phase-5 was answered, but checkpoint-a waits"):
        bench.tell(other)


def test_a_human_task_waits_for_an_answer_that_names_its_action() -> None:
    bench = Bench(tasks=(spec("1", mode=TaskMode.HUMAN_GATE), spec("2", after=("1",)))).until(
        "phase-5"
    )
    action = bench.action
    assert isinstance(action, HumanGate)
    assert action.options == ("done", "skip", "abandon")
    nameless = Answered(
        key="nameless",
        at=bench.now(),
        gate=PhaseId("phase-5"),
        answer=Answer.DONE,
        by="ann",
        via="terminal",
    )
    with pytest.raises(WrongAction):
        bench.tell(nameless)
    bench.answer(Answer.SKIP)
    assert isinstance(bench.action, SpawnAgent)


# -- verification
# --------------------------------------------------------------------------------------------------


def test_red_verification_goes_back_to_the_implementer_and_is_run_again() -> None:
    bench = Bench(Effort.S).until("final-verification")
    bench.ran(RED)
    assert bench.action.phase == "phase-5"
    assert bench.finish()[:4] == ["phase-5", "phase-7", "final-verification", "final-verification"]


def test_verification_that_stays_red_goes_to_a_person_and_approval_keeps_it_red_on_record() -> None:
    bench = Bench(Effort.S)
    for _ in range(3):
        bench.until("final-verification")
        bench.ran(RED)
    gate = bench.action
    assert isinstance(gate, Checkpoint)
    assert gate.reason is Reason.VERIFICATION_RED
    bench.approve()
    assert isinstance(bench.action, SpawnAgent)
    verification = bench.state.verification
    assert verification is not None
    assert (verification.red, verification.accepted) == (True, True)


def test_what_was_red_before_is_not_held_against_the_change() -> None:
    bench = Bench(Effort.S)
    bench.prepared(RED)
    bench.until("final-verification")
    bench.ran(RED)
    assert isinstance(bench.action, WriteFile), "no model is asked about what is green"
    assert "nothing is red that was not red before" in bench.action.content


def test_a_failed_setup_asks_a_person_before_any_model() -> None:
    bench = Bench()
    bench.prepared(
        GREEN.model_copy(
            update={"name": CommandName.SETUP, "exit_code": 1, "tail": "no such package"}
        )
    )
    gate = bench.action
    assert isinstance(gate, Checkpoint)
    assert gate.reason is Reason.SETUP_FAILED
    assert "no such package" in gate.subject
    bench.reject("Try again")
    assert isinstance(bench.action, Exec)


# -- a person
# --------------------------------------------------------------------------------------------------


def test_a_rejected_design_goes_back_with_the_persons_notes_and_fresh_counters() -> None:
    bench = Bench().until("phase-3b")
    bench.wrote(verdict=Verdict.REVISE)
    bench.until("checkpoint-a")
    bench.reject("Keep the old name")
    assert bench.action.phase == "phase-3"
    assert "phase-3b" not in bench.state.rounds
    assert (bench.state.notes[-1].by, bench.state.notes[-1].text) == ("ann", "Keep the old name")


def test_a_rejection_without_a_reason_is_refused() -> None:
    with pytest.raises(NotesRequired):
        Bench().until("checkpoint-a").reject("  ")


def test_an_approval_before_anything_was_shown_is_refused() -> None:
    with pytest.raises(StaleApproval, match="Nothing was shown"):
        Bench().until("checkpoint-a").answer(Answer.APPROVE)


def test_a_bare_approval_means_what_was_shown_last() -> None:
    bench = Bench().until("checkpoint-a")
    bench.show()
    bench.answer(Answer.APPROVE)
    assert bench.action.phase == "phase-4"
    assert bench.state.decisions[-1].by == "ann"


def test_a_short_digest_is_enough_and_a_wrong_one_is_refused() -> None:
    bench = Bench().until("checkpoint-a")
    digest = bench.show()
    with pytest.raises(StaleApproval):
        bench.answer(Answer.APPROVE, digest="0" * 12)
    with pytest.raises(StaleApproval):
        bench.answer(Answer.APPROVE, digest=digest[:4])
    bench.answer(Answer.APPROVE, digest=digest[:7].upper())
    assert bench.action.phase == "phase-4"


def test_the_digest_changes_with_the_round_even_when_the_text_does_not() -> None:
    bench = Bench().until("checkpoint-a")
    first = bench.show()
    bench.answer(Answer.REJECT, notes="again")
    bench.until("checkpoint-a")
    with pytest.raises(StaleApproval):
        bench.answer(Answer.APPROVE, digest=first)


def test_abandon_is_always_taken_and_nothing_comes_after_it() -> None:
    bench = Bench().until("checkpoint-a")
    bench.answer(Answer.ABANDON)
    assert isinstance(bench.action, Done)
    assert bench.action.outcome == "abandoned"
    with pytest.raises(RunEnded):
        bench.tell(
            RetryAsked(
                key="retry", at=bench.now(), phase=PhaseId("phase-3"), by="ann", via="terminal"
            )
        )


# -- auto
# --------------------------------------------------------------------------------------------------


def test_auto_passes_the_gate_of_an_approved_design() -> None:
    seen = Bench(Effort.M, RunFlags(auto=True)).finish()
    assert "checkpoint-a" not in seen


def test_auto_brings_the_design_review_back_to_a_small_run() -> None:
    seen = Bench(Effort.S, RunFlags(auto=True)).finish()
    assert "phase-3b" in seen
    assert "checkpoint-a" not in seen


@pytest.mark.parametrize("verdict", [Verdict.APPROVE_WITH_NOTES, Verdict.REVISE])
def test_auto_asks_when_the_reviewer_said_anything_but_approve(verdict: Verdict) -> None:
    bench = Bench(Effort.M, RunFlags(auto=True)).until("phase-3b")
    while bench.action.phase in {"phase-3", "phase-3b"}:
        bench.until("phase-3b").wrote(verdict=verdict)
        if bench.action.phase == "phase-3":
            bench.step()
    assert isinstance(bench.action, Checkpoint)
    assert bench.action.name == "checkpoint-a"


def test_auto_asks_when_one_of_several_reviews_that_a_gate_shows_is_no_approval() -> None:
    shows = {"shows": ("review-design.md", "tasks.md", "review-tasks.md")}
    phases = tuple(
        phase.model_copy(update=shows) if phase.id == "checkpoint-b" else phase
        for phase in DEVELOP.phases
    )
    own = DEVELOP.model_copy(update={"phases": phases})
    bench = Bench(Effort.L, RunFlags(auto=True), pipeline=own).until("phase-3b")
    bench.wrote(verdict=Verdict.APPROVE_WITH_NOTES)
    bench.approve()
    bench.until("phase-4b").wrote(verdict=Verdict.APPROVE)
    assert isinstance(bench.action, Checkpoint)
    assert bench.action.name == "checkpoint-b"


def test_auto_asks_when_a_major_finding_is_open() -> None:
    bench = Bench(Effort.M, RunFlags(auto=True)).until("phase-3b")
    bench.wrote(verdict=Verdict.APPROVE, findings=(MAJOR,))
    assert isinstance(bench.action, Checkpoint)


def test_auto_asks_when_something_is_risky() -> None:
    bench = Bench(Effort.M, RunFlags(auto=True))
    bench.prepared(risks=("the repository has no tests",))
    bench.until("checkpoint-a")
    assert isinstance(bench.action, Checkpoint)
    assert bench.action.risks == ("the repository has no tests",)


def test_a_risk_that_a_later_version_no_longer_has_is_over_and_those_of_the_repository_stay() -> (
    None
):
    bench = Bench(Effort.M)
    bench.prepared(risks=("there are no tests to verify with",))
    bench.until("phase-3").wrote(
        risks=("speaks of a new dependency", "names protected files: uv.lock")
    )
    bench.until("checkpoint-a")
    assert isinstance(bench.action, Checkpoint)
    first = (
        "there are no tests to verify with",
        "speaks of a new dependency",
        "names protected files: uv.lock",
    )
    assert bench.action.risks == first

    bench.reject("No new dependency.")
    bench.wrote(risks=("names protected files: uv.lock", "names 16 files"))
    bench.until("checkpoint-a")
    assert bench.action.risks == (
        "there are no tests to verify with",
        "names protected files: uv.lock",
        "names 16 files",
    )


# -- budget
# --------------------------------------------------------------------------------------------------


def test_a_spent_budget_pauses_the_run_and_approval_allows_as_much_again() -> None:
    bench = Bench(budget=Decimal(1)).until("phase-3")
    bench.failed(FailureReason.BUDGET)
    gate = bench.action
    assert isinstance(gate, Checkpoint)
    assert (gate.reason, gate.options) == (Reason.BUDGET, ("approve",))
    bench.approve()
    assert bench.state.budget.cap == Decimal(2)
    assert bench.action.phase == "phase-3"


def test_more_budget_lets_waiting_tasks_go_on() -> None:
    bench = Bench(budget=Decimal(1), tasks=(spec("1"), spec("2"))).until("phase-5")
    bench.failed(FailureReason.BUDGET)
    bench.failed(FailureReason.BUDGET)
    assert isinstance(bench.action, Checkpoint)
    bench.tell(
        BudgetRaised(key="more", at=bench.now(), amount=Decimal(5), by="ann", via="terminal")
    )
    action = bench.action
    assert isinstance(action, SpawnAgent)
    assert action.parallel_task_ids == ("1", "2")
    assert bench.state.budget.cap == Decimal(6)


@pytest.mark.parametrize("yes", ["approve", "continue"])
def test_a_spent_budget_of_tokens_pauses_the_run_and_is_raised_in_tokens(yes: str) -> None:
    bench = Bench(budget_tokens=10_000).until("phase-3")
    assert bench.state.budget.tokens == bench.state.usage.tokens
    bench.failed(FailureReason.BUDGET)

    def raised(**more: Any) -> None:
        bench.tell(BudgetRaised(key="more", at=bench.now(), by="ann", via="terminal", **more))

    with pytest.raises(ReportRejected, match="does not count US dollars; it counts tokens"):
        raised(amount=Decimal(5))
    bench.approve() if yes == "approve" else raised(tokens=10_000)
    assert (bench.state.budget.cap, bench.state.budget.token_cap) == (None, 20_000)
    assert bench.action.phase == "phase-3"


def test_costs_add_up_and_an_unknown_price_stays_unknown() -> None:
    bench = Bench()
    bench.finish()
    assert bench.state.usage.cost == Decimal("0.01") * bench.state.usage.calls
    assert bench.state.budget.spent == bench.state.usage.cost


# -- reports
# --------------------------------------------------------------------------------------------------


def test_a_report_that_comes_twice_moves_the_run_once() -> None:
    bench = Bench().until("phase-3")
    bench.wrote()
    before = bench.state
    assert bench.tell(bench.reports[-1]) is before


@pytest.mark.parametrize("place", ["phase-1", "checkpoint-a", "phase-5", "completed"])
def test_a_question_costs_money_and_changes_nothing_else(place: str) -> None:
    bench = Bench(budget=Decimal(9)).until(place)
    before = bench.state
    usage = Usage(calls=2, input_tokens=10, output_tokens=5, cost=Decimal("0.25"))
    asked = Asked(
        key="ask/1",
        at=bench.now(),
        phase=PhaseId("phase-3"),
        question="Why?",
        answer="So.",
        usage=usage,
        by="ann",
        via="terminal",
    )
    after = bench.tell(asked)
    assert after.budget.spent == before.budget.spent + Decimal("0.25")
    assert after.usage == before.usage + usage
    same = ("log", "usage", "budget", "seen", "updated_at")
    assert after.model_dump(exclude=set(same)) == before.model_dump(exclude=set(same))
    assert "Why" not in after.log[-1].event
    assert bench.tell(asked) is after


def test_a_report_on_an_action_that_is_over_is_refused() -> None:
    bench = Bench().until("phase-3")
    old = bench.reports[-1]
    with pytest.raises(WrongAction):
        bench.tell(old.model_copy(update={"key": "another"}))


def test_folding_the_reports_again_gives_the_same_bytes() -> None:
    bench = Bench(Effort.L, tasks=(spec("1"), spec("2")))
    bench.until("phase-6")
    bench.wrote(task=TaskId("2"), verdict=Verdict.FAIL, findings=(MAJOR,))
    bench.finish()
    assert fold(DEVELOP, bench.reports).model_dump_json() == bench.state.model_dump_json()


def asked_to_post(flags: RunFlags | None = None) -> Bench:
    bench = Bench(Effort.S, flags or RunFlags(), source=ISSUE).until("post-to-source")
    name = bench.action.action_id
    bench.tell(PublicationAsked(key=f"{name}/asked", at=bench.now(), action_id=name))
    return bench


def test_whether_the_summary_is_posted_is_asked_and_a_yes_hands_the_posting_out() -> None:
    bench = asked_to_post()
    assert isinstance(bench.action, Checkpoint)
    assert (bench.action.name, bench.action.options) == ("post-to-source", ("post", "skip"))
    assert [file.name for file in bench.action.files] == ["summary.md"]
    assert not may_post(bench.pipeline, bench.state)
    bench.show()
    bench.answer(Answer.POST)
    assert isinstance(bench.action, Exec)
    assert bench.action.operation == "post-to-source"
    assert may_post(bench.pipeline, bench.state)
    bench.published()
    assert bench.action.phase == "final-commit"
    assert fold(DEVELOP, bench.reports) == bench.state


def test_a_skipped_posting_ends_its_phase() -> None:
    bench = asked_to_post()
    bench.answer(Answer.SKIP)
    assert bench.action.phase == "final-commit"


def test_a_yes_to_post_needs_to_have_been_shown_and_takes_no_other_answer() -> None:
    bench = asked_to_post()
    with pytest.raises(StaleApproval):
        bench.answer(Answer.POST)
    with pytest.raises(AnswerNotOffered):
        bench.answer(Answer.APPROVE)
    with pytest.raises(AnswerNotOffered):
        bench.answer(Answer.DONE)


def test_a_yes_to_post_does_not_outlive_going_back() -> None:
    bench = asked_to_post()
    bench.show()
    bench.answer(Answer.POST)
    bench.tell(
        RetryAsked(
            key="retry", at=bench.now(), phase=PhaseId("final-summary"), by="ann", via="terminal"
        )
    )
    bench.until("post-to-source")
    assert not may_post(bench.pipeline, bench.state)


def test_nobody_is_asked_to_post_where_nothing_can_be_posted() -> None:
    for bench in (
        Bench(Effort.S, RunFlags(skip_pr=True), source=ISSUE),
        Bench(Effort.S, source=ISSUE),
    ):
        bench.until("post-to-source" if bench.flags.skip_pr else "final-summary")
        name = bench.action.action_id
        with pytest.raises(WrongReport):
            bench.tell(PublicationAsked(key=f"{name}/asked", at=bench.now(), action_id=name))


def test_only_the_review_of_a_draft_corrects_the_design() -> None:
    bench = Bench(Effort.M)
    bench.until("phase-3b")
    design = bench.state.artifacts["design.md"]
    action = bench.action
    assert isinstance(action, SpawnAgent)
    report = ArtifactWritten(
        **head_of(action.action_id, bench.now()),
        phase=action.phase,
        artifact=action.output_file,
        blob=blob("review"),
        inspection=Inspection(verdict=Verdict.APPROVE_WITH_NOTES, findings=()),
        corrected=CorrectedDesign(blob=blob("another"), risks=("names protected files",)),
    )
    with pytest.raises(WrongReport, match="corrects no design"):
        bench.tell(report)
    draft = design.replace(blob=blob("draft"))
    bench.state = bench.state.with_document("draft.patch", draft)
    state = bench.tell(report)
    assert state.artifacts["design.md"].blob == blob("another")
    assert state.artifacts["design.md"].phase == design.phase
    assert state.risks == ("names protected files",)
    assert state.gate is not None
    assert blob("another") in {file.blob for file in state.gate.files}
