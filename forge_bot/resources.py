"""Finds the templates: beside this file in a wheel, beside the package in a checkout. What is made
of one is kept beside it, as Python keeps compiled modules.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

_PACKAGE = Path(__file__).parent


def templates() -> Path:
    """Folder with `pipelines/`, `prompts/` and `demo/`."""
    packaged = _PACKAGE / "templates"
    return (
        packaged
        if packaged.is_dir() and not (_PACKAGE.parent / "templates").is_dir()
        else _PACKAGE.parent / "templates"
    )


def compiled_place(file: Path, suffix: str) -> Path:
    """Return where the compiled form of a file of the templates is kept."""
    from importlib.util import cache_from_source

    return file.parent.joinpath(cache_from_source(file)).with_suffix(suffix)


def keep_compiled(place: Path, content: bytes) -> None:
    """Write a compiled form, whole or not at all; nowhere where Python writes no bytecode or the
    folder cannot be written.
    """
    if sys.dont_write_bytecode:
        return
    beside = place.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(place)
