"""Turn the engine's action into an action for a client. On the way, perform the actions that are
not the client's.
"""

import asyncio
import re
import shutil
from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from forge_bot.engine import (
    Action,
    Checkpoint,
    Done,
    Exec,
    HumanGate,
    PersonAction,
    SpawnAgent,
    State,
    WorkAction,
    WriteFile,
    drive,
)
from forge_bot.engine.reports import Report
from forge_bot.errors import ForgeError, GitFailed, WrongAction
from forge_bot.git.revisions import ENDED
from forge_bot.mcp_server.client_runs.client_agents import (
    join_prompts,
    make_prompts,
    prompt_folder,
    write_prompts,
)
from forge_bot.mcp_server.client_runs.client_reports import PUSH, PublishStep, make_publish_step
from forge_bot.mcp_server.client_runs.client_tree import Dispatch, get_dispatch, keep_dispatch
from forge_bot.mcp_server.client_runs.person_answers import VIA, render_question
from forge_bot.mcp_server.tool_results import artifact_address
from forge_bot.mcp_server.tool_schemas import MODELS, ReportResult
from forge_bot.runs.branch_for_merge import keep_run, peoples_commits
from forge_bot.runs.builtin_actions import executed, not_done, written
from forge_bot.runs.edit_checks.edit_tries import EditTries
from forge_bot.runs.notifications import Notify, PhaseBegan
from forge_bot.runs.project_commands.project import project_of
from forge_bot.runs.question import Question, gate_shown, open_question
from forge_bot.runs.run import Run
from forge_bot.values import PhaseId

_HINTS = {
    "spawn_agent": (
        "give the prompt to an agent; its document goes where the prompt says; then report"
    ),
    "checkpoint": "show present_to_user to the person, pass their answer on as user_response",
    "exec": "run commands as one argument list; then report with action_id and previous_output",
    "write_file": "write content to path; then report",
    "human_gate": "ask the person; pass their answer on as user_response with action_id",
    "done": "tell the person; nothing is left to do",
}


_NUMBERED = re.compile(r"phase-(\d+[a-z]?)")


class ClientAction(NamedTuple):
    """The next action for a client as it is sent, and the question if it is one.

    `cut` names documents that the question shows only the beginning of.
    """

    body: dict[str, JsonValue]
    run: str
    question: Question | None = None
    cut: tuple[str, ...] = ()
    report: ReportResult | None = None

    @property
    def action_id(self) -> str:
        """Return the id of the action, or of its step."""
        return str(self.body["action_id"])

    @property
    def warning(self) -> str:
        """Return what the host should know beside the action."""
        return str(self.body["warning"])

    def with_report(self, report: ReportResult | None, warnings: Sequence[str]) -> "ClientAction":
        """Return the action together with the effect of the report before it."""
        added: dict[str, JsonValue] = {
            "report_result": report.model_dump(mode="json") if report is not None else None,
            "warning": "; ".join(filter(None, warnings)),
        }
        return self._replace(body=self.body | added, report=report)

    @property
    def options(self) -> tuple[str, ...]:
        """Return the answers that a question takes; a run can always be abandoned."""
        offered = self.body.get("options")
        names = map(str, offered) if isinstance(offered, list) else ()
        return tuple(dict.fromkeys((*names, "abandon")))

    @property
    def component(self) -> dict[str, JsonValue]:
        """Return the question as a component, without the documents' texts, which the host can
        read by itself; empty if the action is none.
        """
        if self.question is None:
            return {}
        return self.question.model_dump(
            mode="json", exclude={"data": {"documents": {"__all__": {"text"}}}}
        )

    @property
    def hint(self) -> str:
        """Return the host's part of the action, in a few words."""
        return _HINTS[str(self.body["type"])]

    @property
    def documents(self) -> tuple[str, ...]:
        """Return the addresses of documents to read: at the end the summary."""
        path = str(self.body.get("summary_path") or "")
        return (artifact_address(self.run, path.rpartition("/")[2]),) if path else ()


def next_for_client(run: Run, tell: Notify, *, by_path: bool = False) -> ClientAction:
    """Perform actions until one is the client's. Then the client's tree has no uncommitted change
    of ours. With `by_path` no texts are handed out: prompts are files, and documents are written.
    """
    host = _ClientHost(run, tell, by_path=by_path)
    _, action = asyncio.run(drive(run.pipeline, run.state, host))
    return _make_client_action(run, action, host)


# -- our own
# --------------------------------------------------------------------------------------------------


