"""A person's answers: as they were typed, as reports with the options that were chosen, and what
the rules of `approvals` look at.
"""

import re
from datetime import datetime
from uuid import uuid4

from pydantic import Field

from forge_bot.artifacts.design_outline import read_open_decisions, read_outline
from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.engine.gates import agreed_so_far
from forge_bot.engine.person_requirements import approved_with
from forge_bot.engine.phases import AgentPhase
from forge_bot.engine.reports import Abandoned, Answer, Answered, Report
from forge_bot.engine.state import Decision, Reason
from forge_bot.errors import BadOption
from forge_bot.gate.grammar import (
    Abandon,
    AnswerCommand,
    AnswerQuestion,
    Approve,
    MarkDone,
    PostSummary,
    Reject,
    Skip,
)
from forge_bot.git.diff import changed
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import local_user
from forge_bot.settings.approvals import ApprovalCase
from forge_bot.store import SPECS
from forge_bot.values import Frozen, PhaseId


class PersonAnswer(Frozen):
    """A person's answer to a question."""

    answer: Answer
    notes: str = ""
    choices: tuple[str, ...] = ()
    condition: str = ""
    via: str = Field(default="", description="how it was given, where that is not as usual")


class PersonQuestion(Frozen):
    """A person's question before they answer."""

    question: str


ANSWER_OF: dict[type[object], Answer] = {
    Approve: Answer.APPROVE,
    Reject: Answer.REJECT,
    AnswerQuestion: Answer.ANSWER,
    MarkDone: Answer.DONE,
    Skip: Answer.SKIP,
    PostSummary: Answer.POST,
    Abandon: Answer.ABANDON,
}


def person_answer(command: AnswerCommand) -> PersonAnswer:
    """Return a person's words without the version that they name."""
    return PersonAnswer(
        answer=ANSWER_OF[type(command)],
        notes=command.notes if isinstance(command, Reject | AnswerQuestion) else "",
        choices=command.choices if isinstance(command, Approve) else (),
        condition=command.words if isinstance(command, Approve) else "",
    )


def answer(
    run: Run,
    reply: PersonAnswer,
    via: str,
    digest: str | None = None,
    by: str = "",
    *,
    key: str = "",
    at: datetime | None = None,
) -> Answered | Abandoned:
    """Return the report that answers the open question, for the shown version. Without a name the
    local user gave it, without a time it is given now. Raises BadOption.
    """
    action = run.action
    key, at, by = key or f"answer-{uuid4().hex}", at or run.now(), by or local_user()
    if reply.answer is Answer.ABANDON and not isinstance(action, Checkpoint | HumanGate):
        return Abandoned(key=key, at=at, by=by, via=via, notes=reply.notes)
    gate = action.name if isinstance(action, Checkpoint) else action.phase
    answered = Answered(
        key=key,
        at=at,
        gate=PhaseId(gate),
        answer=reply.answer,
        digest=digest,
        notes=reply.notes,
        choices=reply.choices,
        condition=reply.condition,
        by=by,
        via=reply.via or via,
        action_id=action.action_id,
    )
    return _with_options(run, answered)


def _with_options(run: Run, answered: Answered) -> Answered:
    """Return an answer; an approval with an option for each open decision of the question: the one
    that it names, such as `2b`, else the default. Raises BadOption for one that the question does
    not have.
    """
    gate = run.state.gate
    if gate is None or answered.answer is not Answer.APPROVE:
        return answered
    decisions = [
        decision
        for file in gate.files
        for decision in read_open_decisions(run.artifact(file.name) or "")[0]
    ]
    offered = {
        f"{decision.number}{option.letter}": option.text
        for decision in decisions
        for option in decision.options
    }
    unknown = [choice for choice in answered.choices if choice not in offered]
    if unknown:
        there = ", ".join(offered) or "none"
        raise BadOption(
            f"The question has no choice {', '.join(unknown)}; its choices are: {there}."
        )
    agreed = {choice[:-1]: choice for one in agreed_so_far(run.state) for choice in one.choices}
    for choice in answered.choices:
        if (other := agreed.get(choice[:-1], choice)) != choice:
            raise BadOption(
                f"Somebody approved this with {other}, so {choice} cannot be approved beside it.",
                hint=f"Approve with {other}, or reject and say why it should be {choice}.",
            )
    defaults = {
        f"{decision.number}": f"{decision.number}{decision.default.letter}"
        for decision in decisions
    }
    choices = (defaults | agreed | {choice[:-1]: choice for choice in answered.choices}).values()
    return answered.replace(
        choices=tuple(choices), chosen=tuple(offered[choice] for choice in choices)
    )


def counted(report: Report) -> str:
    """Return the sentence on the choices and the condition of an approval; empty without any."""
    words = " · ".join(approved_with(report)) if isinstance(report, Answered) else ""
    return f"Approved with: {words}" if words else ""


_PATCHED = re.compile(r'^(?:--- "?a/|\+\+\+ "?b/)(.+?)"?\s*$', re.MULTILINE)


def approval_case(run: Run, settled: Decision | None = None) -> ApprovalCase | None:
    """Return the open question, or one that was settled, about all paths that are known now; None
    without one, and for one about money, which any command may raise. An approval that is asked
    for again stands for every checkpoint that was approved.
    """
    state = run.state
    if settled is not None:
        gate, reason = settled.gate, settled.reason
    elif state.gate is not None:
        gate, reason = state.gate.name, state.gate.reason
    else:
        return None
    if reason is Reason.BUDGET:
        return None
    passed = (one.gate for one in state.decisions if one.reason is None and one.answer == "approve")
    gates = (gate, *(passed if reason is Reason.UNVERIFIED_APPROVAL else ()))
    return ApprovalCase(gates=gates, paths=_paths(run), requester=run.request.requested_by)


def _paths(run: Run) -> tuple[str, ...]:
    """Return the paths of the design, of the tasks, of a patch that is asked about, and of the
    change so far.
    """
    state, read = run.state, run.workspace.read
    designs = (
        phase.writes
        for phase in run.pipeline.phases
        if isinstance(phase, AgentPhase) and phase.shows_risks and phase.writes in state.artifacts
    )
    tasks = (
        *(task.spec for task in state.tasks),
        *(task for record in state.artifacts.values() for task in record.planned),
    )
    patches = (file.name for file in (state.gate.files if state.gate else ()))
    paths = (
        *(file.path for name in designs for file in read_outline(read(name)).files),
        *(path for task in tasks for path in task.files),
        *(
            path
            for name in patches
            if name.endswith(".patch")
            for path in _PATCHED.findall(read(name))
        ),
        *changed(run.tree.path, state.base_commit),
    )
    return tuple(dict.fromkeys(path for path in paths if not path.startswith(f"{SPECS}/")))
