"""The tools and skills from outside that a run used, in words for every face."""

from collections.abc import Sequence
from decimal import Decimal

from forge_bot.engine.state import CallStatus, State
from forge_bot.text_format import several
from forge_bot.values import CapabilityUse, Frozen


class UseLine(Frozen):
    """One tool or skill, its results, and the cost of models that performed it."""

    name: str
    words: str
    cost: Decimal | None = None


def summed(
    before: Sequence[CapabilityUse], more: Sequence[CapabilityUse]
) -> tuple[CapabilityUse, ...]:
    """Return uses with one entry for each name."""
    uses = {use.name: use for use in before}
    for use in more:
        uses[use.name] = uses[use.name] + use if use.name in uses else use
    return tuple(uses.values())


def use_lines(state: State) -> tuple[UseLine, ...]:
    """Return a line for each tool and skill that was used, declined or missing."""
    declined = [call.capability for call in state.calls if call.status is CallStatus.DECLINED]
    known = {use.name: use for use in state.capabilities if use.calls or use.missing}
    return tuple(
        UseLine(name=name, words=_words(use, declined.count(name)), cost=use.cost or None)
        for name in dict.fromkeys((*known, *declined))
        for use in (known.get(name, CapabilityUse(name=name)),)
    )


HEADING = "Tools and Skills"


def uses_section(state: State) -> str:
    """Return the section of the last document about used capabilities; empty without any use."""
    lines = [f"- `{line.name}`: {line.words}" for line in use_lines(state)]
    return "\n".join((f"## {HEADING}", "", *lines, "")) if lines else ""


def _words(use: CapabilityUse, declined: int) -> str:
    if use.missing and not use.calls:
        return f"not available: {use.missing}"
    parts = [
        several(use.calls, "call") if use.calls else "",
        f"{use.failed} failed" if use.failed else "",
        f"{use.denied} denied" if use.denied else "",
        f"{declined} declined by a person" if declined else "",
        f"{use.seconds:.1f} s" if use.calls else "",
    ]
    return ", ".join(filter(None, parts))
