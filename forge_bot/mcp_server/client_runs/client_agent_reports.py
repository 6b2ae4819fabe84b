"""Reports of what a client's agents did: checked against the tree, and passed to the engine."""

from collections.abc import Iterable, Iterator, Sequence

from forge_bot.agent.tries import TryOutcome, proof_of, with_tries
from forge_bot.artifacts.waves import normal_path, shared_file
from forge_bot.engine import SpawnAgent
from forge_bot.engine.reports import AgentFailed, ArtifactWritten, FailureReason, head_of
from forge_bot.errors import ActionUnnamed, ArtifactUnfit, NothingVisible
from forge_bot.mcp_server.client_runs.check_worktree import ClientTries, sent_back
from forge_bot.mcp_server.client_runs.client_tree import (
    Dispatch,
    check_bounds,
    dispatched,
    is_visible,
    note,
    outputs_of,
    touched,
)
from forge_bot.mcp_server.tool_schemas import PhaseReport, Previous, ReportedFinding
from forge_bot.runs.agent_work.apply_output import OutputApplier, said_left
from forge_bot.runs.agent_work.artifact_contract import artifact_contract
from forge_bot.runs.run import Run
from forge_bot.runs.wall_clock import now
from forge_bot.values import Severity, TaskId, Usage

_COMPLAINTS = 2
_MOST_STRAY = 5
"""Unfit artifacts that go straight back for the same action; the next one is recorded, and the
pipeline decides."""

LONGEST_WORDS = 4_000
"""The most characters of a client's words about a failure."""


def agent_failed(run: Run, action: SpawnAgent, said: Previous) -> PhaseReport:
    """Report that the client's agent gave up."""
    if not said.action_id:
        raise ActionUnnamed("A failure leaves nothing to see.")
    words = said.error[:LONGEST_WORDS]
    tasks = action.parallel_task_ids or (None,)
    for task, usage in zip(tasks, _usages(said, len(tasks)), strict=True):
        run.tell(
            AgentFailed(
                **head_of(action.action_id, now(), task),
                phase=action.phase,
                task=task,
                reason=FailureReason.LIMIT,
                message=f"The client's agent failed: {words}",
                usage=usage,
            )
        )
    return PhaseReport(
        state_updated=True,
        next_action_hint="revision_required",
        display_message=f"{run.pipeline.phase(action.phase).label}: no answer",
    )


def agent_worked(
    run: Run, action: SpawnAgent, said: Previous, tries: ClientTries
) -> PhaseReport | None:
    """Report the work of the client's agent; None if there is nothing to report yet."""
    dispatch = dispatched(run, action)
    tasks: tuple[TaskId | None, ...] = action.parallel_task_ids or (None,)
    names = dict(zip(tasks, outputs_of(action), strict=True))
    named = bool(said.action_id)
    changed = touched(run, dispatch)
    implementing = run.pipeline.implements(action.phase)
    in_code = changed if implementing and (named or len(tasks) == 1) else None
    there = _worked_on(run, dispatch, names, in_code, named=named)
    if not there and not named and said.complete:
        return None
    _require_any(run, action, there, names)
    check_bounds(run, changed, implementing=implementing)
    texts = {task: _fit(run, action, dispatch, names[task]) for task in there}
    shares = _shared_out(run, there, changed, texts) if implementing else {}
    outcomes: list[TryOutcome] = []
    if implementing:
        dispatch, back = _tried(run, action, said, tries, dispatch, shares)
        if back is not None:
            return back
        outcomes = [each.outcome for each in dispatch.tries]
        texts = {task: with_tries(text, outcomes) for task, text in texts.items()}
    usages = dict(zip(there, _usages(said, len(there), dispatch.spent), strict=True))
    reports = [
        _land(run, action, (task, texts[task]), usages[task], shares.get(task, ()), outcomes)
        for task in there
    ]
    missing = [task for task in tasks if task not in there]
    stray = () if implementing else tuple(changed)
    return _told(run, action, reports, (*_left(missing, names), *_stray(stray)))


