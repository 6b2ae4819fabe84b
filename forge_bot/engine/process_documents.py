"""Write the documents that need no model, from the state.

A phase names its condition in the pipeline (`by_process_when`). The same state gives the same
document on every host: a host writes it as the action `write_file`, and its phase counts as
completed.
"""

from collections.abc import Mapping, Sequence

from forge_bot.engine.capability_uses import uses_section
from forge_bot.engine.drafts import draft_review
from forge_bot.engine.phases import (
    DRAFT,
    AgentPhase,
    AnsweringPhase,
    ReviewPhase,
    TaskReviewPhase,
    VerifyPhase,
)
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import ArtifactRecord, State, TaskState, TaskStatus
from forge_bot.engine.transitions import is_left_out
from forge_bot.text_format import several
from forge_bot.values import Effort, NothingToDo, Unneeded

_TASK_PARTS = ("Changes", "Test Strategy")
"""Sections that the only task names, if the document has them."""

_REPORT, REQUIREMENTS = "Improvement Report", "Requirements"


def is_by_process(pipeline: Pipeline, state: State, phase: AnsweringPhase) -> bool:
    """Return whether our own process writes the document of a phase.

    A phase that is asked again, by a person or a review, has a note, and a model works it off. So
    has one whose document our process could not make whole.
    """
    if isinstance(phase, AgentPhase) and phase.stand_in and is_left_out(pipeline, state, phase):
        return True
    if state.nothing_to_do is not None:
        return True
    if state.attempts or any(note.phase == phase.id for note in state.notes):
        return False
    match phase.by_process_when:
        case None:
            return False
        case "already-written":
            return bool(_written_before(pipeline, state, phase))
        case "design-has-tasks":
            plan = _plan(pipeline, state)
            whole = DRAFT in state.artifacts
            return plan is not None and (plan.one_task or bool(plan.planned) or whole)
        case "one-task-reviewed":
            return _only_review(pipeline, state) is not None
        case "verification-green":
            verification = state.verification
            return verification is not None and not verification.red
        case "no-debug-report":
            return not state.flags.debug


def written_by_models(
    pipeline: Pipeline, effort: Effort, *, auto: bool
) -> tuple[AnsweringPhase, ...]:
    """Return the phases whose documents models write in a run of one task that goes well."""
    skipped, review = pipeline.skipped(effort, auto=auto), pipeline.task_review
    unreviewed = review is None or review.id in skipped
    unmet = {None, "one-task-reviewed"} if unreviewed else {None}
    asked = [phase for phase in pipeline.speaking if phase.id not in skipped]
    also = [later for phase in asked for later in pipeline.also_written(phase.id, effort)]
    return tuple(
        phase
        for phase in asked
        if phase.by_process_when in unmet
        or (phase.by_process_when == "already-written" and phase not in also)
    )


def process_document(pipeline: Pipeline, state: State, phase: AnsweringPhase) -> str:
    """Return the document that our own process writes for a phase."""
    match phase:
        case AgentPhase(tasks=True):
            return _tasks(pipeline, state, phase)
        case AgentPhase(by_process_when="already-written"):
            return _written_before(pipeline, state, phase)
        case ReviewPhase():
            return _review(pipeline, state, phase)
        case VerifyPhase():
            from forge_bot.engine.verification_report import commands_section

            table = _from_reviews(
                pipeline,
                state,
                REQUIREMENTS,
                "This table is that of",
                "The reviews say what was asked for and where it is.",
            )
            bodies = {"Summary": _green(state), REQUIREMENTS: table}
            return (
                _fill_headings(phase, "Final verification", bodies) + "\n" + commands_section(state)
            )
        case _ if state.nothing_to_do is not None:
            return _fill_headings(phase, state.title, _explain_unneeded(state.nothing_to_do))
        case _:
            plan = _plan(pipeline, state)
            title = plan.title if plan is not None and plan.title else state.title
            text = _fill_headings(phase, title, _write_summary(pipeline, state))
            return f"{text}\n{uses}" if (uses := uses_section(state)) else text


