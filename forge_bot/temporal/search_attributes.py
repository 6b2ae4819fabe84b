"""Attributes by which a Temporal server finds runs, and how a server gets them."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributeUpdate

from forge_bot.engine import Action, Checkpoint, HumanGate, State

if TYPE_CHECKING:
    from temporalio.client import Client

REPOSITORY = SearchAttributeKey.for_keyword("ForgeRepository")
ISSUE = SearchAttributeKey.for_keyword("ForgeIssue")
PHASE = SearchAttributeKey.for_keyword("ForgePhase")
WAITS_FOR = SearchAttributeKey.for_keyword("ForgeWaitsFor")
COST = SearchAttributeKey.for_float("ForgeCost")

KEYS = {
    REPOSITORY: "Keyword",
    ISSUE: "Keyword",
    PHASE: "Keyword",
    WAITS_FOR: "Keyword",
    COST: "Double",
}
"""The attributes, with their types in the server's own words."""


class WaitsFor(StrEnum):
    """The side that has to act before the run goes on."""

    NOBODY = "nobody"
    PERSON = "person"
    PROVIDER = "provider"
    """A model, a batch or GitHub; the run looks again by itself."""
    OPERATOR = "operator"
    """Something on the worker's machine has to be mended."""


class ShownRun:
    """The attributes of a run that the server was given last."""

    def __init__(self) -> None:
        self._shown: list[SearchAttributeUpdate[Any]] = []

    def show(
        self,
        repository: str,
        issue: str,
        stands: tuple[State, Action] | None,
        waits_for: WaitsFor | None = None,
    ) -> None:
        """Update the search attributes of a run, if they are known; called in a workflow."""
        asks = stands is not None and isinstance(stands[1], Checkpoint | HumanGate)
        usual = WaitsFor.PERSON if asks else WaitsFor.NOBODY
        shown: list[SearchAttributeUpdate[Any]] = [
            REPOSITORY.value_set(repository),
            ISSUE.value_set(issue),
            WAITS_FOR.value_set((waits_for or usual).value),
        ]
        if stands is not None:
            state, action = stands
            shown += [
                PHASE.value_set(str(action.phase)),
                COST.value_set(float(state.budget.spent)),
            ]
        if shown != self._shown:
            self._shown = shown
            # One of its parameters has an incomplete type.
            workflow.upsert_search_attributes(shown)  # pyright: ignore[reportUnknownMemberType]


async def has_attributes(client: "Client") -> bool:
    """Return whether the server's namespace has all of them."""
    return not await _missing(client)


async def add_attributes(client: "Client") -> str:
    """Add the attributes that the namespace lacks; return the reason if it does not allow that."""
    from temporalio.api.enums.v1 import IndexedValueType
    from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
    from temporalio.service import RPCError

    missing = await _missing(client)
    if not missing:
        return ""
    asked = AddSearchAttributesRequest(
        namespace=client.namespace,
        search_attributes={
            key.name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{KEYS[key].upper()}")
            for key in missing
        },
    )
    try:
        await client.operator_service.add_search_attributes(asked)
    except RPCError:
        names = " ".join(f"--name {key.name} --type {KEYS[key]}" for key in missing)
        return (
            "The server cannot find runs by repository, issue, phase, whom they wait for and "
            "cost: the namespace lacks search attributes, and this worker may not add them. "
            "Add them with: temporal operator search-attribute create --namespace "
            f"{client.namespace} {names}"
        )
    return ""


async def _missing(client: "Client") -> list[SearchAttributeKey[Any]]:
    """Return the attributes that the namespace lacks; all of them if it does not say."""
    from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
    from temporalio.service import RPCError

    asked = ListSearchAttributesRequest(namespace=client.namespace)
    try:
        there = (await client.operator_service.list_search_attributes(asked)).custom_attributes
    except RPCError:
        return [*KEYS]
    return [key for key in KEYS if key.name not in there]
