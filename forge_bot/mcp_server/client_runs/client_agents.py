"""A client's agents, which read and write the files themselves: the prompts of an action, and the
reports of what they did, checked against the tree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from pydantic import JsonValue

from forge_bot.artifacts.task_checks import normal_path, shared_file
from forge_bot.engine import SpawnAgent
from forge_bot.engine.reports import AgentFailed, ArtifactWritten, FailureReason, head_of
from forge_bot.errors import ArtifactUnfit, NothingVisible
from forge_bot.mcp_server.client_runs.client_tree import (
    Dispatch,
    check_bounds,
    get_dispatch,
    is_visible,
    keep_dispatch,
    list_changes,
    list_outputs,
    read_profile,
)
from forge_bot.mcp_server.tool_schemas import PhaseReport, Previous, ReportedFinding
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.material import Prompt
from forge_bot.runs.agent_work.apply_output import OutputApplier
from forge_bot.runs.agent_work.artifact_contract import answer_contract
from forge_bot.runs.models_and_prompts import own_prompts
from forge_bot.runs.prompt_material.prompt_context import PromptContext
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now
from forge_bot.store.files import write_whole
from forge_bot.store.run_folder import SPECS
from forge_bot.values import TaskId, Usage

Shares = Mapping[TaskId | None, tuple[str, ...]]
"""The changed files by the task that they belong to."""

_COMPLAINTS = 2
"""Unfit artifacts that go straight back for the same action; the next one is recorded, and the
pipeline decides."""


def tell_failed_agents(run: Run, action: SpawnAgent, previous: Previous, words: str) -> None:
    """Report that the client's agent gave up, for each of its tasks."""
    tasks = action.parallel_task_ids or (None,)
    for task, usage in zip(tasks, _share_usage(previous, len(tasks)), strict=True):
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


def report_work(run: Run, action: SpawnAgent, previous: Previous) -> PhaseReport | None:
    """Report the work of the client's agent; None if there is nothing to report yet."""
    tasks: tuple[TaskId | None, ...] = action.parallel_task_ids or (None,)
    names = dict(zip(tasks, list_outputs(action), strict=True))
    return _AgentReport(run, action, previous, get_dispatch(run, action), names).report()


