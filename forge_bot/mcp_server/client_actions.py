"""From what the engine asks for to what a client does: our own chores are done on the way, the rest goes over the wire."""

import re
from typing import NamedTuple, assert_never
from uuid import uuid4

from pydantic import JsonValue

from forge_bot.engine import Checkpoint, Done, Exec, HumanGate, SpawnAgent, WriteFile
from forge_bot.engine.reports import GateShown, Report
from forge_bot.errors import ForgeError, GitFailed
from forge_bot.mcp_server.check_worktree import CheckWorktree
from forge_bot.mcp_server.client_reports import PUSH
from forge_bot.mcp_server.dispatch import dispatched
from forge_bot.mcp_server.person_answers import VIA
from forge_bot.mcp_server.publish_steps import PublishStep, publish_step
from forge_bot.mcp_server.render_question import component, presented
from forge_bot.mcp_server.served_folders import RunLocation
from forge_bot.mcp_server.wire import (
    MODELS,
    CheckpointAction,
    DoneAction,
    ExecAction,
    HumanGateAction,
    SpawnAgentAction,
    WireAction,
    WriteFileAction,
)
from forge_bot.runs.builtin_actions import applied, not_done, prepared, verified
from forge_bot.runs.clock import now
from forge_bot.runs.notifications import Notify, PhaseBegan
from forge_bot.runs.question import Question, open_question
from forge_bot.runs.run import Run
from forge_bot.values import PhaseId

_HINTS = {
    "spawn_agent": "give the prompt to an agent; its document goes where the prompt says; then report",
    "checkpoint": "show present_to_user to the person, pass their answer on as user_response",
    "exec": "run commands as one argument list; then report with action_id and previous_output",
    "write_file": "write content to path; then report",
    "human_gate": "ask the person; pass their answer on as user_response with action_id",
    "done": "tell the person; nothing is left to do",
}


_NUMBERED = re.compile(r"phase-(\d+[a-z]?)")


class ClientAction(NamedTuple):
    """The next action for a client, and the question if it is one.

    Without `news` nothing happened since it was asked for last; `cut` names documents that the question shows only the beginning of.
    """

    action: WireAction
    run: str
    question: Question | None = None
    news: bool = True
    cut: tuple[str, ...] = ()

    @property
    def component(self) -> dict[str, JsonValue]:
        """The question as faces render it; empty if it is none."""
        return component(self.question) if self.question is not None else {}

    @property
    def hint(self) -> str:
        """What a host does with the action, in a few words."""
        return _HINTS[self.action.type]

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """Documents to read by address, with their names: at the end the summary."""
        done = self.action if isinstance(self.action, DoneAction) else None
        name = (done.summary_path or "").rpartition("/")[2] if done is not None else ""
        return ((name, f"forge://run/{self.run}/artifact/{name}"),) if name else ()

    @property
    def links(self) -> tuple[str, ...]:
        """Addresses of resources that belong to the action."""
        return tuple(f"forge://run/{self.run}/{part}" for part in ("state", "artifacts", "log"))


def next_for_client(run: Run, spot: RunLocation, shop: CheckWorktree, tell: Notify) -> ClientAction:
    """Do what is our own process's, until something is the client's to do; its tree then holds nothing of ours uncommitted."""
    found = _next(run, spot, shop, tell)
    run.keep_record()
    return found


def _next(run: Run, spot: RunLocation, shop: CheckWorktree, tell: Notify) -> ClientAction:
    while True:
        action = run.action
        if not isinstance(action, Exec):
            return _handed_out(run, shop, action)
        done = _chore(run, spot, shop, action, tell)
        if isinstance(done, PublishStep):
            return ClientAction(_exec(run, action, done), run.name)
        run.tell(*done)


# -- our own ------------------------------------------------------------------------------------------------------


def _chore(run: Run, spot: RunLocation, shop: CheckWorktree, action: Exec, tell: Notify) -> tuple[Report, tuple[str, ...]] | PublishStep:
    """The report on something our own process did, with the paths of its commit; or the step that is the client's to take."""
    label = run.pipeline.phase(action.phase).label
    try:
        match action.operation:
            case "prepare":
                tell(PhaseBegan(phase=action.phase, label=label))
                return shop.beside(run, spot, tell, lambda project: prepared(action, run, project)), ()
            case "verify":
                tell(PhaseBegan(phase=action.phase, label=label))
                return shop.beside(run, spot, tell, lambda project: verified(action, run.state, run, project)), ()
            case "apply-held":
                return applied(action, run.state, run)
            case "pull-request" | "post-to-source" | "final-commit":
                found = publish_step(run, action)
                return found if isinstance(found, PublishStep) else (found, ())
            case _:
                assert_never(action.operation)
    except GitFailed as error:
        return not_done(action, run, error), ()


