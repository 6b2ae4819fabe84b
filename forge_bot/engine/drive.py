"""The loop of every host that performs: ask, perform, record, until an action is not this host's to do."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from forge_bot.engine.actions import Action
from forge_bot.engine.advance import advance
from forge_bot.engine.next_action import next_action
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import Report
from forge_bot.engine.state import State
from forge_bot.errors import WrongReport


async def drive(
    pipeline: Pipeline,
    state: State,
    perform: Callable[[State, Action], AsyncGenerator[Report]],
    record: Callable[[Report, State], Awaitable[None]],
) -> tuple[State, Action]:
    """Go on until `perform` reports nothing on an action: a person's turn, another host's, or the end.

    Each report is recorded as soon as it moved the state, so that a killed host loses only what was under way.
    """
    while True:
        action = next_action(pipeline, state)
        moved = False
        async with aclosing(perform(state, action)) as reports:
            async for report in reports:
                after = advance(pipeline, state, report)
                if after is state:
                    raise WrongReport(f"{action.action_id} was performed, but its report has been recorded before.")
                state, moved = after, True
                await record(report, state)
        if not moved:
            return state, action
