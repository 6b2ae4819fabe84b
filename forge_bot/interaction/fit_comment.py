"""Comments that fit: fixed words, and parts that use the remaining room.

GitHub refuses bodies above 65,536 characters. It does not document whether it counts code points or
UTF-16 units, so the larger number, UTF-16 units, is counted. 60,000 of them are below the limit
either way; in UTF-8 they are at most 180,000 bytes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import Field

from forge_bot.interaction.folded_sections import fold, title
from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import what_is_hidden
from forge_bot.sentences import say
from forge_bot.values import Frozen

LIMIT = 60_000

SHORTEST_ROOM = 600
"""The room that is reserved for each later part, so that it can at least name the place of its
content.
"""

_SECTION = re.compile(r"\n(?=#{1,6} )")
"""Where a document may be cut: before a heading, so that no finding is shown in part."""
_LINE = re.compile(r"\n")


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


@dataclass(frozen=True, slots=True)
class LinesPart:
    """Lines below `before`, of which as many are shown as fit into the room and into
    `most`; below them the sentence `more` counts the rest, and says `where` it is.

    `note` stands below all of it in any case. With a `label` all of it is folded.
    """

    lines: Sequence[str]
    more: str = ""
    where: str | None = None
    before: str = ""
    most: int = 10_000
    slanted: bool = True
    note: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class PapersPart:
    """Documents, folded, each as long as its share of the room (of `most` at the most) allows;
    where words are left out, a link follows.
    """

    papers: Sequence[Paper]
    most: int = LIMIT


Part = str | LinesPart | PapersPart
"""A part of a comment: fixed words, or what takes as much room as is left."""


def size(text: str) -> int:
    """Length as GitHub may count it: UTF-16 units, of which a code point has one or two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def compose(parts: Iterable[Part], limit: int = LIMIT) -> str:
    """The parts, an empty line between them, within the limit. Fixed parts come first to their
    room, then the others in their order.
    """
    given = [part for part in parts if part]
    room = limit - sum(size(part) for part in given if isinstance(part, str)) - 2 * len(given)
    waiting = sum(not isinstance(part, str) for part in given)
    shown: list[str] = []
    for part in given:
        if isinstance(part, str):
            shown.append(part)
            continue
        waiting -= 1
        text = fitted(part, max(0, room - waiting * SHORTEST_ROOM))
        room -= size(text)
        shown.append(text)
    return "\n\n".join(text.strip("\n") for text in shown if text.strip("\n")) + "\n"


def fitted(part: LinesPart | PapersPart, room: int) -> str:
    """Return Markdown for so much room, as `size` counts; empty without anything to say."""
    if isinstance(part, PapersPart):
        return _papers(part.papers, min(room, part.most))
    if part.label:
        body = _lines(part, room - len(fold(part.label, "")))
        return fold(part.label, body) if body else ""
    if part.note:
        return f"{_lines(part, room - len(part.note) - 2)}\n\n{part.note}"
    return _lines(part, room)


def _lines(part: LinesPart, room: int) -> str:
    if not part.lines:
        return ""
    left = min(room, part.most) - size(part.before)
    left -= size(_more(part, len(part.lines))) + 6
    shown: list[str] = []
    for line in part.lines:
        left -= size(line) + 1
        if left < 0:
            break
        shown.append(line)
    rest = _more(part, len(part.lines) - len(shown)) if len(shown) < len(part.lines) else ""
    if not shown:
        return rest if size(rest) <= room else ""
    body = part.before + "\n".join(shown)
    return f"{body}\n\n{rest}" if rest else body


def _more(part: LinesPart, count: int) -> str:
    text = (
        say(part.more, count=count)
        if part.where is None
        else say(part.more, count=count, where=part.where)
    )
    return f"_{text}_" if part.slanted else text


def shares(sizes: Sequence[int], room: int) -> tuple[int, ...]:
    """Divide the room: small parts get all they need, and large ones equal shares of the rest."""
    given = [0] * len(sizes)
    left, waiting = max(room, 0), len(sizes)
    for place in sorted(range(len(sizes)), key=lambda place: sizes[place]):
        given[place] = min(sizes[place], left // waiting)
        left -= given[place]
        waiting -= 1
    return tuple(given)


def _papers(documents: Sequence[Paper], room: int) -> str:
    whole = [_shown(paper, paper.text) if len(paper.text) <= room else "" for paper in documents]
    rooms = shares([size(text) + 2 if text else room + 1 for text in whole], room)
    return "\n\n".join(
        text if text and size(text) <= share - 2 else _beginning(paper, share - 2)
        for paper, text, share in zip(documents, whole, rooms, strict=True)
    )


def _beginning(paper: Paper, room: int) -> str:
    """Return the first sections of a document that fit, or a link to it where none does."""
    sections = (_LINE if paper.language else _SECTION).split(paper.text)
    while sections:
        kept = "\n".join(sections)
        if len(kept) <= room and size(text := _shown(paper, kept)) <= room:
            return text
        del sections[-max(1, len(sections) // 20) :]
    where = _link(paper) if paper.url else escape.code(paper.name)
    return say("documents.no_room", document=where, characters=len(paper.text))


def _shown(paper: Paper, kept: str) -> str:
    note, body = _body(paper, kept)
    link = _link(paper) if paper.url else ""
    if left := len(paper.text) - len(kept):
        where = say("documents.all_of_it", link=link) if link else ""
        link = say("documents.more_characters", left=left) + where
    return fold(
        title(paper.name, paper.about),
        "\n\n".join([body, *(f"<sub>{part}</sub>" for part in (note, link) if part)]),
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


def _link(paper: Paper) -> str:
    # GitHub renders a document unless it is asked for its text.
    plain = "?plain=1" if not paper.language and what_is_hidden(paper.text) else ""
    return f"[{escape.plain(paper.name)}]({paper.url}{plain})"