@dataclass
class _AgentReport:
    """The report on an action, with the documents that it asks for by their tasks."""

    run: Run
    action: SpawnAgent
    previous: Previous
    dispatch: Dispatch
    names: dict[TaskId | None, str]

    def report(self) -> PhaseReport | None:
        implementing = self.run.pipeline.implements(self.action.phase)
        changed = list_changes(self.run, self.dispatch)
        done = self._find_tasks_done(changed if implementing else ())
        if not done and not self.previous.action_id:
            return None
        if not done:
            folder = self.run.workspace.relative
            missing = ", ".join(f"{folder}/{name}" for name in self.names.values())
            raise NothingVisible(
                f"{self.action.action_id} asks for {missing}, which is not there or is what it was"
                " before."
            )
        if not implementing:
            check_bounds(self.run, changed)
        following = self._next_documents()
        texts = {task: self._check_text(task, following) for task in done}
        shares: Shares = self._assign_files(done, changed, texts) if implementing else {}
        return self._record_documents(texts, shares, following)

    def _find_tasks_done(self, code: Sequence[str]) -> list[TaskId | None]:
        """Return the tasks whose document was written, or whose code changed."""
        named = bool(self.previous.action_id)
        code = code if named or len(self.names) == 1 else ()
        return [
            task
            for task, name in self.names.items()
            if is_visible(self.run, self.dispatch, name)
            or (self._has_document(name) and (named and len(self.dispatch.outputs) == 1))
            or (self._has_document(name) and self._owns_any(task, code))
        ]

    def _has_document(self, name: str) -> bool:
        return self.run.workspace.read_bytes(name) is not None

    def _owns_any(self, task: TaskId | None, code: Sequence[str]) -> bool:
        alone = len(self.names) == 1
        return any(alone or _find_owner(self.run, path, tuple(self.names)) == task for path in code)

    def _next_documents(self) -> tuple[str, ...]:
        """Return the documents of later phases that the agent wrote too, up to the first that it
        did not.
        """
        later = self.run.pipeline.also_written(self.action.phase, self.run.state.effort)
        texts = (
            "" if phase.writes in self.run.state.artifacts else self._read_text(phase.writes)
            for phase in later
        )
        return tuple(takewhile(bool, texts))

    def _read_text(self, name: str) -> str:
        """Return the text of a document. Raises ArtifactUnfit where it is no text."""
        try:
            return (self.run.workspace.read_bytes(name) or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            place = f"{self.run.workspace.relative}/{name}"
            words = f"{place} is not UTF-8: {error.reason} at byte {error.start}."
            raise ArtifactUnfit(words) from error

    def _check_text(self, task: TaskId | None, following: tuple[str, ...]) -> str:
        """Return the artifact's text. Raises ArtifactUnfit for problems that its author can fix."""
        run, name = self.run, self.names[task]
        text, place = self._read_text(name), f"{run.workspace.relative}/{name}"
        complaints = answer_contract(run, self.action, task).complaints(text, following)
        if complaints and self.dispatch.refused < _COMPLAINTS:
            keep_dispatch(run.places, self.dispatch.replace(refused=self.dispatch.refused + 1))
            raise ArtifactUnfit(f"{place} cannot be used as it is.", details=complaints)
        return text

    def _assign_files(
        self,
        tasks: Sequence[TaskId | None],
        changed: Sequence[str],
        texts: Mapping[TaskId | None, str],
    ) -> Shares:
        """Return the task of each changed file: the task that declares it, else the one whose
        report names it, else the first.
        """
        shares: dict[TaskId | None, tuple[str, ...]] = dict.fromkeys(tasks, ())
        wave = self.run.state.wave
        waiting = tuple(set(wave.remaining if wave is not None else ()) - {*tasks})
        for path in changed:
            owner = _find_owner(self.run, path, tasks)
            if owner is None and _find_owner(self.run, path, waiting) is not None:
                continue
            if owner is None:
                owner = next((task for task in tasks if path in texts[task]), tasks[0])
            shares[owner] += (path,)
        return shares

    def _record_documents(
        self,
        texts: Mapping[TaskId | None, str],
        shares: Shares,
        following: tuple[str, ...],
    ) -> PhaseReport:
        """Record the documents with the changes that belong to them, and tell their effect."""
        usages, reports = _share_usage(self.previous, len(texts)), list[ArtifactWritten]()
        for (task, text), usage in zip(texts.items(), usages, strict=True):
            report, committed = OutputApplier(self.run).land_files(
                self.action, task, text, usage, shares.get(task, ()), following
            )
            self.run.tell(report, committed)
            reports.append(report)
        return self._describe_effect(reports, [name for name in self.names if name not in texts])

    def _describe_effect(
        self, reports: Sequence[ArtifactWritten], missing: Sequence[TaskId | None]
    ) -> PhaseReport:
        label = self.run.pipeline.phase(self.action.phase).label
        inspections = [report.inspection for report in reports]
        verdicts = [
            inspection.verdict for inspection in inspections if inspection.verdict is not None
        ]
        worst = next(
            (verdict for verdict in verdicts if not verdict.positive), next(iter(verdicts), None)
        )
        negative = worst is not None and not worst.positive
        unfit = any(inspection.problems for inspection in inspections)
        return PhaseReport(
            state_updated=True,
            artifact_written=reports[0].artifact,
            verdict_parsed=worst,
            findings=tuple(
                ReportedFinding(severity=finding.severity, description=finding.description)
                for inspection in inspections
                for finding in inspection.findings
            ),
            next_action_hint="revision_required" if negative or unfit else "proceed",
            warning="; ".join(
                (
                    *(f"task {task} has no {self.names[task]} yet" for task in missing),
                    *(
                        f"{report.held} waits for a person: it changes"
                        f" {', '.join(report.held_paths)}"
                        for report in reports
                        if report.held
                    ),
                )
            ),
            display_message=f"{label}{f': {worst.value}' if worst is not None else ''}",
        )


def _find_owner(run: Run, path: str, tasks: Sequence[TaskId | None]) -> TaskId | None:
    """Return the task that declares a file."""
    for task in tasks:
        state = run.state.task(task)
        if state is not None and shared_file((normal_path(path),), state.spec.files) is not None:
            return task
    return None


def _share_usage(previous: Previous, count: int) -> tuple[Usage, ...]:
    """Return the usage of each of several reports.

    The client counts all of them together, so the first report has the sum.
    """
    # The price is the client's own affair; zero would claim that it cost nothing.
    other = Usage(calls=1, cost=None, model=previous.model)
    first = other.replace(input_tokens=previous.tokens, duration_ms=previous.duration_ms)
    return (first, *(other,) * (count - 1))


def make_prompts(run: Run, action: SpawnAgent) -> tuple[tuple[Prompt, ...], tuple[str, ...]]:
    """Return the prompt of an action, or one for each of its tasks; and the documents that agents
    have to read.
    """
    environment = Environment(overrides=own_prompts(run.repository.root))
    environment.check(run.pipeline.agents)
    context = PromptContext(run, read_profile(run), environment, "files")
    settings = run.config.agent
    turns = (settings.turns, settings.requests_per_turn)
    tasks = action.parallel_task_ids or (None,)
    made = [context.prompt(action, task, turns, settings.prompt_tokens, run.ref) for task in tasks]
    further = {name for _, material in made for name in material.further}
    read = tuple(name for name in action.input_files if name not in further)
    return tuple(prompt for prompt, _ in made), read


def join_prompts(prompts: Sequence[Prompt], tasks: Sequence[str]) -> str:
    """Return one text with all prompts: each agent does the task whose id it gets. The role is said
    once.
    """
    if len(prompts) == 1:
        return prompts[0].text
    which = (
        "You do exactly one of the tasks below, the one whose id you were given:"
        f" {' or '.join(tasks)}. What stands under the other tasks is not for you."
    )
    parts = (
        f"# Task {task}\n\n{prompt.user.replace(prompt.role.strip(), '', 1).rstrip()}\n"
        for task, prompt in zip(tasks, prompts, strict=True)
    )
    return "\n".join((prompts[0].system, prompts[0].role, which, "", *parts))


def write_prompts(run: Run, action: SpawnAgent, prompts: Sequence[Prompt]) -> dict[str, JsonValue]:
    """Write the prompts where git does not see them. Return the prompt that leads an agent to its
    file, the path with `{task}` where there is one for each, and the characters of the longest.
    """
    folder = prompt_folder(run)
    write_whole(folder.parent / ".gitignore", "*\n")
    tasks = action.parallel_task_ids
    names = [f"{action.phase}-{task}.md" for task in tasks or ()] or [f"{action.phase}.md"]
    for name, prompt in zip(names, prompts, strict=True):
        write_whole(folder / name, prompt.text)
    name = f"{action.phase}-{{task}}.md" if len(prompts) > 1 else names[0]
    path = (folder / name).relative_to(run.tree.path).as_posix()
    size = max(len(prompt.text) for prompt in prompts)
    which = ", with the id of your task for {task}" if len(prompts) > 1 else ""
    words = f"Read {path}{which} ({size:,} characters) whole, and do what it says."
    return {"prompt": words, "prompt_path": path, "prompt_characters": size}


def prompt_folder(run: Run) -> Path:
    """Return the folder of the prompts that are handed out as paths."""
    return run.tree.path / SPECS / ".prompts" / run.name
