"""Run project commands in isolation.

A command has no secrets, has no network unless requested, writes only where it may, and has limits.
`choose` finds the backend that works on this machine; `run` runs one command in a Box and returns
how it ended. docs/sandbox.md lists what each backend promises and what it does not.
"""

from forge_bot.sandbox.backends import available, cannot_judge, choose, failure_reason, run
from forge_bot.sandbox.box import BackendName, Box, CommandOutcome, ResourceLimits

__all__ = [
    "BackendName",
    "Box",
    "CommandOutcome",
    "ResourceLimits",
    "available",
    "cannot_judge",
    "choose",
    "failure_reason",
    "run",
]
