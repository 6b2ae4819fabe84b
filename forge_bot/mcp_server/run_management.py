"""The tools beside the loop, as plain functions: resume, send back, end, and read figures and
lessons of past runs.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple
from uuid import uuid4

from pydantic import JsonValue

from forge_bot.engine import SpawnAgent
from forge_bot.engine.phases import AnsweringPhase
from forge_bot.engine.reports import Answer, Report, RetryAsked
from forge_bot.errors import CannotUpdate, PersonDecides, UnknownArtifact
from forge_bot.mcp_server.client_runs.check_worktree import CheckWorktree
from forge_bot.mcp_server.client_runs.client_run import Turns, client_run
from forge_bot.mcp_server.client_runs.person_answers import VIA, VIA_CLIENT
from forge_bot.mcp_server.client_runs.preferences import Preferences, preferences, set_preferences
from forge_bot.mcp_server.queries import Queries
from forge_bot.mcp_server.run_analytics import (
    About,
    numbers_of_effort,
    numbers_of_project,
    numbers_of_run,
    search,
)
from forge_bot.mcp_server.served_folders import ServedFolders
from forge_bot.mcp_server.side_tool_results import (
    Controlled,
    Findings,
    Numbers,
    Orientation,
    ResumeInfo,
    RunList,
    SavedPreferences,
    Validation,
)
from forge_bot.mcp_server.tool_schemas import UIComponent
from forge_bot.runs.agent_work.artifact_contract import artifact_contract
from forge_bot.runs.finding_runs.find_runs import run_in
from forge_bot.runs.finding_runs.snapshot_of_run import RunSnapshot, run_snapshot
from forge_bot.runs.local_user import local_user
from forge_bot.runs.phase_names import check_documents, phase_named
from forge_bot.runs.publishing.base_update import fetch_for_update, update
from forge_bot.runs.question import Choice
from forge_bot.runs.run import Run
from forge_bot.runs.session import answer
from forge_bot.runs.typed_answer import PersonAnswer
from forge_bot.runs.wall_clock import now
from forge_bot.sentences import say
from forge_bot.store import SPECS
from forge_bot.values import PhaseId

Operation = Literal["abandon", "retry", "update"]


class Wanted(NamedTuple):
    """The operation that a client wants for a run."""

    operation: Operation
    phase: str = ""
    notes: str = ""


class PastQuestion(NamedTuple):
    """The question before a run is ended or sent back past the question `action_id`."""

    action_id: str
    digest: str
    message: str
    options: tuple[str, ...]
    refusal: PersonDecides
    component: dict[str, JsonValue]


def past_question(run: Run, wanted: Wanted, target: PhaseId, folder: str) -> PastQuestion:
    """Return the question about `wanted`, and the refusal if a client cannot ask its person."""
    gate, state = run.action, run.state
    name = state.gate.name if state.gate is not None else state.current_phase
    does = (
        say("client.control_confirmation.ends_the_run")
        if wanted.operation == "abandon"
        else say("client.control_confirmation.sends_back", target=target)
    )
    where = ("--run", run.name, "--repo", folder)
    typed = shlex.join(
        ["forge-bot", wanted.operation, *where, *([target] if wanted.operation == "retry" else [])]
    )
    stays = say("client.control_confirmation.question_stays_open")
    message = say(
        "client.control_confirmation.model_wants_to",
        title=state.title,
        run=run.name,
        gate=name,
        does=does,
        operation=wanted.operation,
        stays=stays,
    )
    if wanted.notes.strip():
        notes = say("client.control_confirmation.notes_for_it", notes=wanted.notes)
        message = f"{message}\n\n{notes}"
    return PastQuestion(
        component=_component(
            {"run": run.name, "gate": name, "notes": wanted.notes},
            Choice(answer=wanted.operation, effect=does),
            Choice(answer="decline", effect=stays),
        ),
        action_id=gate.action_id,
        digest=state.gate.digest if state.gate is not None else "",
        message=message,
        options=(wanted.operation,),
        refusal=PersonDecides(
            say(
                "client.control_confirmation.question_is_open", name=run.name, gate=name, does=does
            ),
            hint=say("client.control_confirmation.show_the_question", typed=typed),
        ),
    )


def _component(data: dict[str, JsonValue], *choices: Choice) -> dict[str, JsonValue]:
    """Return the question as clients that draw it get it."""
    title = say("client.control_confirmation.title")
    return UIComponent(kind="confirmation", title=title, data=data, actions=choices).shown


Kind = Literal["summary", "estimate", "repository"]


@dataclass(eq=False)
class RunManagement:
    """Everything a client may do with runs beside working them off."""

    roots: ServedFolders
    turns: Turns
    check_tree: CheckWorktree
    looking: Queries

    def orient(self, tier: Literal["L0", "L1", "L2"], project: str) -> Orientation:
        """A status of a few words, of one project or of all; L1 names the runs under way, L2 brings
        the whole context along.
        """
        roots = self.roots.wanted(project)
        alive = [location for location in self.roots.runs(roots) if not location.info.ended]
        link, *others = (f"forge://project/{root.id}/context" for root in roots)
        short = Orientation(
            runs=len(alive),
            waiting=sum(location.info.waiting for location in alive),
            next="pipeline_next_action" if alive else "pipeline_init",
            context_link=link,
            other_contexts=tuple(others),
            tier=tier,
            pipeline=self.looking.pipeline_of(roots[0]),
        )
        if tier == "L0":
            return short
        more: dict[str, Any] = {
            "branch": roots[0].branch,
            "under_way": tuple(self.looking.line(location) for location in alive),
        }
        if tier == "L2":
            more["context"] = "\n".join(self.looking.context(root.id) for root in roots)
        return short.model_copy(update=more)

    def resume_info(self, workspace: str) -> ResumeInfo:
        """Return the state of a run; one on a branch that is not checked out is named with the way
        to it.
        """
        location = self.looking.run(workspace)
        root, info = location.root, location.info
        found = run_snapshot(root.repository, info, root.config)
        # Before its first commit a run is only in the work tree, and its branch may not exist.
        unborn = run_in(root.path, info.name) is not None and not root.repository.branch_exists(
            info.branch
        )
        here = root.branch == info.branch or unborn
        return _resume_info(found, self.roots.workspace(root, info.name), here=here)

    def run_list(self, *, ended: bool) -> RunList:
        """The runs of all served folders, with those that are over if wanted."""
        found = self.roots.runs(self.roots.all)
        return RunList(
            runs=tuple(
                self.looking.line(location)
                for location in found
                if ended or not location.info.ended
            )
        )

    def control(
        self, workspace: str, wanted: Wanted, client: str, confirmed: str = ""
    ) -> Controlled | PastQuestion:
        """End a run, send it back to a phase that it has reached, or merge its base branch into it.

        Past an open question a person decides: the question for them is returned, and nothing is
        done. `confirmed` is the action id of the question that they let it pass. Raises BadOption,
        NothingToRetry, RunEnded, CannotUpdate.
        """
        location = self.roots.location(workspace)
        if wanted.operation == "abandon":
            self.check_tree.call_off(location)
        with client_run(location, self.turns, ending=wanted.operation == "abandon") as run:
            target = (
                phase_named(run.pipeline, wanted.phase) if wanted.phase else run.state.current_phase
            )
            if wanted.operation == "retry":
                check_documents(run, target)
            if (
                run.state.gate is not None
                and wanted.operation != "update"
                and confirmed != run.action.action_id
            ):
                return past_question(run, wanted, target, str(location.root.path))
            by, via = (
                (local_user(), VIA_CLIENT)
                if confirmed
                else (f"{client or 'an MCP client'}, unverified", VIA)
            )
            if report := _report(run, wanted, target, by, via):
                run.tell(report)
            state = run.state
            return Controlled(
                workspace=self.roots.workspace(location.root, run.name),
                operation=wanted.operation,
                current_phase=state.current_phase,
                status=state.current_phase_status.value,
                instruction=(
                    "nothing is left to do; the branch stays"
                    if state.ended
                    else "call pipeline_next_action"
                ),
            )

    def history(self, query: str, about: About, limit: int, project: str) -> Findings:
        """A project's earlier runs like a text, what reviewers kept finding there, or where runs
        got stuck. Raises NotServed.
        """
        root = self.roots.root(project)
        return Findings(results=search(root, query, about, limit), runs=len(root.runs()))

    def analytics(self, kind: Kind, workspace: str, effort: str, project: str) -> Numbers:
        """Return the figures of a run, the estimate for an effort, or the figures of all runs
        together. Raises NotServed.
        """
        if kind == "summary":
            found = self.looking.reading(workspace, project)
            return Numbers(about=found.state.run, numbers=numbers_of_run(found))
        root = self.roots.root(project)
        if kind == "estimate":
            return Numbers(about=effort, numbers=numbers_of_effort(root, effort))
        return Numbers(about=root.id, numbers=numbers_of_project(root))

    def validate(self, workspace: str, artifact: str) -> Validation:
        """Read a document as the report on it would, without reporting. Raises UnknownArtifact."""
        location = self.roots.location(workspace)
        found = run_snapshot(location.root.repository, location.info, location.root.config)
        name = artifact.strip().rpartition("/")[2]
        text = found.artifact(name)
        if text is None:
            raise UnknownArtifact(
                say(
                    "client.run_management.document_is_missing",
                    name=name,
                    specs=SPECS,
                    run=location.info.name,
                ),
                hint=say("client.run_management.write_it_there_first"),
            )
        return _validated(found, name, text)

    def preferences(self, wanted: Mapping[str, Any] | None, project: str) -> SavedPreferences:
        """Return the preferences for new runs of a project, after `wanted` is saved if given.
        Raises NotServed.
        """
        repository = self.roots.root(project).repository
        if wanted is not None:
            set_preferences(repository, Preferences.model_validate(wanted))
        return SavedPreferences(
            preferences=preferences(repository).model_dump(mode="json", exclude_defaults=True)
        )


def _report(run: Run, wanted: Wanted, target: PhaseId, by: str, via: str) -> Report | None:
    """Return the report that asks for it; None where nothing is to be updated."""
    if wanted.operation == "abandon":
        return answer(run, PersonAnswer(answer=Answer.ABANDON, notes=wanted.notes), via, by=by)
    key = f"{wanted.operation}-{uuid4().hex}"
    if wanted.operation == "retry":
        return RetryAsked(key=key, at=now(), phase=target, notes=wanted.notes, by=by, via=via)
    fetch_for_update(run)
    if not run.state.ended and run.state.gate is None:
        raise CannotUpdate(say("client.run_management.run_is_not_done_yet"))
    return update(run, key=key, at=now(), by=by, via=via)


def _resume_info(found: RunSnapshot, workspace: str, *, here: bool) -> ResumeInfo:
    from forge_bot.engine import next_action

    state = found.state
    action = next_action(found.pipeline, state)
    go = (
        "call pipeline_next_action"
        if here
        else f"git switch {state.branch}, then call pipeline_next_action"
    )
    return ResumeInfo(
        workspace=workspace,
        spec_name=state.run.partition("-")[2],
        current_phase=state.current_phase,
        current_phase_status=state.current_phase_status.value,
        completed_phases=state.completed_phases,
        skipped_phases=state.skipped_phases,
        effort=state.effort.value,
        flow_template=state.flow_template,
        auto_approve=state.flags.auto,
        skip_pr=state.flags.skip_pr,
        debug=state.flags.debug,
        branch=state.branch,
        checked_out=here,
        rounds=state.rounds,
        pending_tasks=tuple(task.spec.id for task in state.tasks if not task.settled),
        completed_tasks=tuple(task.spec.id for task in state.tasks if task.settled),
        total_tasks=len(state.tasks),
        total_tokens=state.usage.input_tokens + state.usage.output_tokens,
        total_duration_ms=state.usage.duration_ms,
        outstanding=(
            f"{action.type} {action.agent}" if isinstance(action, SpawnAgent) else action.type
        ),
        instruction="nothing is left to do" if state.ended else go,
    )


def _validated(found: RunSnapshot, name: str, text: str) -> Validation:
    from forge_bot.engine.next_action import ask_for

    state = found.state
    tasks = (None, *(task.spec.id for task in state.tasks))
    for phase, task in product(found.pipeline.phases, tasks):
        if (
            not isinstance(phase, AnsweringPhase)
            or phase.writes.replace("{task}", task or "") != name
        ):
            continue
        action = ask_for(found.pipeline, state, phase, task)
        if action is None:
            continue
        contract = artifact_contract(found, action, task)
        seen, problems = contract.inspect(text), contract.complaints(text)
        return Validation(
            artifact=name,
            phase=phase.id,
            valid=not problems,
            problems=problems,
            verdict=seen.verdict.value if seen.verdict is not None else None,
            findings=tuple(finding.model_dump(mode="json") for finding in seen.findings),
            tasks=tuple(f"{spec.id}: {spec.title}" for spec in seen.tasks),
        )
    raise UnknownArtifact(say("client.run_management.no_phase_writes_it", name=name))
