"""Prepares a process, so that a command that only reads starts and ends quickly."""

import gc
import sys
from types import ModuleType

_NEW_OBJECTS = 300_000
"""Objects made until a collection looks through them. Imports make half as many, and all of them
stay: with Python's own 700 a `status` spends a tenth of its time on more than 100 collections."""


def start_quickly() -> None:
    """Let imports go on undisturbed. For the beginning of a process, before pydantic is there."""
    gc.set_threshold(_NEW_OBJECTS)
    _without_plugins()


def end_quickly() -> None:
    """End the process without freeing its memory.

    The interpreter would search all imported objects for garbage, which is a fifth of the time of a
    `status`.
    """
    gc.freeze()


def _without_plugins() -> None:
    """Keep pydantic from looking through all installed packages for plugins, of which forge-bot has
    none: that reads 36 modules. `PYDANTIC_DISABLE_PLUGINS` says the same, but only after they are
    read, and to every process that is started from here.
    """
    loader = ModuleType("pydantic.plugin._loader")
    vars(loader)["get_plugins"] = tuple
    sys.modules.setdefault(loader.__name__, loader)