def drafted_document(pipeline: Pipeline, state: State, paths: Sequence[str]) -> str:
    """Return the document of the only task where the approved draft is its change."""
    phase = pipeline.implementation
    bodies = {
        "Files Changed": "\n".join(f"- `{path}`" for path in paths),
        "Tests": f"As `{pipeline.planned_in}` says under “Test Strategy”.",
        "Deviations": f"None: this is `{DRAFT}`, as it was approved.",
    }
    headings = [name for name in phase.headings if name not in phase.only_for_parts]
    return _fill_headings(phase.replace(headings=tuple(headings)), state.title, bodies)


def _written_before(pipeline: Pipeline, state: State, phase: AnsweringPhase) -> str:
    """Return the document of a phase that the agent of an earlier one wrote with its own; "" if
    none did, or if the phase has written another since.
    """
    if phase.writes in state.artifacts:
        return ""
    for author in pipeline.speaking:
        record = state.artifacts.get(author.writes)
        written = record.next_documents if record is not None else ()
        later = [other.writes for other in pipeline.also_written(author.id, state.effort)]
        if text := dict(zip(later, written, strict=False)).get(phase.writes):
            return text
    return ""


def _fill_headings(phase: AnsweringPhase, title: str, bodies: Mapping[str, str]) -> str:
    """Return a document with the headings that the phase requires, each with its text."""
    parts = [f"# {' '.join(title.split())}\n"]
    parts += [f"## {name}\n\n{bodies.get(name) or 'Nothing to add.'}\n" for name in phase.headings]
    return "\n".join(parts)


# -- the task list


def _tasks(pipeline: Pipeline, state: State, phase: AgentPhase) -> str:
    """Return the tasks of the document that a person approved: those it lists, or one that
    implements it as a whole.
    """
    # Reads Markdown, which commands that only look never do.
    from forge_bot.artifacts.tasks import one_task, task_list

    plan, record = pipeline.approved_first, _plan(pipeline, state)
    if plan is None:
        return one_task(state.title, pipeline.planned_in)
    variant = plan.variants.get(state.effort)
    headings = variant.headings if variant is not None else plan.headings
    small = is_left_out(pipeline, state, phase)
    if record is not None and record.planned and not record.one_task and not small:
        return task_list(record.planned, plan.writes)
    title = record.title if record is not None and record.title else state.title
    return one_task(title, plan.writes, [part for part in _TASK_PARTS if part in headings])


def _plan(pipeline: Pipeline, state: State) -> ArtifactRecord | None:
    """Return the facts about the document that a person approves first."""
    plan = pipeline.approved_first
    return state.artifacts.get(plan.writes) if plan is not None else None


# -- the second review


def _only_review(pipeline: Pipeline, state: State) -> tuple[TaskState, str, ArtifactRecord] | None:
    """Return the only task of the run and its review, if a reviewer passed it or its draft."""
    review, of_draft = pipeline.task_review, pipeline.draft_review
    if of_draft is not None and (drafted := draft_review(pipeline, state)) is not None:
        return state.tasks[0], of_draft.writes, drafted
    if review is None or is_left_out(pipeline, state, review) or len(state.tasks) != 1:
        return None
    (task,) = state.tasks
    name = review.writes.replace("{task}", task.spec.id)
    record = state.artifacts.get(name)
    passed = task.status is TaskStatus.PASSED and task.verdict is not None and task.verdict.positive
    return (task, name, record) if record is not None and passed and not task.origin else None


def _review(pipeline: Pipeline, state: State, phase: ReviewPhase) -> str:
    """Return the second review of the only task: its first review counts.

    The verdict is that of the first review if this phase knows it.
    """
    task, name, record = _only_review(pipeline, state) or (None, "the review", None)
    positive = [verdict for verdict in phase.verdicts if verdict.positive]
    given = [verdict for verdict in positive if task is not None and verdict is task.verdict]
    noted = positive[1:] if record is not None and record.findings and not given else []
    verdict = (*given, *noted, *positive)[0]
    table = record.sections.get(REQUIREMENTS, "") if record is not None else ""
    bodies = {REQUIREMENTS: table or f"As `{name}` says.", "Findings": "None."}
    text = _fill_headings(phase, phase.label.capitalize(), bodies)
    stands = f"The run has one task, and its review stands with its findings: `{name}`."
    return text.replace("## Verdict\n\nNothing to add.", f"## Verdict: {verdict.value}\n\n{stands}")