# -- the client's -------------------------------------------------------------------------------------------------


def _handed_out(run: Run, shop: CheckWorktree, action: SpawnAgent | WriteFile | Checkpoint | HumanGate | Done) -> ClientAction:
    match action:
        case SpawnAgent():
            dispatched(run, action)
            return ClientAction(_spawn(run, shop, action), run.name)
        case WriteFile():
            dispatched(run, action)
            label = _titled(run, action.phase)
            path = f"{run.workspace.relative}/{action.path}"
            name = action.action_id
            return ClientAction(
                WriteFileAction(action_id=name, phase=action.phase, path=path, content=action.content, display_message=label), run.name
            )
        case Checkpoint() | HumanGate():
            return _asked(run, action)
        case Done():
            path = f"{run.workspace.relative}/{action.summary_path}" if action.summary_path else None
            done = DoneAction(action_id=action.action_id, summary=action.summary, summary_path=path, display_message=_last(run))
            return ClientAction(done, run.name)
        case _:
            assert_never(action)


def _last(run: Run) -> str:
    ahead = run.state.pull_request and not run.repository.pushed(run.state.branch)
    return f"git push once more publishes the last record of {run.state.branch}." if ahead else f"The work is on {run.state.branch}."


def _spawn(run: Run, shop: CheckWorktree, action: SpawnAgent) -> SpawnAgentAction:
    tasks = action.parallel_task_ids
    several = tasks is not None and len(tasks) > 1
    about = f" (task {', '.join(tasks)})" if tasks else ""
    again = f", round {action.round}" if action.round > 1 else ""
    return SpawnAgentAction(
        action_id=action.action_id,
        agent=action.agent,
        prompt=shop.prompting.prompt(run, action),
        model=MODELS[action.tier],
        phase=action.phase,
        input_files=action.input_files,
        output_file=action.output_file,
        parallel_task_ids=tasks if several else None,
        display_message=f"{_titled(run, action.phase)}{about}{again}",
    )


def _titled(run: Run, phase: PhaseId) -> str:
    """A phase as people read it, with its number where its id has one: `Phase 3b: Design Review`."""
    label = run.pipeline.phase(phase).label
    numbered = _NUMBERED.fullmatch(phase)
    return f"Phase {numbered[1]}: {label}" if numbered is not None else label


def _exec(run: Run, action: Exec, taken: PublishStep) -> ExecAction:
    name = f"{action.action_id}{PUSH}" if taken.setup_only else action.action_id
    label = run.pipeline.phase(action.phase).label
    return ExecAction(action_id=name, phase=action.phase, commands=taken.commands, setup_only=taken.setup_only, display_message=label)


def _asked(run: Run, action: Checkpoint | HumanGate) -> ClientAction:
    asked = open_question(run)
    if asked is None:
        raise ForgeError("An open gate asks nothing.")
    text, cut = presented(asked, run.name, run.workspace.relative)
    if isinstance(action, HumanGate):
        gate = HumanGateAction(
            action_id=action.action_id,
            phase=run.pipeline.implementation.id,
            name=action.name,
            present_to_user=text,
            options=action.options,
            display_message=asked.title,
        )
        return ClientAction(gate, run.name, asked)
    shown(run, action, VIA)
    checkpoint = CheckpointAction(
        action_id=action.action_id,
        name=action.name,
        phase=action.phase,
        present_to_user=text,
        options=action.options,
        digest=action.digest,
        display_message=asked.title,
    )
    return ClientAction(checkpoint, run.name, asked, cut=cut)


def shown(run: Run, action: Checkpoint, via: str) -> None:
    """Record that this version of the question was shown, unless it was the last one that was."""
    before = run.state.gate.shown if run.state.gate is not None else ()
    if not before or before[-1].digest != action.digest:
        run.tell(GateShown(key=f"shown-{uuid4().hex}", at=now(), gate=PhaseId(action.name), digest=action.digest, via=via))
