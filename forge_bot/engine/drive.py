"""The loop of every host: get the next action, let the host perform it, record the report, until
the host leaves an action undone.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from forge_bot.engine.actions import (
    Action,
    Checkpoint,
    Done,
    Exec,
    HumanGate,
    PersonAction,
    SpawnAgent,
    WorkAction,
    WriteFile,
)
from forge_bot.engine.advance import advance
from forge_bot.engine.next_action import next_action
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import Report
from forge_bot.engine.state import State
from forge_bot.errors import WrongReport


class Host(Protocol):
    """Performs the actions of a run. An action that a host does not perform has no report."""

    def perform(self, state: State, action: WorkAction) -> AsyncGenerator[Report]:
        """Do the work of this process: agents, the project's commands, ready-made documents."""
        ...

    def ask(self, state: State, action: PersonAction) -> AsyncGenerator[Report]:
        """Take a person's turn: report that the question was shown, and an answer given now."""
        ...

    def publish(self, state: State, action: Exec) -> AsyncGenerator[Report]:
        """Make the result visible outside: pull request, comment on the issue, last commit."""
        ...

    async def record(self, report: Report, state: State) -> None:
        """Keep a report and the state it led to."""
        ...


async def drive(pipeline: Pipeline, state: State, host: Host) -> tuple[State, Action]:
    """Go on until the run is over, or until the host leaves an action outstanding.

    Each report is recorded as soon as it changes the state. A killed host loses only the work under
    way.
    """
    action = next_action(pipeline, state)
    while not isinstance(action, Done):
        outstanding = action
        state = await carry_out(pipeline, state, host, action)
        action = next_action(pipeline, state)
        if action == outstanding:
            break
    return state, action


async def carry_out(
    pipeline: Pipeline, state: State, host: Host, action: WorkAction | PersonAction
) -> State:
    """Let the host perform one action, and return the state after its report."""
    async with aclosing(_reports(host, state, action)) as reports:
        async for report in reports:
            after = advance(pipeline, state, report)
            if after is state:
                raise WrongReport(
                    f"{action.action_id} was performed, but its report has been recorded before."
                )
            state = after
            await host.record(report, state)
    return state


def _reports(host: Host, state: State, action: WorkAction | PersonAction) -> AsyncGenerator[Report]:
    match action:
        case Checkpoint() | HumanGate():
            return host.ask(state, action)
        case Exec(operation="pull-request" | "post-to-source" | "final-commit"):
            return host.publish(state, action)
        case SpawnAgent() | WriteFile() | Exec():
            return host.perform(state, action)


async def no_reports() -> AsyncGenerator[Report]:
    """Report nothing: the action is not this host's to do."""
    nothing: tuple[Report, ...] = ()
    for report in nothing:
        yield report
