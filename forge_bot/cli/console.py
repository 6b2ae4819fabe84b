"""The console that every command prints on. Text of others is shown and never interpreted; a reader
that closes the pipe ends the output quietly.
"""

import os
import re
import select
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console as RichConsole
from rich.segment import Segment
from rich.text import Text

from forge_bot.cli.standard_streams import NobodyReads, silence, visible

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType
    from rich.text import TextType

_BEGINNING = re.compile(r" *(?:[✓✗↻·!→⚠…] +)?(?:\S.{,13}? {2,})?")
"""The indentation of a line, its mark, and the name in front of a column."""

_BLANKS = re.compile(r" +(?!s$)")
"""Where a line may be broken: not before the `s` of seconds at its end."""

_TYPED = re.compile(
    r"`[^`\n]+`|\b(?:cd|git) [^\n]*&&[^\n]*"
    r"|\bforge-bot (?:--)?[a-z][a-z-]*(?: \"[^\"\n]*\"| --[a-z-]+(?:[ =][A-Z]+)?)*"
)
"""A command that somebody may copy."""


def _breaks(text: str, start: int, width: int) -> Iterator[int]:
    """Yield the places at which a line is broken, so that no part is wider than `width` if it has a
    blank outside of commands; all parts but the first are indented by `start`.
    """
    typed = [found.span() for found in _TYPED.finditer(text)]
    blanks = [found.span() for found in _BLANKS.finditer(text, start)]
    words = [end for at, end in blanks if not any(low < at < high for low, high in typed)]
    begin, indent = 0, 0
    for place, end in pairwise([*words, len(text)]):
        if place > start and indent + cell_len(text[begin:end].rstrip()) > width:
            yield place
            begin, indent = place, start


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

    def ask(self, text: str) -> str:
        """Return what a person types behind a text; behind one that is no question stands a
        colon.
        """
        from rich.prompt import Prompt

        prompt = Prompt(text, console=self, show_default=False)
        prompt.prompt_suffix = " " if text.endswith("?") else ": "
        return prompt(default="")

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as rich does. At a terminal a line that is too long is broken between words, below
        its own beginning; commands, paths and addresses stay whole, to be copied. With `no_wrap`
        the terminal breaks it anywhere.
        """
        broken = (
            self.is_terminal
            and options.get("soft_wrap") is not False
            and not options.get("no_wrap")
            and options.get("markup") is not False
            and len(objects) == 1
            and isinstance(objects[0], str)
        )
        if broken:
            objects, options = (self._broken(objects[0]),), options | {"soft_wrap": True}
        super().print(*objects, **options)

    def _broken(self, markup: str) -> Text:
        """Break each line between words."""
        lines: list[Text] = []
        for line in self.render_str(markup).split("\n", allow_blank=True):
            start = found.end() if (found := _BEGINNING.match(line.plain)) else 0
            first, *others = line.divide(list(_breaks(line.plain, start, self.width)))
            first.rstrip()
            lines.append(first)
            for each in others:
                each.rstrip()
                lines.append(Text.assemble(" " * start, each))
        return Text("\n").join(lines)

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