# -- verification and summary


def _green(state: State) -> str:
    verification = state.verification
    results = verification.results if verification is not None else ()
    if not results:
        return "This project has no command that could check the change, so nothing was run."
    failed = [result for result in results if result.exit_code != 0]
    flaky = sum(len(result.flaky) for result in results)
    but = f", but for {flaky} flaky {'tests' if flaky > 1 else 'test'}" if flaky else ""
    ran = [f"{several(result.tests, 'test')} ran" for result in results if result.tests is not None]
    count = f"{', '.join(ran)}; " if ran else ""
    return (
        f"{count}nothing is red that was not red before{but}. The commands and their results stand"
        " under “Commands”."
        if failed
        else f"{count}every command ended with exit code 0."
    )


UNNEEDED = {
    Unneeded.ALREADY_WORKS: (
        "This already works as asked, so nothing was changed. If something else was meant, please"
        " say what you expect and what you see; a new run then looks again."
    ),
    Unneeded.NOT_REPRODUCED: (
        "This could not be reproduced, so nothing was changed. If you still see it, please say with"
        " which version and by which steps; a new run then looks again."
    ),
    Unneeded.UNCLEAR: (
        "The request does not say enough to decide what to change, so nothing was changed. With"
        " answers to what is open below, a new run can begin."
    ),
}
"""The sentences for the person who asked, by the reason why no change is needed."""


def _explain_unneeded(reason: NothingToDo) -> dict[str, str]:
    return {
        "Summary": f"{UNNEEDED[reason.why]}\n\nA person has read the evidence and agreed:\n\n"
        f"{reason.evidence}",
        "Changes": "None.",
        "Verification": "Nothing was changed, so there was nothing to verify.",
    }


def _write_summary(pipeline: Pipeline, state: State) -> dict[str, str]:
    # Reads Markdown, which commands that only look never do.
    from forge_bot.artifacts.read_artifact import without_requirement_numbers

    plan, record = pipeline.approved_first, _plan(pipeline, state)
    approach = next(iter(record.sections.values()), "") if record is not None else ""
    opening = without_requirement_numbers(approach.split("\n\n", 1)[0].strip())
    more = f"More: `{plan.writes}`." if plan is not None else ""
    verify = [phase.writes for phase in pipeline.phases if isinstance(phase, VerifyPhase)]
    return {
        "Summary": "\n\n".join(part for part in (opening or f"{state.title}.", more) if part),
        "Changes": "\n".join(_changes(pipeline, state)),
        "Verification": f"{_green(state)} {f'See `{verify[0]}`.' if verify else ''}".strip(),
        _REPORT: _from_reviews(
            pipeline,
            state,
            _REPORT,
            "This is what the last reviewer reported in",
            "The last reviewer reported nothing.",
        ),
    }


def _changes(pipeline: Pipeline, state: State) -> list[str]:
    """Return the tasks with their verdicts, and the files that each implementer named."""
    lines: list[str] = []
    for task in state.tasks:
        verdict = f": {task.verdict.value}" if task.verdict is not None else ""
        again = f", sent back by its review {several(task.rounds, 'time')}" if task.rounds else ""
        lines.append(f"- Task {task.spec.id}, {task.spec.title}{verdict}{again}")
        name = pipeline.implementation.writes.replace("{task}", task.spec.id)
        record = state.artifacts.get(name)
        for text in record.sections.values() if record is not None else ():
            lines += [f"  {line}" if line.strip() else "" for line in text.splitlines()]
    return lines


def _from_reviews(
    pipeline: Pipeline, state: State, heading: str, whose: str, otherwise: str
) -> str:
    """Return the last review's section with a heading, since our process reads no code, and whose
    it is; `otherwise` where no review has one.
    """
    for phase in reversed(pipeline.reviews):
        each = isinstance(phase, TaskReviewPhase)
        for task in [task.spec.id for task in reversed(state.tasks)] if each else [""]:
            name = phase.writes.replace("{task}", task)
            record = state.artifacts.get(name)
            if record is not None and (text := record.sections.get(heading)):
                return f"{text}\n\n{whose} `{name}`."
    return otherwise