def _require_any(
    run: Run,
    action: SpawnAgent,
    there: Sequence[TaskId | None],
    names: dict[TaskId | None, str],
) -> None:
    """Raise NothingVisible where no task was worked on."""
    if not there:
        missing = ", ".join(f"{run.workspace.relative}/{name}" for name in names.values())
        raise NothingVisible(
            f"{action.action_id} asks for {missing}, which is not there or is what it was before."
        )


def _left(tasks: Iterable[TaskId | None], names: dict[TaskId | None, str]) -> Iterator[str]:
    """Yield what is said of tasks without a document."""
    for task in tasks:
        yield f"task {task} has no {names[task]} yet"


def _stray(paths: Sequence[str]) -> Iterator[str]:
    """Yield what is said of the first files that belong to no commit."""
    for path in paths[:_MOST_STRAY]:
        yield f"{path} is new and belongs to no commit of the run"


def _worked_on(
    run: Run,
    dispatch: Dispatch,
    names: dict[TaskId | None, str],
    in_code: tuple[str, ...] | None,
    *,
    named: bool,
) -> list[TaskId | None]:
    """Return the tasks that were worked on: their document exists, or their code changed if that
    counts too.
    """
    return [
        task
        for task, name in names.items()
        if _counts(run, dispatch, name, named=named)
        or (in_code is not None and _shows_in_code(run, task, tuple(names), name, in_code))
    ]


def _tried(
    run: Run,
    action: SpawnAgent,
    said: Previous,
    tries: ClientTries,
    dispatch: Dispatch,
    shares: dict[TaskId | None, tuple[str, ...]],
) -> tuple[Dispatch, PhaseReport | None]:
    """Run the project's commands on the changes. Return the outcome of the report if it is red and
    may go back.
    """
    tasks = tuple(task for task in shares if task is not None)
    paths = tuple(sorted({path for own in shares.values() for path in own}))
    before = sent_back(dispatch)
    dispatch = tries.tried(run, action, dispatch, tasks, paths)
    if sent_back(dispatch) == before or before >= run.config.tries.most:
        return dispatch, None
    outcome = dispatch.tries[-1].outcome
    spent = dispatch.spent + _usages(said, 1)[0]
    note(run, dispatch.replace(spent=spent))
    label = run.pipeline.phase(action.phase).label
    return dispatch, PhaseReport(
        state_updated=False,
        findings=tuple(
            ReportedFinding(severity=Severity.CRITICAL, description=f"newly red: {item}")
            for item in outcome.red
        ),
        next_action_hint="revision_required",
        warning=(
            "nothing is recorded yet: the project's commands ran on the edits, which stay in the"
            f" tree; mend what is newly red and report {action.action_id} again:\n\n{outcome.words}"
        ),
        display_message=f"{label}: {outcome.summary}",
    )


def _counts(run: Run, dispatch: Dispatch, name: str, *, named: bool) -> bool:
    return is_visible(run, dispatch, name) or (
        named and len(dispatch.outputs) == 1 and run.workspace.read_bytes(name) is not None
    )


def _shows_in_code(
    run: Run, task: TaskId | None, tasks: Sequence[TaskId | None], name: str, changed: Sequence[str]
) -> bool:
    """Return whether code of the task has changed and its document exists, even if that is
    unchanged.
    """
    if run.workspace.read_bytes(name) is None:
        return False
    return any(len(tasks) == 1 or _owner(run, path, tasks) == task for path in changed)


