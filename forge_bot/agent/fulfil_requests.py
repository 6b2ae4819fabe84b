"""Fulfil what a model asks for: sort it, look it up or let it be done, several requests at a time,
or leave it to others: actions (calls of tools, skills) that the host of an agent does not perform.
"""

import asyncio
import errno
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import Field

from forge_bot.agent.assignment import Assignment, Notice, RequestStarted, WorkLimits
from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityResult,
    CapabilityType,
    ResultStatus,
    canonical,
    effect_key,
    result_of,
)
from forge_bot.agent.journal import Journal
from forge_bot.agent.ledger import Ledger
from forge_bot.agent.model_answers import Explore, already_shown, printable
from forge_bot.engine import State
from forge_bot.engine.call_records import outstanding_call
from forge_bot.errors import BatchUnderWay, DiskFull, ModelUnavailable
from forge_bot.values import Frozen, TaskId


def requests_of(asked: Explore, turn: int, most: int) -> tuple[CapabilityRequest, ...]:
    """Return the first requests of one turn, context before actions.

    The list that contains a request and its claimed type do not matter: the catalogue knows the
    names.
    """
    pairs = [(item.provider, item.params_json, "") for item in asked.requests]
    pairs += [(item.capability, item.params_json, item.reasoning) for item in asked.actions]
    return tuple(
        CapabilityRequest(
            key=effect_key(turn, index, capability, params),
            capability=capability,
            params=params,
            reasoning=reasoning,
        )
        for index, (capability, text, reasoning) in enumerate(pairs[:most], 1)
        for params in [canonical(text) or text]
    )


def _without_looking(
    item: CapabilityRequest, first: str | None, providers: Sequence[str]
) -> CapabilityResult | None:
    if first is not None:
        return result_of(item, ResultStatus.SKIPPED_DUPLICATE, already_shown(first))
    if item.capability not in providers:
        offered = ", ".join(providers) or "none"
        why = f"There is no capability of that name. There are: {offered}."
        return result_of(item, ResultStatus.UNKNOWN_CAPABILITY, why)
    if canonical(item.params) is None:
        why = "The parameters are not the text of one JSON object."
        return result_of(item, ResultStatus.INVALID_PARAMS, why)
    return None


Result = TypeVar("Result")


class WantedAction(Frozen):
    """A call of a tool, or a skill, that an agent asked for. `key` is its result's place in the
    journal, or the place of the call in the run's documents.
    """

    key: str = Field(max_length=400)
    capability: str = Field(max_length=400)
    capability_type: CapabilityType


class LeftAction(WantedAction):
    """A wanted action within a conversation, with everything that performing it takes."""

    request: CapabilityRequest
    task: TaskId | None = None


class ActionsWanted(Exception):
    """The work continues when these actions have results: in the journal by their keys, or in the
    run's record.
    """

    def __init__(self, actions: Sequence[WantedAction]) -> None:
        super().__init__(", ".join(action.key for action in actions))
        self.actions = tuple(actions)


def outstanding_action(state: State) -> tuple[WantedAction, ...]:
    """Return the call of the run that is to be made next."""
    call = outstanding_call(state)
    if call is None:
        return ()
    return (
        WantedAction(
            key=f"{call.artifact}/{call.index}",
            capability=call.capability,
            capability_type=CapabilityType(call.capability_type),
        ),
    )


class AgentStops:
    """The reasons why agents side by side have not ended."""

    def __init__(self) -> None:
        self._failure: ModelUnavailable | None = None
        self._parked: BatchUnderWay | None = None
        self._wanted: list[WantedAction] = []

    async def ended(self, agent: Awaitable[Result]) -> Result | None:
        """Return the result of an agent; None if it has not ended."""
        try:
            return await agent
        except ModelUnavailable as error:
            # What the others have paid for is not thrown away.
            self._failure = self._failure or error
        except BatchUnderWay as error:
            self._parked = self._parked or error
        except ActionsWanted as wanted:
            self._wanted += wanted.actions
        return None

    @property
    def lands(self) -> bool:
        """Return whether the next result may land: they land in the order of the tasks."""
        return not (self._wanted or self._parked)

    def raise_reason(self) -> None:
        """Raise the reason, if there is one. Actions are performed before a batch is waited for."""
        if self._failure is not None:
            raise self._failure
        if self._wanted:
            raise ActionsWanted(self._wanted)
        if self._parked is not None:
            raise self._parked


# The number of parallel lookups: more would only compete for the same disk.
_SIDE_BY_SIDE = 4