class _ClientHost:
    """Runs setup, checks and approved patches; agents, documents, questions and publications are
    left to the client.
    """

    def __init__(self, run: Run, tell: Notify, *, by_path: bool) -> None:
        self.run = run
        self.by_path = by_path
        self.tell = tell
        self.step: PublishStep | None = None
        self._paths: tuple[str, ...] = ()

    async def perform(self, state: State, action: WorkAction) -> AsyncGenerator[Report]:
        if isinstance(action, WriteFile):
            if self.by_path or self.run.artifact(action.path) == action.content:
                yield written(action, self.run)
        elif isinstance(action, Exec) and action.operation == "call-tools":
            raise WrongAction(
                "The run began elsewhere, and calls of tools that a person agreed to are left.",
                hint="forge-bot resume makes them at a terminal; then call again.",
            )
        elif isinstance(action, Exec):
            try:
                yield self._execute(state, action)
            except GitFailed as error:
                yield not_done(action, self.run, error)

    async def ask(self, state: State, action: PersonAction) -> AsyncGenerator[Report]:
        """Report that the client shows the question; the answer comes with a later call."""
        del state
        if (shown := gate_shown(self.run, action, VIA)) is not None:
            yield shown

    async def publish(self, state: State, action: Exec) -> AsyncGenerator[Report]:
        """Report a publication that needs no step of the client; else keep the step for it."""
        del state
        try:
            step_or_report = peoples_commits(self.run) or make_publish_step(self.run, action)
        except GitFailed as error:
            step_or_report = not_done(action, self.run, error)
        if isinstance(step_or_report, PublishStep):
            self.step = step_or_report
        else:
            yield step_or_report

    async def record(self, report: Report, state: State) -> None:
        paths, self._paths = self._paths, ()
        self.run.record(report, state, paths)

    def _execute(self, state: State, action: Exec) -> Report:
        label = self.run.pipeline.phase(action.phase).label
        self.tell(PhaseBegan(phase=action.phase, label=label))
        tries = EditTries(self.run, project_of(self.run, self.tell), self.tell)
        report, self._paths = executed(action, state, tries)
        return report


# -- the client's
# --------------------------------------------------------------------------------------------------


def _make_client_action(run: Run, action: Action, host: _ClientHost) -> ClientAction:
    """Return the client's action; the host's step if that is a publication."""
    match action:
        case Exec():
            if host.step is None:
                raise ForgeError(f"{action.action_id} was neither done nor handed out.")
            return _hand_out_step(run, action, host.step)
        case SpawnAgent():
            get_dispatch(run, action)
            return _make_action(run, action, **_describe_agents(run, action, by_path=host.by_path))
        case WriteFile():
            get_dispatch(run, action)
            return _make_action(
                run,
                action,
                phase=action.phase,
                path=f"{run.workspace.relative}/{action.path}",
                content=action.content,
                setup_only=True,
                display_message=_title_phase(run, action.phase),
            )
        case Checkpoint() | HumanGate():
            return _make_question(run, action)
        case Done():
            path = (
                f"{run.workspace.relative}/{action.summary_path}" if action.summary_path else None
            )
            shutil.rmtree(prompt_folder(run), ignore_errors=True)
            last = _describe_end(run, keep_run(run, push=False))
            return _make_action(
                run, action, summary=action.summary, summary_path=path, display_message=last
            )


def _make_action(run: Run, action: Action, **fields: JsonValue) -> ClientAction:
    """Return an action as it is sent: what all actions have, and the fields of this one."""
    common: dict[str, JsonValue] = {
        "type": action.type,
        "action_id": action.action_id,
        "warning": "",
        "report_result": None,
    }
    return ClientAction(common | fields, run.name)


def _describe_end(run: Run, trouble: str) -> str:
    """Return what a person should know when the run is over."""
    branch = run.state.branch
    sentences = [f"The work is on {run.state.pull_request_branch or branch}."]
    if run.state.pull_request and not run.repository.pushed(branch):
        ref = f"{ENDED}{run.name}"
        sentences = [f"git push origin {branch} {ref} publishes the last record of {branch}."]
    if trouble:
        sentences.append(f"Its record stays on {branch}: {trouble}.")
    return " ".join(sentences)


def _describe_agents(run: Run, action: SpawnAgent, *, by_path: bool) -> dict[str, JsonValue]:
    tasks = action.parallel_task_ids or ()
    prompts, read = make_prompts(run, action)
    about = f" (task {', '.join(tasks)})" if tasks else ""
    again = f", round {action.round}" if action.round > 1 else ""
    fields: dict[str, JsonValue] = {
        "agent": action.agent,
        "model": MODELS[action.tier],
        "phase": action.phase,
        "input_files": [*read],
        "output_file": action.output_file,
        "parallel_task_ids": [*tasks] if len(tasks) > 1 else None,
        "display_message": f"{_title_phase(run, action.phase)}{about}{again}",
    }
    if not by_path:
        return {**fields, "prompt": join_prompts(prompts, tasks)}
    return {**fields, **write_prompts(run, action, prompts)}


def _title_phase(run: Run, phase: PhaseId) -> str:
    """Return the name of a phase with its number, if its id has one: `Phase 3b: Design Review`."""
    label = run.pipeline.phase(phase).label
    numbered = _NUMBERED.fullmatch(phase)
    return f"Phase {numbered[1]}: {label}" if numbered is not None else label


def _hand_out_step(run: Run, action: Exec, step: PublishStep) -> ClientAction:
    name = f"{action.action_id}{PUSH}" if step.setup_only else action.action_id
    keep_dispatch(run.places, Dispatch(action_id=name))
    return _make_action(
        run,
        action,
        action_id=name,
        phase=action.phase,
        commands=[*step.commands],
        setup_only=step.setup_only,
        display_message=run.pipeline.phase(action.phase).label,
    )


def _make_question(run: Run, action: Checkpoint | HumanGate) -> ClientAction:
    asked = open_question(run, agents_read_files=True)
    if asked is None:
        raise ForgeError("An open gate asks nothing.")
    text, cut = render_question(asked, run.name, run.workspace.relative)
    is_task = isinstance(action, HumanGate)
    sent = _make_action(
        run,
        action,
        name=action.name,
        phase=run.pipeline.implementation.id if is_task else action.phase,
        present_to_user=text,
        options=[*action.options],
        display_message=asked.title,
    )
    bound: dict[str, JsonValue] = {} if isinstance(action, HumanGate) else {"digest": action.digest}
    return sent._replace(body=sent.body | bound, question=asked, cut=cut)