def _fit(run: Run, action: SpawnAgent, dispatch: Dispatch, name: str) -> str:
    """Return the artifact's text. Raises ArtifactUnfit for problems that its author can fix."""
    raw = run.workspace.read_bytes(name) or b""
    where = f"{run.workspace.relative}/{name}"
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArtifactUnfit(
            f"{where} is not UTF-8: {error.reason} at byte {error.start}."
        ) from error
    applier = OutputApplier(run)
    tasks = action.parallel_task_ids or ()
    named = [task for task in tasks if action.output_file.replace("{task}", task) == name]
    left = said_left(applier.left_in_conflict(named, {}, run.tree))
    complaints = (*artifact_contract(run, action, next(iter(named), None)).complaints(text), *left)
    if not dispatch.refused:
        complaints = (*complaints, *applier.doubts(action, text))
    if complaints and dispatch.refused < _COMPLAINTS:
        note(run, dispatch.replace(refused=dispatch.refused + 1))
        raise ArtifactUnfit(f"{where} cannot be used as it is.", details=complaints)
    return text


def _shared_out(
    run: Run,
    tasks: Sequence[TaskId | None],
    changed: tuple[str, ...],
    texts: dict[TaskId | None, str],
) -> dict[TaskId | None, tuple[str, ...]]:
    """Return the task of each changed file: the task that declares it, else the one whose report
    names it, else the first.
    """
    shares: dict[TaskId | None, list[str]] = {task: [] for task in tasks}
    waiting = set(run.state.wave.remaining if run.state.wave is not None else ()) - set(tasks)
    for path in changed:
        owner = _owner(run, path, tasks)
        if owner is None and _owner(run, path, tuple(waiting)) is not None:
            continue
        named = next((task for task in tasks if path in texts[task]), tasks[0])
        shares[owner if owner is not None else named].append(path)
    return {task: tuple(paths) for task, paths in shares.items()}


def _owner(run: Run, path: str, tasks: Sequence[TaskId | None]) -> TaskId | None:
    for task in tasks:
        state = run.state.task(task)
        if state is not None and shared_file((normal_path(path),), state.spec.files) is not None:
            return task
    return None


def _land(
    run: Run,
    action: SpawnAgent,
    work: tuple[TaskId | None, str],
    usage: Usage,
    paths: tuple[str, ...],
    tries: Sequence[TryOutcome],
) -> ArtifactWritten:
    task, text = work
    formatted = tries[-1].formatted if tries else ()
    applier = OutputApplier(run)
    report, committed = applier.land_files(action, task, text, usage, paths, formatted)
    report = report.model_copy(update=proof_of(tries))
    run.tell(report, committed)
    return report


def _told(
    run: Run, action: SpawnAgent, reports: Sequence[ArtifactWritten], warnings: tuple[str, ...]
) -> PhaseReport:
    verdicts = [
        report.inspection.verdict for report in reports if report.inspection.verdict is not None
    ]
    worst = next(
        (verdict for verdict in verdicts if not verdict.positive), verdicts[0] if verdicts else None
    )
    findings = tuple(
        ReportedFinding(severity=finding.severity, description=finding.description)
        for report in reports
        for finding in report.inspection.findings
    )
    negative = worst is not None and not worst.positive
    unfit = any(report.inspection.problems for report in reports)
    held = [
        f"{report.held} waits for a person: it changes {', '.join(report.held_paths)}"
        for report in reports
        if report.held
    ]
    label = run.pipeline.phase(action.phase).label
    said = f": {worst.value}" if worst is not None else ""
    return PhaseReport(
        state_updated=True,
        artifact_written=reports[0].artifact,
        verdict_parsed=worst,
        findings=findings,
        next_action_hint="revision_required" if negative or unfit else "proceed",
        warning="; ".join((*warnings, *held)),
        display_message=f"{label}{said}",
    )


def _usages(said: Previous, count: int, before: Usage | None = None) -> tuple[Usage, ...]:
    """Return the usage of each of several reports.

    The client counts all of them together, so the first report has the sum, including the usage
    `before` for the same action.
    """
    # The price is the client's own affair; zero would claim that it cost nothing.
    other = Usage(calls=1, cost=None, model=said.model)
    first = other.replace(input_tokens=said.tokens, duration_ms=said.duration_ms)
    whole = before + first if before is not None and before.calls else first
    return (whole, *(other,) * (count - 1))