class ContextPort(Protocol):
    """Looks up requests. `fetch` is called in threads, several at a time."""

    def fetch(
        self, wanted: CapabilityRequest, limits: WorkLimits
    ) -> CapabilityResult | Awaitable[CapabilityResult]:
        """Return the result, or what gives it and is awaited in the event loop.

        Every failure is a status, not an exception.
        """
        ...


@dataclass
class Fulfilment:
    """The requests of one assignment: each result is in the journal before it is used. With
    `leave_actions` tools and skills are left to others.
    """

    assignment: Assignment
    context: ContextPort
    journal: Journal
    ledger: Ledger
    notice: Callable[[Notice], None]
    now: Callable[[], float]
    leave_actions: bool = False

    def __post_init__(self) -> None:
        self._room = asyncio.Semaphore(_SIDE_BY_SIDE)
        self._commands = asyncio.Lock()

    async def fulfil(
        self, wanted: Sequence[CapabilityRequest], before: Sequence[CapabilityResult]
    ) -> tuple[CapabilityResult, ...]:
        """Look up the requests in parallel; return the results in order. Only requests that read
        are answered once; those that run commands run again.

        Raises ActionsWanted, after the lookups, for actions without results that are left to
        others.
        """
        at = self.assignment
        seen = {
            (item.capability, item.params): item.key
            for item in before
            if item.status is not ResultStatus.SKIPPED_DUPLICATE
        }
        results: dict[str, CapabilityResult] = {}
        for item in wanted:
            same = (item.capability, item.params)
            first = None if item.capability in at.running else seen.setdefault(same, item.key)
            repeated = first if first != item.key else None
            if (answer := _without_looking(item, repeated, at.providers)) is not None:
                results[item.key] = answer
        unanswered = [item for item in wanted if item.key not in results]
        left = [item for item in unanswered if self._is_left(item)]
        looked = (self._look_up(item) for item in unanswered if item not in left)
        results |= {result.key: result for result in await asyncio.gather(*looked)}
        if left:
            raise ActionsWanted(
                [
                    LeftAction(
                        key=at.prefix + item.key,
                        capability=item.capability,
                        capability_type=at.outside[item.capability],
                        request=item,
                        task=at.task,
                    )
                    for item in left
                ]
            )
        return tuple(results[item.key] for item in wanted)

    def _is_left(self, item: CapabilityRequest) -> bool:
        at = self.assignment
        return (
            self.leave_actions
            and item.capability in at.outside
            and self.journal.observed(at.prefix + item.key) is None
        )

    async def _look_up(self, item: CapabilityRequest) -> CapabilityResult:
        key = self.assignment.prefix + item.key
        if known := self.journal.observed(key):
            self.ledger.settle(key, known.usage.cost, known.usage.tokens)
            return known
        return self.journal.looked(key, await self.perform(item))

    async def perform(self, item: CapabilityRequest) -> CapabilityResult:
        began, limits = self.now(), self.assignment.limits
        runs = item.capability in self.assignment.running
        # Commands run one after the other, so that waiting does not count against another's time
        # limit.
        async with self._commands if runs else self._room:
            self.notice(
                RequestStarted(capability=item.capability, params=printable(item.params, 100))
            )
            seconds = limits.command_seconds if runs else limits.lookup_seconds
            result = await self._fulfil(item, seconds)
        return result.replace(seconds=round(self.now() - began, 3))

    async def _fulfil(self, item: CapabilityRequest, seconds: float) -> CapabilityResult:
        """Return the result, or a timeout.

        A thread that still runs after the timeout is not awaited.
        """
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                result = await asyncio.to_thread(self._fetch, item)
                return result if isinstance(result, CapabilityResult) else await result
        except TimeoutError:
            if not clock.expired():
                raise
            why = f"This took longer than {seconds:g} seconds and was given up."
            return result_of(item, ResultStatus.TIMEOUT, why)

    def _fetch(self, item: CapabilityRequest) -> CapabilityResult | Awaitable[CapabilityResult]:
        try:
            return self.context.fetch(item, self.assignment.limits)
        # A capability may be third-party code; an error in it must stop neither the others nor the
        # work.
        except Exception as error:
            full = isinstance(error, OSError) and error.errno == errno.ENOSPC
            if full or isinstance(error, DiskFull):
                # This is no result of the request: it would be repeated when there is room again.
                raise
            why = f"{type(error).__name__}: {error}"
            return result_of(item, ResultStatus.TOOL_ERROR, why)
