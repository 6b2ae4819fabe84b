"""Asks the process that started a visit to a thread before each step of the work."""

import os
from collections.abc import Mapping

STEPS = "FORGE_BOT_STEPS"
"""Names two open files: one that steps are written to, one that says when each may begin."""


class StepGate:
    """Waits before each step for whoever wants to count it as a piece of work of its own."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        out, _, back = environ.get(STEPS, "").partition(",")
        self._files = (int(out), int(back)) if out and back else None

    def begin(self, step: str) -> None:
        """Tell of a step, and wait until it may begin. Raises SystemExit where nobody listens any
        more: everything that was done lies on the remote or in the journal.
        """
        if self._files is None:
            return
        out, back = self._files
        try:
            os.write(out, f"{step}\n".encode())
            told = os.read(back, 1)
        except OSError:
            told = b""
        if not told:
            raise SystemExit(1)
