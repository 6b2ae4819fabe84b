"""A person's answers at a question, and their conversion to the answers of reports."""

from pydantic import Field

from forge_bot.engine.reports import Answer
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
from forge_bot.values import Frozen


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


class PersonEdit(Frozen):
    """A person's request to edit a document that is shown, before they answer."""

    document: str


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
