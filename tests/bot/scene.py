"""One run as people meet it in an issue thread, at each point where the bot speaks; made with the
bench, read with the front door.
"""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from forge_bot.artifacts.read_artifact import read_requirements
from forge_bot.bot.comments.reply import CommentReply, RunView
from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.engine.reports import Answer, FailureReason
from forge_bot.engine.state import Reason, State
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.runs.question import Choice, Question, QuestionData, ShownDocument
from forge_bot.runs.question_overview import Overview, overview
from forge_bot.runs.run import Run
from forge_bot.values import (
    CommandName,
    CommandResult,
    Effort,
    Finding,
    RequirementCheck,
    Severity,
    Source,
    TaskId,
    TaskMode,
    TaskSpec,
    Verdict,
)
from tests.fakes.bench import DEVELOP, Bench

DOCUMENTS = Path(__file__).parent.parent / "fixtures" / "speech"
COMMIT = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"
TITLE = "`rota next`: when is somebody's next day on call?"
ISSUE = Source(
    type="github_issue", id="42", url="https://github.com/lighthouse/rota/issues/42", author="cleo"
)
TASKS = (
    TaskSpec(
        id=TaskId("1"),
        title="Find a person's next day",
        files=("rota/schedule.py", "tests/test_schedule.py"),
        acceptance=("it ends",),
    ),
    TaskSpec(
        id=TaskId("2"),
        title="Add the command `rota next`",
        files=("rota/cli.py", "README.md"),
        depends_on=(TaskId("1"),),
    ),
    TaskSpec(
        id=TaskId("3"),
        title="Announce the command to the people on call",
        mode=TaskMode.HUMAN_GATE,
        depends_on=(TaskId("2"),),
        acceptance=(
            "the people in `team.rota` know the command",
            "`README.md` is linked in the announcement",
        ),
    ),
)
NOTE = Finding(
    severity=Severity.MINOR,
    description="`tests/test_next.py:12`: the docstring still says “red until somebody writes it”.",
)
GAP = Finding(
    severity=Severity.MAJOR,
    description="Nothing says what happens on the last day of the calendar; `date.max + 1` raises.",
)
GREEN = CommandResult(
    name=CommandName.TEST,
    argv=("python3", "-m", "unittest", "discover", "-v"),
    exit_code=0,
    duration_ms=312,
    tests=18,
    tail="OK",
)
RED = GREEN.model_copy(
    update={
        "exit_code": 1,
        "tests": 17,
        "failures": ("tests.test_schedule.NextDay.test_it_ends",),
        "tail": (
            "ERROR: test_it_ends (tests.test_schedule.NextDay)\nOverflowError: date value out of"
            " range\n\nFAILED (errors=1)"
        ),
    }
)
BEFORE = GREEN.model_copy(update={"exit_code": 1, "tests": 11})
CHECKED = RequirementCheck(
    document="final-verification.md",
    ran=tuple(
        name
        for row in read_requirements((DOCUMENTS / "final-verification.md").read_text("utf-8"))
        for name in row.tests
    ),
)
MODEL = "anthropic:claude-sonnet-5-5"
LINKS = Links(
    repository="https://github.com/lighthouse/rota",
    commit=COMMIT,
    workspace=".specs/20261121-42-rota-next",
    job="https://github.com/lighthouse/rota/actions/runs/4711",
    question="https://github.com/lighthouse/rota/issues/42#issuecomment-900002",
)
_PRICES = {
    "phase-1": "0.03",
    "phase-2": "0.06",
    "phase-3": "0.14",
    "phase-3b": "0.09",
    "phase-4": "0.05",
    "phase-5": "0.31",
}


def text(name: str) -> str:
    return (DOCUMENTS / name).read_text(encoding="utf-8")


def bench(
    effort: Effort = Effort.M, *, budget: str | None = "5.00", tasks: tuple[TaskSpec, ...] = TASKS
) -> Bench:
    """A run of issue 42 that nothing has happened in."""
    made = Bench(effort, source=ISSUE, budget=Decimal(budget) if budget else None, tasks=tasks)
    made.state = made.state.replace(
        run="20261121-42-rota-next",
        title=TITLE,
        branch="feature/42-rota-next",
        effort_reason=f"the label “forge:{effort}”",
    )
    return made


