"""Project commands in isolation: without secrets, without network unless asked, writing only where they may, within limits.

`choose` finds out what works on this machine, `run` runs one command in a Box and says how it ended. docs/sandbox.md tells what
each backend promises and what it does not.
"""

from forge_bot.sandbox.backends import available, cannot_judge, choose, run
from forge_bot.sandbox.box import BackendName, Box, CommandOutcome, ResourceLimits

__all__ = ["BackendName", "Box", "CommandOutcome", "ResourceLimits", "available", "cannot_judge", "choose", "run"]
