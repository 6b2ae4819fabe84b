"""Import the SDK without what a server over stdio does not need before its first answer.

The SDK defines about 550 pydantic models for two versions of the protocol, and a session uses few
of them.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module

_OPTIONAL = ("rich", "uvicorn")
"""Packages that the SDK, or what it imports, tries to import and can do without: one colours logs,
one serves HTTP."""


def import_for_stdio() -> None:
    """Import the SDK's server, if it is not there yet."""
    with _models_built_when_used(), without_optional_packages():
        import_module("mcp.server.stdio")


@contextmanager
def without_optional_packages() -> Generator[None]:
    """Let imports of optional packages fail meanwhile, unless they are there already: None in
    `sys.modules` is the import system's documented sign for a module that is not to be found.
    """
    hidden = [name for name in _OPTIONAL if name not in sys.modules]
    for name in hidden:
        # The stubs know modules alone; the import system's documentation has None.
        sys.modules[name] = None  # pyright: ignore[reportArgumentType]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


@contextmanager
def _models_built_when_used() -> Generator[None]:
    """Let pydantic build the models and type adapters that are defined meanwhile at their first
    use. That is its documented setting `defer_build` (`ConfigDict`, "Whether to defer model
    validator and serializer construction until the first model validation"), which a class has
    from its base.

    A type adapter of a union has no base that could set it, so the private property that reads the
    setting is replaced meanwhile. Where pydantic has it no longer, adapters are built at once.
    """
    from pydantic import BaseModel, ConfigDict, TypeAdapter

    usual, name = BaseModel.model_config, "_defer_build"
    late = vars(TypeAdapter).get(name)
    BaseModel.model_config = ConfigDict(defer_build=True)
    if late is not None:
        setattr(TypeAdapter, name, True)
    try:
        yield
    finally:
        BaseModel.model_config = usual
        if late is not None:
            setattr(TypeAdapter, name, late)
