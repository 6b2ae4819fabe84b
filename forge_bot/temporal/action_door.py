"""`python -m forge_bot.temporal.action_door`: the step of the Action that hands an event to a
Temporal server. It starts or wakes the workflow of the issue, and ends.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from datetime import timedelta

from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from forge_bot.bot.job_context import JobContext, read_job_context
from forge_bot.errors import ForgeError
from forge_bot.forge import (
    issue_of_event,
    payload_of,
    show_error,
    show_notice,
    write_outputs,
    write_summary,
)
from forge_bot.gate.environment_variables import INPUT_VARIABLES
from forge_bot.gate.workflow_step import tell_thread
from forge_bot.sentences import hint_of, say
from forge_bot.temporal.temporal_server import connect, make_forge_error, read_named_place
from forge_bot.temporal.workflows import (
    ForgeThreadWorkflow,
    ThreadBegin,
    ThreadWake,
    thread_queue,
    thread_workflow_id,
)

_TIME = timedelta(seconds=15)


def main(environ: Mapping[str, str] = os.environ) -> int:
    """Hand the event to the server; return 0 unless the server cannot be reached."""
    try:
        around = read_job_context(environ)
    except ForgeError as error:
        show_error(f"{error.code}: {error.message} {hint_of(error)}")
        return error.exit_code
    try:
        summary = asyncio.run(_hand_over(around, environ))
    except ForgeError as error:
        hint = say("gate.server_to_check")
        show_error(f"{error.code}: {error.message} {hint}")
        text = say(
            "gate.no_server",
            message=error.message,
            hint=hint,
            run_url=around.step.run_url,
            prefix=around.inputs.prefix,
            code=error.code,
        )
        tell_thread(environ, around.inputs, around.step, text)
        return error.exit_code
    issue = str(around.wake.issue)
    write_outputs(around.step.outputs, {"outcome": "working", "issue": issue})
    write_summary(around.step.summary, summary)
    show_notice(summary)
    return 0


async def _hand_over(around: JobContext, environ: Mapping[str, str]) -> str:
    """Start or wake the workflow, which keeps the event until a worker takes it; return a sentence
    about it. Raises TemporalUnavailable, TemporalRefused.
    """
    place, issue = read_named_place(None, None), around.wake.issue
    frozen = issue_of_event(around.step.payload)
    name = thread_workflow_id(around.step.server, around.step.repository, issue)
    woken = ThreadWake(
        wake=around.wake,
        inputs={name: environ[name] for name in INPUT_VARIABLES if environ.get(name)},
        job=around.step.run_url.rpartition("/")[2],
        # What a request is frozen from.
        event=payload_of(frozen) if frozen is not None else "",
    )
    client = await connect(place)
    try:
        await client.start_workflow(
            ForgeThreadWorkflow.run,
            ThreadBegin(server=around.step.server, repository=around.step.repository, issue=issue),
            id=name,
            task_queue=thread_queue(around.step.server, around.step.repository),
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal="wake",
            start_signal_args=[woken],
            static_summary=f"{around.step.repository}#{issue}",
            rpc_timeout=_TIME,
        )
    except RPCError as error:
        raise make_forge_error(error, place) from error
    return f"{name} has it. A worker goes on with it."


if __name__ == "__main__":
    _code = main()
    sys.stdout.flush()
    # A thread of the client may still be at work, and would abort a Python that takes itself apart.
    os._exit(_code)
