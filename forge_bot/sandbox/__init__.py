"""Run project commands in isolation.

A command has no secrets, has no network unless requested, writes only to permitted places, and has
limits. `choose` finds the backend that works on this machine; `run` runs one command in a Box and
returns its outcome. docs/sandbox.md lists the promises of each backend and their limits.
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
