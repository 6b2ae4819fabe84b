"""Asks the process that started a visit to a thread before each step of the work."""

import os
from collections.abc import Mapping
from contextlib import suppress

from forge_bot.bot.worker_messages import ActionEnded, StepBegins, written

STEPS = "FORGE_BOT_STEPS"
"""Names two open files. Steps and outcomes of actions are written to the first, each as a message
of a worker. The second says when a step may begin.
"""


class StepGate:
    """Waits before each step until the process that started the visit lets it begin."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        out, _, back = environ.get(STEPS, "").partition(",")
        self._files = (int(out), int(back)) if out and back else None

    def begin(self, step: StepBegins) -> None:
        """Tell of a step, and wait until it may begin. Raises SystemExit where nobody listens any
        more: everything that was done lies on the remote or in the journal.
        """
        if self._files is None:
            return
        try:
            self._tell(step)
            answer = os.read(self._files[1], 1)
        except OSError:
            answer = b""
        if not answer:
            raise SystemExit(1)

    def ended(self, action: ActionEnded) -> None:
        """Report the outcome of the action of the last step."""
        # Who listens no more is noticed at the next step.
        with suppress(OSError):
            self._tell(action)

    def _tell(self, message: StepBegins | ActionEnded) -> None:
        if self._files is not None:
            os.write(self._files[0], written(message).encode())
