"""Prepares a process, so that a command that only reads starts and ends quickly."""

import gc
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_NEW_OBJECTS = 300_000
"""Objects made until a collection looks through them. Imports make half as many, and all of them
stay: with Python's own 700 a `status` spends a tenth of its time on more than 100 collections."""

_SELDOM_CALLED = frozenset({"__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"})
"""Methods that a dataclass gets, and that few of its objects are ever asked for."""


def start_quickly() -> None:
    """Let imports go on undisturbed. For the beginning of a process, before pydantic is there."""
    gc.set_threshold(_NEW_OBJECTS)
    _without_plugins()
    _compile_methods_when_called()


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


def _compile_methods_when_called() -> None:
    """Let dataclasses compile the text of such a method when it is called first.

    Python compiles six functions for each frozen class, which is a tenth of the imports of a
    working command. Later versions (3.13) compile them together and have no such function; there
    nothing changes.
    """
    import dataclasses

    private = "_create_fn"
    if private not in vars(dataclasses):
        return
    compiled: Callable[..., Callable[..., Any]] = getattr(dataclasses, private)

    def created(name: str, args: Any, body: Any, **more: Any) -> Callable[..., Any]:
        if name not in _SELDOM_CALLED:
            return compiled(name, args, body, **more)
        method: Callable[..., Any] | None = None

        def late(self: object, *others: object) -> Any:
            nonlocal method
            if method is None:
                method = compiled(name, args, body, **more)
            return method(self, *others)

        late.__name__ = name
        return late

    setattr(dataclasses, private, created)
