"""Boxes and folded sections of a comment."""

import html
from typing import Literal

from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import clean_plain

Tone = Literal["note", "tip", "important", "warning", "caution"]
"""GitHub's alerts, from blue to red."""


def alert(tone: Tone, text: str) -> str:
    """A coloured box. Without GitHub's rendering it is a quotation that begins with the tone."""
    lines = [f"> {line}".rstrip() for line in text.strip("\n").split("\n")]
    return "\n".join([f"> [!{tone.upper()}]", *lines])


def fold(label: str, body: str, *, open_: bool = False) -> str:
    """Return a folded part. `label` is HTML from `title`; `body` is Markdown that closes every
    block it opens.
    """
    tag = "<details open>" if open_ else "<details>"
    return f"{tag}<summary>{label}</summary>\n\n{body.strip(chr(10))}\n\n</details>"


def title(name: str, about: str = "") -> str:
    """HTML for a summary line, from plain words."""
    return f"<b>{words(name)}</b>{f' · {words(about)}' if about else ''}"


def words(text: str) -> str:
    """Plain words as HTML in which nothing acts."""
    return escape.separate_signs(html.escape(" ".join(clean_plain(text).text.split()), quote=False))
