"""The console that every command prints on. Text of others is shown and never interpreted."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console as RichConsole
from rich.segment import Segment

# Characters that drive a terminal (C0 without tab and line feed, DEL, C1), that turn the direction
# in which a line is read (Unicode TR36, "Bidirectional Text Spoofing"), or that no encoding can
# write (halves of surrogate pairs).
_DRIVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PICTURES = 0x2400
_DELETE, _C0_END = 0x7F, 0x20
"""Unicode's block of pictures for control characters, in the order of ASCII."""

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


def make_visible(text: str) -> str:
    """The text with characters that would drive a terminal replaced by signs that are only seen."""
    return _DRIVING.sub(_sign, text) if _DRIVING.search(text) else text


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == _DELETE:
        return "␡"
    return chr(_PICTURES + code) if code < _C0_END else "\ufffd"
