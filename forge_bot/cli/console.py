"""The console that every command prints on. Text of others is shown and never interpreted; a reader
that closes the pipe ends the output quietly.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console as RichConsole
from rich.segment import Segment

from forge_bot.cli.standard_streams import NobodyReads, make_visible, silence_output

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType


_BLANK = re.compile("&#8203;|\u200b")
"""Blanks of no width, which only GitHub needs."""

_WHOLE = 10_000
"""Characters of a line that is not wrapped."""


class Console(RichConsole):
    """rich's console, hardened against what it prints."""

    def __init__(self, *, stderr: bool = False) -> None:
        # What others wrote stays as it is: `:bug:` in a title is no emoji, a number has no colour.
        # The terminal wraps long lines, so that a command or a path is copied whole.
        super().__init__(stderr=stderr, soft_wrap=True, emoji=False, highlight=False)

    def render(
        self, renderable: "RenderableType", options: "ConsoleOptions | None" = None
    ) -> Iterable[Segment]:
        """Every text for the terminal comes through here, the living line and tables too."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(make_visible(segment.text), segment.style)

    def ask(self, text: str) -> str:
        """Return what a person types behind a text; behind one that is no question stands a
        colon.
        """
        from rich.prompt import Prompt

        prompt = Prompt(text, console=self, show_default=False)
        prompt.prompt_suffix = " " if text.endswith("?") else ": "
        return prompt(default="")

    def print_markdown(self, text: str) -> None:
        """Print Markdown rendered; in a log or a pipe each line stays whole."""
        # A command that shows nothing should not wait for what reads Markdown.
        from rich.markdown import Markdown

        shown = Markdown(_BLANK.sub("", text), code_theme="ansi_dark", hyperlinks=False)
        if self.is_terminal:
            self.print(shown, soft_wrap=False)
            return
        for line in self.render_lines(shown, self.options.update(width=_WHOLE), pad=False):
            self.print("".join(segment.text for segment in line).rstrip(), markup=False)

    def on_broken_pipe(self) -> None:
        """Nothing more is written, and the invocation ends by our own word for it instead of rich's
        SystemExit.
        """
        self.quiet = True
        silence_output()
        raise NobodyReads
