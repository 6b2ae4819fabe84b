"""The parts of a worker's work, and how much of it is done at the same time."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

_LOOK = 0.2


class WorkerPart(StrEnum):
    """One part of the work, with a task queue of its own."""

    ORCHESTRATION = "orchestration"
    """Workflows: which step comes next. No clone, no key, no token."""
    EXECUTION = "execution"
    """Steps: models, lookups, project commands, commits."""
    PUBLISHING = "publishing"
    """Recording, pushing, and everything visible outside."""


@dataclass(frozen=True)
class WorkerDuty:
    """The parts that a worker takes, and how many steps at once; `in_all` 0 is as many as fit."""

    parts: frozenset[WorkerPart] = frozenset(WorkerPart)
    in_all: int = 0
    in_each_clone: int = 8


class StepRoom:
    """Room for so many steps of all clones of a worker; without a limit for `most` 0."""

    def __init__(self, most: int) -> None:
        self._room = threading.BoundedSemaphore(most) if most else None

    @contextmanager
    def one(self, meanwhile: Callable[[], None]) -> Generator[None]:
        """Take one place for the time of the block; call `meanwhile` until a place is free."""
        if self._room is None:
            yield
            return
        while not self._room.acquire(timeout=_LOOK):
            meanwhile()
        try:
            yield
        finally:
            self._room.release()
