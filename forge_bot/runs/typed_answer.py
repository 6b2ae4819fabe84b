"""From an answer as the grammar reads it to the answer that a run is told."""

from forge_bot.engine.reports import Answer
from forge_bot.gate.grammar import (
    Abandon,
    AnswerCommand,
    Approve,
    MarkDone,
    PostSummary,
    Reject,
    Skip,
)
from forge_bot.runs.session import PersonAnswer

ANSWER_OF: dict[type[object], Answer] = {
    Approve: Answer.APPROVE,
    Reject: Answer.REJECT,
    MarkDone: Answer.DONE,
    Skip: Answer.SKIP,
    PostSummary: Answer.POST,
    Abandon: Answer.ABANDON,
}


def person_answer(said: AnswerCommand) -> PersonAnswer:
    """Return what a person said, without the version that it names."""
    return PersonAnswer(
        answer=ANSWER_OF[type(said)], notes=said.notes if isinstance(said, Reject) else ""
    )
