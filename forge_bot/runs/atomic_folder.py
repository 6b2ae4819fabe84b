"""Folders that are there whole or not at all."""

import shutil
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_folder(made: Collection[Path]) -> Generator[None]:
    """Take these new folders away again if the block that fills them fails, each with the folder
    above it if that is empty then.
    """
    try:
        yield
    except BaseException:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                folder.parent.rmdir()
        raise