def until(made: Bench, phase: str) -> Bench:
    """Go well until that phase, with prices as they are."""
    for _ in range(100):
        action = made.action
        here = action.name if isinstance(action, Checkpoint) else action.phase
        if here == phase or made.state.ended:
            return made
        match here:
            case "setup":
                made.prepared(BEFORE)
            case "final-verification" if not made.state.verification:
                made.ran(GREEN)
            case "phase-7":
                made.wrote(verdict=Verdict.PASS_WITH_NOTES, findings=(NOTE,), cost=Decimal("0.12"))
            case "pr-creation":
                made.published("https://github.com/lighthouse/rota/pull/57")
            case str() if (
                here in _PRICES
                and not isinstance(action, HumanGate)
                and action.type == "spawn_agent"
            ):
                made.wrote(cost=Decimal(_PRICES[here]))
            case _:
                made.step()
    raise AssertionError(phase)


def view(state: State, question: Question | None = None, **more: object) -> RunView:
    plain: dict[str, object] = {
        "pipeline": DEVELOP,
        "state": state,
        "links": LINKS,
        "question": question,
        "commands": CommandNames(),
    }
    return RunView.model_validate(plain | more)


def question(
    made: Bench, *, difference: str = "", documents: dict[str, str] | None = None
) -> Question:
    """The open question as the local host words it."""
    action = made.action
    if isinstance(action, HumanGate):
        return Question(
            title="Something only a person can do",
            data=QuestionData(gate=action.phase, decision=(action.title,), digest=""),
            actions=(
                Choice(answer="done", effect="you did it: tasks that depend on it go on"),
                Choice(answer="skip", effect="go on without it"),
                Choice(answer="abandon", effect="end the run; the branch stays"),
            ),
        )
    assert isinstance(action, Checkpoint)
    what = {
        None: (
            "Approve what is shown below, or say what should be different.",
            "take exactly this version",
        ),
        Reason.PROTECTED_PATHS: (
            "The change touches protected paths and has not been applied.",
            "apply exactly this patch and go on",
        ),
        Reason.VERIFICATION_RED: (
            "The verification is red, and the rounds are used up.",
            "go on with a red verification; the pull request says so",
        ),
        Reason.BUDGET: ("The budget is used up.", "allow as much again and go on"),
    }.get(action.reason, ("Something could not be done.", "leave it out and go on"))
    effects = {
        "approve": what[1],
        "reject": "redone, and you are asked again",
    }
    texts = documents or {}
    return Question(
        title=DEVELOP.phase(action.name).label,
        data=QuestionData(
            gate=action.name,
            decision=tuple(line for line in (made.state.title, what[0], action.subject) if line),
            digest=action.digest,
            risks=action.risks,
            findings=action.findings
            or tuple(
                finding
                for file in action.files
                if (record := made.state.artifacts.get(file.name)) is not None
                for finding in record.findings
            ),
            overview=(overview(_run(made, texts), action) if action.reason is None else Overview()),
            documents=tuple(
                ShownDocument(
                    name=file.name, text=texts.get(file.name) or text(file.name), blob=file.blob
                )
                for file in action.files
            ),
            difference=difference,
        ),
        actions=(
            *(Choice(answer=option, effect=effects[option]) for option in action.options),
            Choice(answer="abandon", effect="end the run; the branch stays"),
        ),
    )


# -- the points where the bot speaks
# --------------------------------------------------------------------------------------------------


def _run(made: Bench, texts: dict[str, str]) -> Run:
    """Return what an overview reads of a run."""

    def read(name: str) -> str:
        return texts.get(name) or text(name)

    folder = SimpleNamespace(read=read, reports=lambda: made.reports)
    return cast("Run", SimpleNamespace(pipeline=DEVELOP, state=made.state, workspace=folder))


def at_work() -> RunView:
    made = until(bench(), "phase-5")
    made.wrote(cost=Decimal("0.31"))
    made.wrote(verdict=Verdict.PASS_WITH_NOTES, findings=(NOTE,), cost=Decimal("0.08"))
    return view(made.state, estimate="$0.90 to $1.60")


