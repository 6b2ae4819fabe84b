"""Actions of agents that the run's host has left: kept on this machine until each is performed, by
another activity that puts the result where the conversation looks for it.
"""

import hashlib
import time
from contextlib import AsyncExitStack
from pathlib import Path

from forge_bot.agent.assignment import place_of
from forge_bot.agent.capabilities import CapabilityResult, CapabilityType
from forge_bot.agent.fulfil_requests import ActionsWanted, Fulfilment, LeftAction
from forge_bot.agent.journal import Journal
from forge_bot.engine import SpawnAgent
from forge_bot.runs.agent_work.agents import Agents
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import read_kept
from forge_bot.store import write_whole


def keep_left(run: Run, wanted: ActionsWanted) -> None:
    """Keep what performing the actions takes on this machine, for `left_action`."""
    for action in wanted.actions:
        if isinstance(action, LeftAction):
            file = _file(run, action.key)
            file.parent.mkdir(exist_ok=True)
            write_whole(file, action.model_dump_json())


def left_action(run: Run, key: str) -> LeftAction | None:
    return read_kept(_file(run, key), LeftAction)


async def performed(agents: Agents, wanted: LeftAction) -> CapabilityResult:
    """Perform an action as the conversation that left it would have, beside others. Whoever holds
    the run keeps the result, by `keep_result`.
    """
    action = agents.run.action
    assert isinstance(action, SpawnAgent)  # noqa: S101 - no other has conversations
    await agents.discover()
    async with AsyncExitStack() as trees:
        skill = wanted.capability_type is CapabilityType.SKILL
        own = agents.worktrees.own
        worktree = await agents.worktree(action, wanted.task, trees) if skill else own
        place = place_of(action.action_id, wanted.task)
        began = wanted.key.removeprefix(place).partition("#")[0]
        assignment = agents.assignment(action, wanted.task, began)
        lane = agents.lane_of(action)
        if lane is not None:
            agents.journal.carry(place)
        spent = agents.journal.unread(place)
        agents.ledger.settle(f"{place}before", spent.cost, spent.tokens)
        return await Fulfilment(
            assignment,
            agents.context(assignment, worktree, lane),
            agents.journal,
            agents.ledger,
            lambda notice: agents.thinking(notice, wanted.task),
            time.monotonic,
        ).perform(wanted.request)


def keep_result(agents: Agents, wanted: LeftAction, result: CapabilityResult) -> CapabilityResult:
    """Put the result where the conversation looks for it; return the first one that was put there.
    The journal has one writer, the process that holds the run.
    """
    run, action = agents.run, agents.run.action
    journal = Journal(run.places.journal, agents.outside.environ, agents.journal.carried)
    if isinstance(action, SpawnAgent) and agents.lane_of(action) is not None:
        journal.carry(place_of(action.action_id, wanted.task))
    return journal.observed(wanted.key) or journal.looked(wanted.key, result)


def _file(run: Run, key: str) -> Path:
    return run.places.home / "actions" / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.json"
