"""Requirements of people: the conditions and choices of their approvals, and what they asked of the
change that is offered, numbered P-1, P-2 …
"""

from forge_bot.engine.gates import approvals_of
from forge_bot.engine.reports import Answered
from forge_bot.engine.state import Decision, State
from forge_bot.values import Frozen, PhaseId


class PersonRequirement(Frozen):
    """A requirement of a person, in their words or in those of the option chosen."""

    number: str
    text: str
    by: str
    via: str
    gate: PhaseId


def person_requirements(state: State) -> tuple[PersonRequirement, ...]:
    """Return the requirements of people in the order in which they were given.

    Every condition stays. The choices are those of the last approval at each gate, because an
    older version had other options.
    """
    last = {decision.gate: decision for decision in state.decisions if decision.answer == "approve"}
    texts = [
        (text, one)
        for decision in sorted((*state.decisions, *state.sent_back), key=lambda one: one.at)
        for one in approvals_of(state, decision)
        for text in approved_with(one, choices=last.get(one.gate) is one)
    ]
    return tuple(
        PersonRequirement(
            number=f"P-{number}", text=text, by=decision.by, via=decision.via, gate=decision.gate
        )
        for number, (text, decision) in enumerate(texts, 1)
    )


def approved_with(decision: Decision | Answered, *, choices: bool = True) -> tuple[str, ...]:
    """Return the options and the condition that a person approved with, each with its words."""
    pairs = zip(decision.choices, decision.chosen, strict=False) if choices else ()
    condition = (decision.condition,) if decision.condition else ()
    return (*(f"{choice}: {words}" for choice, words in pairs), *condition)