def design_waits() -> RunView:
    made = until(bench(), "phase-3b")
    made.wrote(
        verdict=Verdict.APPROVE_WITH_NOTES,
        findings=(GAP,),
        cost=Decimal("0.09"),
        risks=("project commands run without a sandbox: see forge-bot doctor",),
    )
    asked = question(made)
    made.show()
    removed = "Removed before the model read it: 2 HTML comments and 1 invisible character."
    return view(made.state, asked, estimate="$0.90 to $1.60", removed=removed)


def design_waits_again() -> RunView:
    made = until(bench(), "checkpoint-a")
    made.reject("Say what happens on the last day of the calendar.")
    made.wrote(cost=Decimal("0.11"))
    made.wrote(cost=Decimal("0.07"))
    difference = (
        "--- a/.specs/20261121-42-rota-next/design.md\n+++"
        " b/.specs/20261121-42-rota-next/design.md\n@@ -12,4 +12,5 @@\n - `rota/schedule.py` (R-1,"
        " R-3, R-5): new method `next_day(self, person: str, first: date) -> date | None` of"
        " `Schedule`\n   - `person` not in `people`: the earliest day in `swaps` on or after"
        " `first` that is given to `person`, else `None`\n-  - otherwise: day by day from `first`,"
        " the first day for which `on_call(day) == person`\n+  - otherwise: day by day from"
        " `first`, `first` included, the first day for which `on_call(day) == person`; `None`"
        " once\n+    `date.max` was looked at; never adds to `date.max`\n"
    )
    return view(made.state, question(made, difference=difference))


PATCH = """diff --git a/.github/workflows/ci.yml b/.github/workflows/ci.yml
index 9c1a3b2..1f0d7e4 100644
--- a/.github/workflows/ci.yml
+++ b/.github/workflows/ci.yml
@@ -11,3 +11,4 @@ jobs:
     steps:
       - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8
       - run: python3 -m unittest discover -v -s tests -t .
+      - run: python3 -m rota next team.rota bo 2026-01-14
"""


def patch_waits() -> RunView:
    made = until(bench(), "phase-5")
    made.wrote(
        held=(".github/workflows/ci.yml",),
        cost=Decimal("0.31"),
        risks=("touches protected files: .github/workflows/ci.yml",),
    )
    return view(
        made.state,
        question(
            made,
            documents={
                "held-1.patch": PATCH,
                "impl-1.md": "# Task 1\n\nOne step was added to the checks.\n",
            },
        ),
    )


def verification_red() -> RunView:
    made = until(bench(Effort.S), "final-verification")
    for _ in range(20):
        action = made.action
        if isinstance(action, Checkpoint):
            break
        if action.phase == "final-verification" and action.type == "exec":
            made.ran(RED)
        else:
            made.step()
    return view(made.state, question(made))


def budget_used_up() -> RunView:
    made = until(bench(budget="0.60"), "phase-4")
    made.failed(FailureReason.BUDGET, "The next question could cost more than the budget has left.")
    return view(made.state, question(made))


def person_has_to_act() -> RunView:
    made = until(bench(), "phase-5")
    for _ in range(20):
        if isinstance(made.action, HumanGate):
            return view(made.state, question(made))
        made.step()
    raise AssertionError("no human gate")


def done() -> RunView:
    made = until(bench(), "completed")
    return view(made.state)


def delivered() -> RunView:
    """The pull request is being made."""
    state = until(bench(), "pr-creation").state
    assert state.verification is not None
    return view(
        state.replace(
            verification=state.verification.replace(requirements=CHECKED),
            log=tuple(
                each.replace(usage=each.usage and each.usage.replace(model=MODEL))
                for each in state.log
            ),
            decisions=tuple(each.model_copy(update={"via": "comment"}) for each in state.decisions),
        )
    )


def abandoned() -> RunView:
    made = until(bench(), "checkpoint-a")
    made.answer(Answer.ABANDON)
    return view(made.state)


def in_trouble(reply: CommentReply) -> RunView:
    return at_work().model_copy(update={"trouble": reply})


WAITING: dict[str, Callable[[], RunView]] = {
    "design": design_waits,
    "design-again": design_waits_again,
    "protected-paths": patch_waits,
    "verification-red": verification_red,
    "budget": budget_used_up,
    "person": person_has_to_act,
}
