"""Traces which files of forge-bot a process enters, and from which file each call comes."""

import atexit
import os
import sys
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

FOLDER = "FORGE_BOT_CALL_TRACE"
"""The variable that names the folder where each traced process leaves its moves."""

_IMPORTS = {"<module>", "_call_with_frames_removed", "exec_module"}

Move = tuple[str, str]
"""A file that calls, or nothing where a library does, and the file that is called."""


class CallTrace:
    """The moves between files while it is on."""

    def __init__(self, package: Path) -> None:
        """Make a trace of the files below a folder, switched off."""
        self._below = f"{package}{os.sep}"
        self.on = False
        self.moves: set[Move] = set()
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    def _see(self, frame: FrameType, event: str, _given: Any) -> None:
        if event != "call" or not self.on or not frame.f_code.co_flags & CO_OPTIMIZED:
            return
        entered = frame.f_code.co_filename
        caller = frame.f_back.f_code if frame.f_back is not None else None
        if not entered.startswith(self._below):
            return
        # What a module does while it is imported is no call of a journey.
        if caller is not None and caller.co_name in _IMPORTS:
            return
        left = caller.co_filename if caller is not None else ""
        if entered != left:
            self.moves.add((left if left.startswith(self._below) else "", entered))


def trace_this_process(package: Path) -> None:
    """Trace this process to its end, and leave its moves in the folder."""
    trace = CallTrace(package)
    trace.on = True

    def leave() -> None:
        trace.on = False
        text = "".join(f"{left}\t{entered}\n" for left, entered in sorted(trace.moves))
        (Path(os.environ[FOLDER]) / str(os.getpid())).write_text(text, encoding="utf-8")

    atexit.register(leave)


def moves_in(folder: Path) -> set[Move]:
    """Return the moves that traced processes left."""
    lines = (line for each in folder.iterdir() for line in each.read_text("utf-8").splitlines())
    return {(left, entered) for left, _, entered in (line.partition("\t") for line in lines)}
