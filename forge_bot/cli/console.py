"""The console that every command prints on. Text of others is shown and never interpreted."""

import re
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

from rich.console import Console as RichConsole
from rich.segment import Segment

# Characters that drive a terminal (C0 without tab and line feed, DEL, C1), that turn the direction
# in which a line is read (Unicode TR36, "Bidirectional Text Spoofing"), or that no encoding can
# write (halves of surrogate pairs), with what is shown for them: Unicode's pictures for control
# characters have the order of ASCII.
_NO_PICTURE = (
    range(0x80, 0xA0),
    range(0x202A, 0x202F),
    range(0x2066, 0x206A),
    range(0xD800, 0xE000),
)
_SEEN = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "␡",
    **dict.fromkeys(chain(*_NO_PICTURE), "\ufffd"),
}

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
            seen = segment.text.translate(_SEEN)
            yield segment if segment.control else Segment(seen, segment.style)

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
