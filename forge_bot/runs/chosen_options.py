"""The report of a person's answer, with the options that were chosen in the words of the document
shown.
"""

from datetime import datetime
from uuid import uuid4

from forge_bot.artifacts.open_decisions import read_open_decisions
from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.engine.gates import agreed_so_far
from forge_bot.engine.person_requirements import approved_with
from forge_bot.engine.reports import Abandoned, Answer, Answered, Report
from forge_bot.errors import BadOption
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import local_user
from forge_bot.runs.typed_answer import PersonAnswer
from forge_bot.values import PhaseId


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
            "The question has no choice {unknown}; its choices are: {there}.".format(
                unknown=", ".join(unknown), there=there
            )
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
