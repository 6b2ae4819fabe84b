"""`python -m forge_bot.temporal.action_door`: the step of the Action that hands an event to a
Temporal server.

It comes after the gate, with the client of Temporal and nothing else installed. It starts or wakes
the workflow of the issue, and ends.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from forge_bot.errors import ForgeError, TemporalRefused, TemporalUnavailable
from forge_bot.gate import outputs
from forge_bot.gate.environment_variables import (
    INPUT_VARIABLES,
    read_inputs,
    read_step_context,
)
from forge_bot.gate.json_payload import read_json
from forge_bot.gate.workflow_step import tell_thread
from forge_bot.sentences import hint_of, say
from forge_bot.temporal.thread_address import (
    THREAD_WORKFLOW,
    WAKE,
    make_forge_error,
    thread_queue,
    thread_workflow_id,
)

_SECONDS = 15.0


_ADVICE: dict[type[ForgeError], str] = {
    TemporalUnavailable: "temporal.action_door.check_the_address",
    TemporalRefused: "temporal.action_door.check_the_namespace",
}


def main(environ: Mapping[str, str] = os.environ) -> int:
    """Hand the event to the server; return 0 unless the server cannot be reached."""
    try:
        inputs, around = read_inputs(environ), read_step_context(environ)
    except ForgeError as error:
        outputs.error(f"{error.code}: {error.message} {hint_of(error)}")
        return error.exit_code
    event = HandedEvent(environ, around.repository)
    try:
        summary = asyncio.run(_hand_over(event))
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
    outputs.write_outputs(
        environ["GITHUB_OUTPUT"], {"outcome": "working", "issue": str(event.issue)}
    )
    outputs.write_summary(environ.get("GITHUB_STEP_SUMMARY", ""), summary)
    outputs.notice(summary)
    return 0


class HandedEvent:
    """An event that the gate let in, as the workflow takes it: ids, and what a request is frozen
    from.
    """

    def __init__(self, environ: Mapping[str, str], repository: str) -> None:
        with open(environ["GITHUB_EVENT_PATH"], "rb") as file:  # noqa: PTH123 - no pathlib here
            payload = read_json(file.read())
        self._environ = environ
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
    def told(self) -> dict[str, Any]:
        """Return the message to the workflow."""
        return {
            "wake": self._wake.value,
            "inputs": {
                name: self._environ[name] for name in INPUT_VARIABLES if self._environ.get(name)
            },
            "job": self._environ.get("GITHUB_RUN_ID", ""),
            "event": self._freeze_issue(),
        }

    def _freeze_issue(self) -> str:
        issue = self._payload["issue"]
        if issue.number("number") is None or issue.at("pull_request").exists:
            return ""
        labels = [{"name": label.text("name")} for label in issue.items("labels")]
        kept = {"number": issue.number("number"), "title": issue.text("title"), "labels": labels}
        return json.dumps({"issue": {**kept, "body": issue.text("body")}})


async def _hand_over(event: HandedEvent) -> str:
    """Start or wake the workflow, which keeps the event until a worker takes it; return a sentence
    about it.

    Raises TemporalUnavailable, TemporalRefused.
    """
    from temporalio.envconfig import ClientConfig

    known = ClientConfig.load_client_connect_config()
    address, namespace = known.get("target_host", ""), known.get("namespace", "default")
    silent = f"The Temporal server at {address} does not answer."
    try:
        async with asyncio.timeout(_SECONDS):
            client = await Client.connect(**known)
            silent = f"The Temporal server at {address} was lost while it was told of this."
            await client.start_workflow(
                THREAD_WORKFLOW,
                event.begin,
                id=event.workflow_id,
                task_queue=thread_queue(event.server, event.repository),
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                start_signal=WAKE,
                start_signal_args=[event.told],
                static_summary=f"{event.repository}#{event.issue}",
            )
    except RPCError as error:
        refused = make_forge_error(error, address, namespace)
        if isinstance(refused, TemporalUnavailable):
            raise TemporalUnavailable(silent) from error
        raise refused from error
    except (RuntimeError, TimeoutError) as error:
        raise TemporalUnavailable(silent) from error
    return f"{event.workflow_id} has it. A worker goes on with it."


if __name__ == "__main__":
    _code = main()
    sys.stdout.flush()
    # A thread of the client may still be at work, and would abort a Python that takes itself apart.
    os._exit(_code)
