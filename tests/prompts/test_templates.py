"""The templates that ship: one for each agent, each example as its contract asks, each rendering
whole for both deliveries.
"""

import json
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from forge_bot.agent.model_answers import (
    ANSWER_FORMS,
    AnswerKind,
    Change,
    Document,
    Explore,
    parse_answer,
)
from forge_bot.artifacts.read_artifact import inspect
from forge_bot.artifacts.tasks import read_tasks
from forge_bot.engine.step_phases import AGENT as STEP_WRITER
from forge_bot.prompts.assemble import COMMON, MESSAGE, NEXT_DOCUMENT, assemble
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.material import InputFile
from forge_bot.resources import templates
from forge_bot.values import Finding, Severity, TaskId, TaskMode, TaskSpec, Verdict
from tests.prompts.scenes import Part, fences, parts, sections

FOLDER: Path = templates() / "prompts"
TEMPLATES = sorted(path.name for path in FOLDER.glob("*.md.j2"))
SHIPPED = Environment()
PARTS = parts()
REVIEWS = [part for part in PARTS if part.verdicts]

each_part = pytest.mark.parametrize("part", PARTS, ids=str)
each_review = pytest.mark.parametrize("part", REVIEWS, ids=str)
WITH_EXAMPLE = [
    part
    for part in PARTS
    if part.agent not in {"situation-analyst-investigator", "design-reviewer"}
]
"""Their roles show a whole document; the others say the form in their headings alone."""

each_example = pytest.mark.parametrize("part", WITH_EXAMPLE, ids=str)


def role(part: Part, **changes: object) -> str:
    return assemble(part.material(**changes), SHIPPED).role


def example(part: Part) -> str:
    (found,) = fences(role(part), "markdown")
    return found


def test_every_agent_has_a_template_and_every_template_an_agent() -> None:
    # What the writer of a step writes is said by its pipeline.
    agents = {*(part.agent for part in PARTS), STEP_WRITER}
    assert agents == {name.removesuffix(".md.j2") for name in TEMPLATES if not name.startswith("_")}
    SHIPPED.check(agents)


def test_every_partial_is_used() -> None:
    everything = "".join((FOLDER / name).read_text(encoding="utf-8") for name in TEMPLATES)
    for name in TEMPLATES:
        if name.startswith("_") and name not in {COMMON, MESSAGE, NEXT_DOCUMENT}:
            assert f'{{% include "{name}" %}}' in everything


@each_example
def test_an_example_has_the_headings_of_its_artifact_in_order_each_with_a_body(part: Part) -> None:
    found = sections(example(part))
    named = ["Verdict" if heading.startswith("Verdict: ") else heading for heading in found]
    if part.headings:
        assert tuple(named) == part.headings
    assert all(found.values())


@each_example
def test_an_example_is_an_artifact_that_the_engine_takes(part: Part) -> None:
    read = inspect(
        example(part),
        headings=part.headings,
        verdicts=[Verdict(verdict) for verdict in part.verdicts],
        tasks=part.agent == "task-decomposer",
    )
    assert read.problems == ()
    assert bool(read.findings) == bool(part.verdicts)
    assert read.verdict is (
        None if not part.verdicts else Verdict(re.findall(r"## Verdict: (\w+)", example(part))[0])
    )


@each_part
def test_the_contract_lists_the_headings_it_was_given_and_means_no_others(part: Part) -> None:
    text = role(part)
    listed = re.findall(r"^- `## (.+?)`: ", text, re.MULTILINE)
    assert tuple(heading.removesuffix(": …") for heading in listed) == part.headings
    assert "- `## Something New`\n" in role(part, headings=(*part.headings, "Something New"))


@pytest.mark.parametrize("part", [part for part in WITH_EXAMPLE if part.verdicts], ids=str)
def test_an_example_of_a_review_holds_one_verdict_that_follows_from_its_findings(
    part: Part,
) -> None:
    text = example(part)
    (verdict,) = re.findall(r"^## Verdict: (\w+)$", text, re.MULTILINE)
    severities = set(
        re.findall(r"^- \*\*\[(\w+)\]\*\* \S", sections(text)["Findings"], re.MULTILINE)
    )
    assert severities <= set(Severity)
    heavy = bool(severities & {Severity.CRITICAL, Severity.MAJOR})
    assert verdict == part.verdicts[2 if heavy else 1 if severities else 0]
    words = re.findall(r"\b(?:APPROVE|APPROVE_WITH_NOTES|REVISE|PASS|PASS_WITH_NOTES|FAIL)\b", text)
    assert words == [verdict]


@each_review
def test_a_reviewer_is_told_its_own_verdicts_only(part: Part) -> None:
    told = set(
        re.findall(r"\b(APPROVE|APPROVE_WITH_NOTES|REVISE|PASS|PASS_WITH_NOTES|FAIL)`", role(part))
    )
    assert told == set(part.verdicts)


def test_the_example_of_a_task_list_is_read_as_it_is_meant() -> None:
    (decomposer,) = [part for part in PARTS if part.agent == "task-decomposer"]
    tasks, problems = read_tasks(example(decomposer))
    assert problems == ()
    assert [(task.id, task.mode, task.depends_on, len(task.acceptance)) for task in tasks] == [
        ("1", TaskMode.SEQUENTIAL, (), 3),
        ("2", TaskMode.PARALLEL, ("1",), 1),
    ]
    assert tasks[0].files == ("app/errors.py", "app/upload.py", "tests/test_upload.py")


