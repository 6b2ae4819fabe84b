"""What is typed during a run, and where each invocation leaves it."""

from dataclasses import dataclass

from tests.recovery.play import NOTES

TASK = "`rota who` names somebody for days before the rota starts"
MODEL = ("--model", "openai-chat:fake")


@dataclass(frozen=True)
class Part:
    """One invocation, and its exit code when nobody disturbs it."""

    words: tuple[str, ...]
    code: int


def answers(script: tuple[Part, ...]) -> list[tuple[str, ...]]:
    """What a person says to the questions of a script, in order."""
    return [part.words for part in script[1:]]


SHORT = (Part(("run", TASK, "--effort", "S", *MODEL), 3), Part(("approve", *MODEL), 0))
"""Effort S: a question, an answer, the end."""

LONG = (
    Part(("run", TASK, "--effort", "L", *MODEL), 3),
    Part(("reject", NOTES, *MODEL), 3),
    Part(("approve", *MODEL), 3),
    Part(("approve", *MODEL), 0),
)
"""Effort L: a design review that says REVISE, a design that a person rejects, a wave of two tasks,
a code review that says FAIL."""
