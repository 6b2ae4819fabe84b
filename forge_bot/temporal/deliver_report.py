"""Deliver a report to the workflow of a run, again if the server is lost meanwhile."""

import asyncio

from temporalio.client import (
    WorkflowHandle,
    WorkflowUpdateRPCTimeoutOrCancelledError,
    WorkflowUpdateStage,
)
from temporalio.service import RPCError, RPCStatusCode

from forge_bot.engine import REPORT, Report
from forge_bot.engine.reports import GateShown
from forge_bot.errors import TemporalUnavailable
from forge_bot.temporal.run_place import TemporalPlace
from forge_bot.temporal.run_workflow import ForgeRunWorkflow

RunHandle = WorkflowHandle[ForgeRunWorkflow, str]

_PATIENCE = 10.0
"""Seconds that a server may be lost."""

_PAUSE = 1.0

_LOST = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.CANCELLED,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.UNKNOWN,
        RPCStatusCode.INTERNAL,
    }
)
"""The client's errors for a server that is lost in the middle of a call."""


async def deliver(handle: RunHandle, report: Report, place: TemporalPlace) -> None:
    """Wait until a report is recorded.

    If the server is lost meanwhile, the same report is sent again, and counts once. Raises
    TemporalUnavailable if the server does not come back.
    """
    line, accepted = REPORT.dump_json(report).decode(), False
    ends = asyncio.get_running_loop().time() + _PATIENCE
    while True:
        try:
            # One of its overloads takes arguments that have no types.
            update = await handle.start_update(  # pyright: ignore[reportUnknownMemberType]
                ForgeRunWorkflow.tell,
                line,
                id=report.key,
                wait_for_stage=WorkflowUpdateStage.ACCEPTED,
            )
            accepted = True
            await update.result()
        except (RPCError, WorkflowUpdateRPCTimeoutOrCancelledError) as lost:
            if isinstance(lost.__cause__, asyncio.CancelledError):
                raise lost.__cause__ from None
            if isinstance(lost, RPCError) and lost.status not in _LOST:
                raise
            if asyncio.get_running_loop().time() > ends:
                raise _lost(report, place, accepted=accepted) from None
            await asyncio.sleep(_PAUSE)
        else:
            return


def _lost(report: Report, place: TemporalPlace, *, accepted: bool) -> TemporalUnavailable:
    address = place.address or "of this command"
    if isinstance(report, GateShown):
        return TemporalUnavailable(f"The Temporal server {address} does not answer.")
    if accepted:
        return TemporalUnavailable(
            (
                f"The Temporal server {address} took your answer, and was lost before the "
                "answer was recorded."
            ),
            hint=(
                "It counts, once: do not give it again. When the server is back, `forge-bot "
                "resume` follows the run."
            ),
        )
    return TemporalUnavailable(
        (
            f"The Temporal server {address} was lost while your answer was on its way; whether "
            "it arrived is not known."
        ),
        hint=(
            "It counts once at most. When the server is back, `forge-bot resume` shows whether "
            "the question is still open."
        ),
    )