def test_the_page_after_a_run_reports_friction_under_four_headings() -> None:
    (summary,) = [
        part
        for part in PARTS
        if part.phase == "final-summary" and "Debug Report" not in part.headings
    ]
    report = sections(example(summary))["Improvement Report"]
    assert re.findall(r"^### (.+)$", report, re.MULTILINE) == [
        "Documentation",
        "Code Readability",
        "AI Agent Support",
        "Other",
    ]
    assert "No friction observed." in report


def test_the_verifier_does_not_write_what_the_process_adds() -> None:
    (verification,) = [part for part in PARTS if part.phase == "final-verification"]
    assert "Commands" not in sections(example(verification))
    assert "exit codes: they are added for you" in role(verification)


BUSY = {
    "round": 2,
    "notes": ("Shorter.",),
    "findings": (Finding(severity=Severity.MINOR, description="x"),),
    "problems": ("y",),
    "similar": ("s",),
    "patterns": ("p",),
    "friction": ("f",),
    "inputs": (
        InputFile(name="request.md", text="r", untrusted=True),
        InputFile(name="d", text="+", kind="diff"),
    ),
    "task": TaskSpec(
        id=TaskId("1"), title="t", files=("a",), depends_on=(TaskId("2"),), acceptance=("AC-1: z",)
    ),
}


@pytest.mark.parametrize("delivery", ["answer", "files"])
@pytest.mark.parametrize("extra", [{}, BUSY], ids=["bare", "busy"])
def test_every_prompt_is_clean_markdown_for_both_deliveries(
    delivery: str, extra: dict[str, object]
) -> None:
    for part in PARTS:
        is_clean_markdown(part, delivery, extra)


def is_clean_markdown(part: Part, delivery: str, extra: dict[str, object]) -> None:
    made = assemble(part.material(delivery=delivery, **extra), SHIPPED)
    for text in (made.system, made.user):
        assert text.endswith("\n")
        assert "\n\n\n" not in text
        assert not text.startswith("\n")
        assert not re.search(r"[ \t]+$", text, re.MULTILINE)
        assert "{{" not in text
        assert "{%" not in text
    for text in (made.system, made.role):
        tokens = MarkdownIt().parse(text)
        levels = [token.tag for token in tokens if token.type == "heading_open"]
        assert levels.count("h1") == 1
        assert levels[0] == "h1"
    assert ("## How to ask and how to answer" in made.system) == (delivery == "answer")
    assert ("## Output File" in made.user) == (delivery == "files")


@each_part
def test_a_prompt_ends_with_role_and_contract(part: Part) -> None:
    made = assemble(part.material(**BUSY), SHIPPED)
    assert made.user.count(made.role.strip()) == 1
    after = made.user[made.user.index(made.role.strip()) + len(made.role.strip()) :]
    assert re.findall("^## (.+)$", after, re.MULTILINE) == ["Now"]


def test_the_forms_of_an_answer_that_a_model_is_told_are_readable() -> None:
    asked, document, change = (
        parse_answer(line, kind)
        for line, kind in zip(
            [line for line in ANSWER_FORMS.splitlines() if line.startswith("{")],
            (AnswerKind.DOCUMENT, AnswerKind.DOCUMENT, AnswerKind.CHANGE),
            strict=True,
        )
    )
    assert isinstance(asked, Explore)
    assert "pattern" in json.loads(asked.requests[0].params_json)
    assert isinstance(document, Document)
    assert isinstance(change, Change)
    assert change.edits[0].operation == "insert_after"


def test_the_one_who_cannot_run_tests_is_told_not_to_claim_results() -> None:
    (implementer,) = [part for part in PARTS if part.agent == "implementer"]
    assert "never write that it passes" in role(implementer)
    assert "shows the state before the edits" in role(implementer)
    assert "the commands you ran" in role(implementer, delivery="files")
    assert "show the state before the edits" not in role(implementer, delivery="files")


def test_what_only_a_run_can_show_is_left_to_the_process_in_task_report_and_review() -> None:
    made = {
        part.agent: example(part)
        for part in PARTS
        if part.agent in {"task-decomposer", "implementer", "impl-reviewer"}
    }
    assert "- [ ] AC-3: `pytest` passes\n" in made["task-decomposer"]
    for agent in ("implementer", "impl-reviewer"):
        assert "- [ ] AC-3: for the process to show (`pytest`)\n" in made[agent]
        assert "AC-3" not in sections(made[agent]).get("Findings", "")


def test_the_states_of_a_verified_requirement_are_those_of_its_example() -> None:
    (verification,) = [part for part in PARTS if part.phase == "final-verification"]
    told = set(
        re.findall(r"“(shown by the run|shown by reading|failed|not shown)”", role(verification))
    )
    assert told == {"shown by the run", "shown by reading", "failed", "not shown"}
    states = re.findall(
        r"\| ([^|]+) \|$", sections(example(verification))["Requirements"], re.MULTILINE
    )
    assert states[0] == "State"
    assert set(states[1:]) <= told
