"""The console that every command prints on. Text of others is shown and never interpreted; a reader
that closes the pipe ends the output quietly.
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console as RichConsole
from rich.segment import Segment

from forge_bot.cli.standard_streams import NobodyReads, silence, visible

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType
    from rich.text import TextType


def _wait_for_a_line() -> None:
    """Return when standard input has a line. A signal's handler runs at once.

    To read without this would miss a signal that comes just before: it is noted, and read(2) waits
    all the same (`signal.set_wakeup_fd`).
    """
    if threading.current_thread() is not threading.main_thread():
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        while sys.stdin not in select.select([sys.stdin, reader], [], [])[0]:
            os.read(reader, 1)
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)


class Console(RichConsole):
    """rich's console, hardened against what it prints."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False) -> None:
        # What others wrote stays as it is: `:bug:` in a title is no emoji, a number has no colour.
        super().__init__(stderr=stderr, soft_wrap=soft_wrap, emoji=False, highlight=False)

    def render(
        self, renderable: "RenderableType", options: "ConsoleOptions | None" = None
    ) -> Iterable[Segment]:
        """Every text for the terminal comes through here, the living line and tables too."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def input(self, prompt: "TextType" = "", **options: Any) -> str:
        """Wait for a line after the prompt is printed, and for a signal as well."""
        self.print(prompt, end="")
        _wait_for_a_line()
        return super().input(**options)

    def on_broken_pipe(self) -> None:
        """Nothing more is written, and the invocation ends by our own word for it instead of rich's
        SystemExit.
        """
        self.quiet = True
        silence()
        raise NobodyReads
