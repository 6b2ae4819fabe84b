"""The worker's side of the connection to its supervisor: its messages, and its waits."""

import os
import sys

from forge_bot.agent.agent_steps import WantedAction
from forge_bot.bot.worker_messages import (
    GO_ON,
    AnyMessage,
    Committed,
    LogMessage,
    StepBegins,
    written,
)
from forge_bot.runs.notifications import Notice, log_line


class Cancelled(Exception):
    """The supervisor asked the worker to stop."""


class Outbox:
    """The stream for messages; nothing else may be written to it."""

    def __init__(self) -> None:
        self._to = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
        # Whatever a library prints goes to the log.
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(self, message: AnyMessage) -> None:
        self._to.write(written(message))
        self._to.flush()

    def commit(self, head: str) -> None:
        """Report a commit, and wait until it is on the remote. Raises Cancelled."""
        self.send(Committed(head=head))
        self._wait()

    def begin(self, step: str, action: WantedAction | None) -> None:
        """Report a step, and wait until it may begin. Raises Cancelled."""
        self.send(StepBegins(step=step, action=action))
        self._wait()

    def _wait(self) -> None:
        if sys.stdin.readline() != GO_ON:
            raise Cancelled

    def tell(self, notice: Notice) -> None:
        """Pass a notice on to the log of the job."""
        if (line := log_line(notice)) is not None:
            self.send(LogMessage(text=line.text[:2_000], level=line.kind))
