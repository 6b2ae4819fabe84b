"""`python -m forge_bot.temporal.action_door`: the step of the Action that hands an event to a
Temporal server.

It comes after the gate, with the client of Temporal and nothing else installed. It starts the
workflow of the issue or delivers an update to it, and ends.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from forge_bot.errors import (
    ForgeError,
    TemporalRefused,
    TemporalUnavailable,
    TemporalWorkerDiffers,
)
from forge_bot.gate import messages, outputs
from forge_bot.gate.environment_variables import (
    INPUT_VARIABLES,
    read_inputs,
    read_step_context,
)
from forge_bot.gate.json_payload import Node, read_json
from forge_bot.gate.workflow_step import tell_thread
from forge_bot.sentences import hint_of, say
from forge_bot.temporal.server_errors import UNREAD, as_forge_error, unread_by_worker
from forge_bot.temporal.thread_address import (
    HEAR,
    LIMITED,
    ORCHESTRATION,
    THREAD_WORKFLOW,
    WAKE,
    thread_workflow_id,
)

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 5.0
"""Time in which a worker takes an event; without one the server keeps it."""


_ADVICE: dict[type[ForgeError], str] = {
    TemporalUnavailable: "temporal.action_door.check_the_address",
    TemporalRefused: "temporal.action_door.check_the_namespace",
}


_OF_WORKER = {
    LIMITED: "",
    TemporalWorkerDiffers.code.lower(): "temporal.action_door.start_a_worker",
}
"""The name of what can be done about a worker that reaches the repository and does not go on."""


def main(environ: Mapping[str, str] = os.environ) -> int:
    """Hand the event to the server; return 0 unless the server cannot be reached."""
    try:
        inputs, around = read_inputs(environ), read_step_context(environ)
    except ForgeError as error:
        outputs.error(f"{error.code}: {error.message} {hint_of(error)}")
        return error.exit_code
    event = HandedEvent(environ, around.repository, str(around.attempt))
    try:
        said, trouble = asyncio.run(_handed_over(event))
    except ForgeError as error:
        hint = say(_ADVICE[type(error)])
        outputs.error(f"{error.code}: {error.message} {hint}")
        text = say(
            "gate.no_server",
            message=error.message,
            hint=hint,
            run_url=around.run_url,
            prefix=inputs.prefix,
            code=error.code,
        )
        tell_thread(environ, inputs, around, text)
        return error.exit_code
    if reason := trouble.text("message"):
        outputs.warning(f"the last visit of a worker failed: {messages.plain(reason)}")
    if trouble.true("untold"):
        text = _of_worker(trouble.text("occasion"), reason, inputs.prefix, around.run_url)
        tell_thread(environ, inputs, around, text)
    outputs.write_outputs(
        environ["GITHUB_OUTPUT"], {"outcome": "working", "issue": str(event.issue)}
    )
    outputs.write_summary(environ.get("GITHUB_STEP_SUMMARY", ""), said)
    outputs.notice(said)
    return 0


def _of_worker(occasion: str, reason: str, prefix: str, run_url: str) -> str:
    """Return the sentence for the thread about a worker that does not go on."""
    way_out = _OF_WORKER.get(occasion)
    if way_out is None:
        return say("gate.worker_kept_out", message=reason, prefix=prefix, run_url=run_url)
    return say(
        "gate.worker_waits",
        message=reason,
        way_out=f"{say(way_out)} " if way_out else "",
        prefix=prefix,
        run_url=run_url,
    )


class HandedEvent:
    """An event that the gate let in, as the workflow takes it: ids, the words of a comment, and
    what a request is frozen from.
    """

    def __init__(self, environ: Mapping[str, str], repository: str, attempt: str) -> None:
        with open(environ["GITHUB_EVENT_PATH"], "rb") as file:  # noqa: PTH123 - no pathlib here
            payload = read_json(file.read())
        self._environ = environ
        self._attempt = attempt
        self._payload = payload
        self._wake = read_json(environ.get("FORGE_BOT_WAKE", "").encode())
        self.issue = self._wake.number("issue") or 0
        self.server = environ.get("GITHUB_SERVER_URL") or "https://github.com"
        self.repository = repository

    @property
    def workflow_id(self) -> str:
        """Return the id of the workflow of the issue."""
        return thread_workflow_id(self.server, self.repository, self.issue)

    @property
    def begin(self) -> dict[str, Any]:
        """Return the input of the workflow."""
        return {"server": self.server, "repository": self.repository, "issue": self.issue}

    @property
    def key(self) -> str:
        """Return the name of the event: the same when GitHub delivers it twice, another when
        somebody runs the job again.
        """
        comment, check = self._wake.number("comment"), self._wake.number("check")
        if comment is not None:
            name = f"comment-{comment}"
        elif check is not None:
            name = f"check-{check}"
        elif self._wake.text("way") == "label":
            name = f"label-{self._payload.text('issue', 'updated_at')}"
        else:
            name = f"run-{self._environ.get('GITHUB_RUN_ID', '')}"
        return f"{name}-{self._attempt}"

    @property
    def told(self) -> dict[str, Any]:
        """Return the message to the workflow."""
        return {
            "key": self.key,
            "wake": self._wake.value,
            "inputs": {
                name: self._environ[name] for name in INPUT_VARIABLES if self._environ.get(name)
            },
            "job": self._environ.get("GITHUB_RUN_ID", ""),
            "event": self._frozen(),
            "comment": self._comment(),
        }

    def _frozen(self) -> str:
        issue = self._payload["issue"]
        if issue.number("number") is None or issue.at("pull_request").exists:
            return ""
        kept = {"number": issue.number("number"), "title": issue.text("title")}
        return json.dumps({"issue": {**kept, "body": issue.text("body")}})

    def _comment(self) -> dict[str, str] | None:
        comment: Node = self._payload["comment"]
        if self._wake.number("comment") is None or not comment.exists:
            return None
        return {
            "body": comment.text("body"),
            "by": comment.text("user", "login"),
            "at": comment.text("created_at"),
            "via": comment.text("html_url"),
        }


async def _handed_over(event: HandedEvent) -> tuple[str, Node]:
    """Start or update the workflow; return a sentence about it, and the reason why the last visit
    of a worker failed.

    Raises TemporalUnavailable, TemporalRefused.
    """
    from temporalio.envconfig import ClientConfig

    known = ClientConfig.load_client_connect_config()
    address, namespace = known.get("target_host", ""), known.get("namespace", "default")
    silent = f"The Temporal server at {address} does not answer."
    try:
        async with asyncio.timeout(_CONNECT_SECONDS + _ANSWER_SECONDS):
            client = await asyncio.wait_for(Client.connect(**known), _CONNECT_SECONDS)
            silent = f"The Temporal server at {address} was lost while it was told of this."
            return await _told(client, event)
    except RPCError as error:
        refused = as_forge_error(error, address, namespace)
        if isinstance(refused, TemporalUnavailable):
            raise TemporalUnavailable(silent) from error
        raise refused from error
    except (RuntimeError, TimeoutError) as error:
        raise TemporalUnavailable(silent) from error


async def _told(client: Client, event: HandedEvent) -> tuple[str, Node]:
    has_it = f"{event.workflow_id} has it."
    start = WithStartWorkflowOperation[Any, Any](
        THREAD_WORKFLOW,
        event.begin,
        id=event.workflow_id,
        task_queue=ORCHESTRATION,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    try:
        # One of its overloads takes arguments that have no types.
        trouble = await client.execute_update_with_start_workflow(  # pyright: ignore[reportUnknownMemberType]
            HEAR,
            event.told,
            start_workflow_operation=start,
            id=event.key,
            rpc_timeout=timedelta(seconds=_ANSWER_SECONDS),
        )
    except WorkflowUpdateFailedError as refused:
        # Who works in the thread says so there, in the words that the run has by then.
        await _woken(client, event)
        cause = refused.cause
        code = cause.type if isinstance(cause, ApplicationError) else ""
        why = f"{code} {getattr(cause, 'message', '')}"
        return f"{event.workflow_id} refused it: {why}", Node()
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        handle = await _woken(client, event)
        if await unread_by_worker(handle):
            unread = {
                "message": say(UNREAD),
                "untold": True,
                "occasion": TemporalWorkerDiffers.code.lower(),
            }
            return has_it, Node(unread)
        waits = "No worker answers now; it goes on when one does."
        return f"{has_it} {waits}", Node()
    return has_it, Node(trouble)


async def _woken(client: Client, event: HandedEvent) -> WorkflowHandle[Any, Any]:
    """Leave the event with the server."""
    return await client.start_workflow(
        THREAD_WORKFLOW,
        event.begin,
        id=event.workflow_id,
        task_queue=ORCHESTRATION,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        start_signal=WAKE,
        start_signal_args=[event.told],
    )


if __name__ == "__main__":
    _code = main()
    sys.stdout.flush()
    # A thread of the client may still be at work, and would abort a Python that takes itself apart.
    os._exit(_code)
