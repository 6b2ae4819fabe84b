"""Boxes and folded sections of a comment, and documents in them as far as there is room."""

import html
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from forge_bot.interaction.fit_comment import Flexible, shares, size
from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import clean_plain, what_is_hidden
from forge_bot.sentences import say
from forge_bot.values import Frozen

Tone = Literal["note", "tip", "important", "warning", "caution"]
"""GitHub's alerts, from blue to red."""

_SMALLEST = 400
"""Room below which a document is not begun: a link says more than three lines."""

_SHRINK = 0.9


class Paper(Frozen):
    """A document as it is shown in a comment."""

    name: str
    about: str = Field(default="", description="what it is, in a few words")
    text: str
    url: str = Field(default="", description="where all of it can be read")
    language: str = Field(
        default="", description="set for what is code from beginning to end, such as a patch"
    )
    open: bool = False


def alert(tone: Tone, text: str) -> str:
    """A coloured box. Where nobody draws it, it is a quotation that begins with the tone."""
    lines = [f"> {line}".rstrip() for line in text.strip("\n").split("\n")]
    return "\n".join([f"> [!{tone.upper()}]", *lines])


def fold(label: str, body: str, *, open_: bool = False) -> str:
    """A part that is closed. `label` is HTML as `title` makes it, `body` is Markdown that ends what
    it opens.
    """
    tag = "<details open>" if open_ else "<details>"
    return f"{tag}<summary>{label}</summary>\n\n{body.strip(chr(10))}\n\n</details>"


def title(name: str, about: str = "") -> str:
    """HTML for a summary line, from plain words."""
    return f"<b>{words(name)}</b>{f' · {words(about)}' if about else ''}"


def words(text: str) -> str:
    """Plain words as HTML in which nothing acts."""
    return escape.separate_signs(html.escape(" ".join(clean_plain(text).text.split()), quote=False))


def papers(documents: Sequence[Paper]) -> Flexible:
    """The documents, folded, each as long as its share of the room allows; where words are left
    out, a link follows.
    """

    def fitted(room: int) -> str:
        whole = [
            _shown(paper, len(paper.text)) if len(paper.text) <= room else "" for paper in documents
        ]
        rooms = shares([size(text) + 2 if text else room + 1 for text in whole], room)
        return "\n\n".join(
            _within(paper, text, share - 2)
            for paper, text, share in zip(documents, whole, rooms, strict=True)
        )

    return fitted


def _within(paper: Paper, whole: str, room: int) -> str:
    if whole and size(whole) <= room:
        return whole
    length = min(len(paper.text), room)
    while length > _SMALLEST:
        text = _shown(paper, length)
        if size(text) <= room:
            return text
        length = int(length * min(_SHRINK, room / size(text)))
    return _pointer(paper)


def _shown(paper: Paper, length: int) -> str:
    kept, left = _beginning(paper.text, length)
    note, body = _body(paper, kept)
    below = [part for part in (note, _rest(paper, left) if left else _source(paper)) if part]
    return fold(
        title(paper.name, paper.about),
        "\n\n".join([body, *(f"<sub>{each}</sub>" for each in below)]),
        open_=paper.open,
    )


def _body(paper: Paper, kept: str) -> tuple[str, str]:
    if not kept.strip():
        return "", f"_{say('documents.file_is_empty')}_"
    if paper.language:
        return "", escape.show_source(kept, paper.language)
    if unseen := what_is_hidden(paper.text):
        return say("documents.shown_as_written", unseen=unseen), escape.show_source(kept)
    return "", escape.document(kept).text


def _beginning(text: str, length: int) -> tuple[str, int]:
    """Whole lines from the beginning, and how many characters are left out."""
    if length >= len(text):
        return text, 0
    kept = text[:length]
    kept = kept[: kept.rfind("\n") + 1] or kept
    return kept, len(text) - len(kept)


def _rest(paper: Paper, left: int) -> str:
    where = say("documents.all_of_it", link=_link(paper)) if paper.url else ""
    return say("documents.more_characters", left=left) + where


def _source(paper: Paper) -> str:
    return _link(paper) if paper.url else ""


def _pointer(paper: Paper) -> str:
    """Return the line for a document that had no room."""
    where = _link(paper) if paper.url else escape.code(paper.name)
    return say("documents.no_room", document=where, characters=len(paper.text))


def _link(paper: Paper) -> str:
    # GitHub renders a document unless it is asked for its text.
    plain = "?plain=1" if not paper.language and what_is_hidden(paper.text) else ""
    return f"[{escape.plain(paper.name)}]({paper.url}{plain})"
