"""Documents that need no model: when our own process writes them, and what stands in them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from forge_bot.artifacts.design_outline import read_outline
from forge_bot.artifacts.markdown import read_section
from forge_bot.artifacts.plans import is_one_task, planned_files, planned_tasks
from forge_bot.artifacts.read_artifact import judge_review
from forge_bot.artifacts.tasks import read_tasks, whole_criteria
from forge_bot.engine import SpawnAgent, WriteFile
from forge_bot.engine.reports import ArtifactWritten, Report, RunFlags
from forge_bot.engine.state import State
from forge_bot.engine.verification_report import commands_section
from forge_bot.values import Effort, Inspection, TaskId, TaskSpec, Verdict
from tests.fakes.bench import MAJOR, MISSING, RED, Bench
from tests.fakes.rows import rows

ROWS = rows(__file__)

TABLE = "| Requirement | Files | Tests | State |\n|---|---|---|---|\n| R-1: it ends | `a.py` | `t` | met |"
TWO = tuple(TaskSpec(id=TaskId(name), title=f"Part {name}", files=(f"{name}.py",)) for name in "12")


FACTS = {
    "analysis.md": Inspection(next_documents=("# The next\n\n## Approach\n\nSo.\n",) * 2),
    "design.md": Inspection(
        title="return an empty string",
        one_task=True,
        sections={"Approach": "The empty list gets its own branch (R-1).\n\n- Not a default."},
    ),
    "impl-1.md": Inspection(sections={"Files Changed": "- `a.py`: the branch"}),
    "review-1.md": Inspection(
        sections={"Requirements": TABLE, "Improvement Report": "The tests have no index."}
    ),
}


class Scripted(Bench):
    """A bench whose documents carry what real ones would."""

    facts: Mapping[str, Inspection] = FACTS

    def tell(self, report: Report) -> State:
        if isinstance(report, ArtifactWritten) and report.artifact in self.facts:
            known = self.facts[report.artifact]
            said = {
                "title": known.title,
                "one_task": known.one_task and len(self.tasks) == 1,
                "planned": self.tasks if known.one_task and len(self.tasks) > 1 else (),
                "sections": known.sections,
                "next_documents": known.next_documents,
            }
            found = report.inspection.model_copy(update=said)
            report = report.model_copy(update={"inspection": found})
        return super().tell(report)


def calls(bench: Bench) -> list[str]:
    """Finish the run; the artifacts for which a model was asked, in order."""
    asked: list[str] = []
    while not bench.state.ended:
        action = bench.action
        if isinstance(action, SpawnAgent):
            names = action.parallel_task_ids or (TaskId(""),)
            asked.append(action.output_file.replace("{task}", names[0]))
        bench.step()
    return asked


def written(bench: Bench) -> WriteFile:
    assert isinstance(bench.action, WriteFile), bench.action
    return bench.action


def test_a_small_run_asks_models_three_times() -> None:
    bench = Scripted(Effort.S)
    assert calls(bench) == ["analysis.md", "impl-1.md", "comprehensive-review.md"]
    assert {"phase-4", "final-verification", "final-summary"} <= set(bench.state.completed_phases)


@pytest.mark.parametrize(
    ("effort", "asked"), [(Effort.S, "design.md"), (Effort.M, "investigation.md")]
)
def test_a_document_that_the_analyst_leaves_out_is_another_agent_s(
    effort: Effort, asked: str
) -> None:
    bench = Scripted(effort)
    bench.facts = {**FACTS, "analysis.md": Inspection()}
    assert calls(bench)[:2] == ["analysis.md", asked]


def test_what_the_analyst_wrote_for_the_next_phase_is_its_document() -> None:
    action = written(Scripted(Effort.S).until("phase-3"))
    assert (action.path, action.content) == ("design.md", FACTS["analysis.md"].next_documents[0])


def test_a_run_of_one_task_asks_models_four_times_and_no_phase_is_skipped_for_it() -> None:
    bench = Scripted(Effort.M)
    assert calls(bench) == ["analysis.md", "review-design.md", "impl-1.md", "review-1.md"]
    by_process = {"phase-4", "phase-7", "final-verification", "final-summary"}
    assert by_process <= set(bench.state.completed_phases)
    assert not by_process & set(bench.state.skipped_phases)


def test_a_further_task_costs_two_calls_more() -> None:
    three = (*TWO, TaskSpec(id=TaskId("3"), title="Part 3", files=("3.py",)))

    def asked(tasks: tuple[TaskSpec, ...]) -> int:
        """The reports of models: those of our own process name none."""
        bench, count = Scripted(Effort.M, tasks=tasks), 0
        while not bench.state.ended:
            count += isinstance(bench.action, SpawnAgent)
            bench.step()
        return count

    # The bench reports each task of a wave by itself, so each task counts.
    assert asked(TWO) == 4 + 2 + 1, "the second task; and the review of both"
    assert asked(three) - asked(TWO) == 2


# -- tasks.md


@pytest.mark.parametrize("effort", [Effort.S, Effort.M])
def test_the_one_task_has_the_title_of_the_design(effort: Effort) -> None:
    bench = Scripted(effort)
    action = written(bench.until("phase-4"))
    (task,), problems = read_tasks(action.content)
    assert (action.path, task.title, problems) == ("tasks.md", "return an empty string", ())


def test_the_tasks_that_a_design_lists_are_listed_as_they_stand_there() -> None:
    action = written(Scripted(Effort.M, tasks=planned_tasks(PLAN)).until("phase-4"))
    tasks, problems = read_tasks(action.content)
    assert problems == ()
    assert [(task.id, task.title, task.files, task.depends_on) for task in tasks] == [
        ("1", "Read --since", ("app/cli.py", "tests/test_cli.py"), ()),
        ("2", "Tell it in the docs", ("docs/cli.md",), ("1",)),
    ]
    assert all("design.md says below task" in task.acceptance[0] for task in tasks)


def test_a_list_that_our_process_wrote_and_a_reviewer_sends_back_is_a_model_s() -> None:
    bench = Scripted(Effort.L, tasks=TWO).until("phase-4b")
    bench.wrote(verdict=Verdict.REVISE, findings=(MAJOR,))
    assert isinstance(bench.action, SpawnAgent)
    assert bench.action.agent == "task-decomposer"


PLAN: str = ROWS["plan"]


@pytest.mark.parametrize(("one", "other"), ROWS["a_list_of_tasks_that"])
def test_a_list_of_tasks_that_cannot_be_taken_as_it_stands_is_left_to_a_model(
    one: str, other: str
) -> None:
    assert len(planned_tasks(PLAN)) == 2
    assert one in PLAN
    assert planned_tasks(PLAN.replace(one, other)) == ()


def test_a_decomposition_that_was_sent_back_is_a_model_s() -> None:
    bench = Scripted(Effort.L).until("checkpoint-b")
    bench.reject("Take the parser apart first")
    assert isinstance(bench.action, SpawnAgent)
    assert bench.action.agent == "task-decomposer"


@pytest.mark.parametrize(
    ("changes", "one"),
    [
        ("- `a.py`: one\n- `tests/test_a.py`: two\n- `README.md`: three", True),
        ("- `a.py`: one\n- `b.py`: two\n- `c.py`: three\n- Tasks: one", True),
        ("- `a.py`: one\n- **Tasks**: several", False),
        ("- `a.py`: one\n- Tasks: 3", False),
        ("Everything gets faster.", False),
        ("- see `a.py`\n  - `b.py`: inside\n  - `c.py`: inside", True),
    ],
)
def test_a_design_is_one_task_if_it_says_so_or_says_nothing(changes: str, one: bool) -> None:
    assert (
        is_one_task(f"# fix: x\n\n## Approach\n\nA.\n\n## Changes\n\n{changes}\n\n## Risks\n\nNo.")
        is one
    )


def test_the_files_of_a_plan_are_those_that_begin_its_bullets() -> None:
    design = (
        "## Changes\n\n- `a/b.py` (R-1): `C.d`\n  - `e.py`: inside\n- `Makefile`: x\n- `f()`: y\n"
    )
    assert planned_files(design) == ("a/b.py",)


def test_files_that_begin_one_bullet_count_with_the_numbers_of_their_requirements_between() -> None:
    bullet = "- `a.py` (R-1, R-3), `b.py` (R-2) and `c.py`: a word (R-4), `d.py` stays"
    assert planned_files(f"## Changes\n\n{bullet}\n") == ("a.py", "b.py", "c.py")


def test_several_files_that_begin_one_bullet_all_count() -> None:
    bullet = "- `tests/test_a.py`, `tests/test_b.py` and `c.py` (R-3): new tests, as `d.py` has"
    design = f"## Changes\n\n{bullet}\n- `f()`, `g()`: y\n- `e.py`, see `h.py`: z\n"
    assert planned_files(design) == ("tests/test_a.py", "tests/test_b.py", "c.py", "e.py")
    said = [(file.path, file.change) for file in read_outline(design).files]
    shown = "new tests, as `d.py` has"
    assert said[:3] == [(path, shown) for path in ("tests/test_a.py", "tests/test_b.py", "c.py")]
    assert said[3:] == [("f()", "`g()`: y"), ("e.py", "see `h.py`: z")]


@pytest.mark.parametrize("tail", ["```\ncode", "<!-- hidden", "x" * 4_001])
def test_a_section_that_would_swallow_what_follows_is_left_out(tail: str) -> None:
    assert read_section(f"## Approach\n\nKept.\n\n## Risks\n\n{tail}", "Approach") == "Kept."
    assert read_section(f"## Approach\n\n{tail}", "Approach") == ""


# -- the second review


def test_the_second_review_of_one_task_has_its_verdict_and_its_table() -> None:
    bench = Scripted(Effort.M).until("phase-6")
    assert isinstance(bench.action, SpawnAgent)
    assert bench.action.closing == ("Requirements", "Improvement Report")
    bench.wrote(verdict=Verdict.PASS_WITH_NOTES)
    action = written(bench)
    verdicts = (Verdict.PASS, Verdict.PASS_WITH_NOTES, Verdict.FAIL)
    assert judge_review(action.content, verdicts) == Inspection(verdict=Verdict.PASS_WITH_NOTES)
    assert TABLE in action.content
    assert "`review-1.md`" in action.content


@pytest.mark.parametrize(
    ("criteria", "asked"),
    [(whole_criteria("design.md describes"), False), (("AC-1: it ends",), True)],
)
def test_what_only_a_part_of_the_design_needs_is_not_asked_of_a_task_that_is_all_of_it(
    criteria: tuple[str, ...], asked: bool
) -> None:
    task = TaskSpec(id=TaskId("1"), title="Part", files=("a.py",), acceptance=criteria)
    wanted = {"phase-5": {"Tests", "Acceptance Criteria"}, "phase-6": {"Acceptance Criteria"}}
    for phase, headings in wanted.items():
        action = Scripted(Effort.M, tasks=(task,)).until(phase).action
        assert isinstance(action, SpawnAgent)
        assert headings & set(action.headings) == (headings if asked else set())


def test_two_tasks_are_reviewed_together_by_a_model_and_no_one_closes_before() -> None:
    bench = Scripted(Effort.M, tasks=TWO).until("phase-6")
    assert isinstance(bench.action, SpawnAgent)
    assert bench.action.closing == ()
    bench.until("phase-7")
    assert isinstance(bench.action, SpawnAgent)
    assert bench.action.closing == ("Improvement Report",)


# -- verification and summary


def test_a_green_verification_repeats_the_reviewer_s_table_and_ours_of_the_commands() -> None:
    bench = Scripted(Effort.M).until("final-verification")
    bench.ran()
    content = written(bench).content
    assert TABLE in content
    assert "Result: **green**" in content
    assert "3 tests ran; every command ended with exit code 0." in content


def test_a_red_verification_that_a_person_accepted_is_explained_by_a_model() -> None:
    bench = Scripted(Effort.M).until("final-verification")
    for _ in range(3):
        bench.ran(RED)
        bench.until("final-verification")
    while not (bench.state.verification and bench.state.verification.accepted):
        bench.approve() if bench.state.gate else bench.ran(RED)
    assert isinstance(bench.action, SpawnAgent)
    assert bench.action.agent == "verifier"


def test_what_is_red_is_said_to_be_accepted_only_once_a_person_did_so() -> None:
    bench = Bench(Effort.S)
    for _ in range(3):
        bench.until("final-verification").ran(RED)
    assert "Result: **red**." in commands_section(bench.state)
    bench.approve()
    assert "Result: **red, and accepted by a person**." in commands_section(bench.state)


def test_the_summary_says_what_the_documents_said() -> None:
    content = written(Scripted(Effort.M).until("final-summary")).content
    assert content.startswith(
        "# return an empty string\n\n## Summary\n\nThe empty list gets its own"
    )
    for part in ("- `a.py`: the branch", "The tests have no index.", "exit code 0", "PASS"):
        assert part in content, part


@pytest.mark.parametrize(
    ("what", "by_model"),
    [("nothing", False), ("debug", True), ("rejected", False), ("unfit", False), ("review", False)],
)
def test_the_summary_is_a_model_s_only_where_it_has_to_explain(
    what: str, *, by_model: bool
) -> None:
    bench = Scripted(Effort.M, flags=RunFlags(debug=what == "debug"))
    if what == "rejected":
        bench.until("checkpoint-a").reject("Smaller")
    if what == "unfit":
        bench.until("phase-1").wrote(problems=(MISSING,))
    if what == "review":
        bench.until("phase-6").wrote(verdict=Verdict.FAIL)
    bench.until("final-summary")
    assert isinstance(bench.action, SpawnAgent) is by_model
    told = "" if by_model else written(bench).content
    assert ("sent back by its review 1 time" in told) == (what == "review")


def test_the_page_on_efforts_says_how_often_models_are_asked() -> None:
    def asked(effort: Effort, count: int) -> int:
        tasks = (*TWO, TaskSpec(id=TaskId("3"), title="Part 3", files=("3.py",)))[:count]
        bench, found = Scripted(effort, tasks=tasks), 0
        while not bench.state.ended:
            found += isinstance(bench.action, SpawnAgent)
            bench.step()
        return found

    page = (Path(__file__).parents[2] / "docs" / "runs.md").read_text(encoding="utf-8")
    for effort in Effort:
        counts = [str(asked(effort, count)) for count in (1, 2, 3)]
        several = ["–", "–"] if effort is Effort.S else counts[1:]
        row = " | ".join([effort.value, counts[0], *several])
        assert f"| {row} |" in page
