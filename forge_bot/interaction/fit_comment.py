"""Comments that fit: parts with a bound of their own, and documents that share the rest of the
room.

GitHub refuses bodies above 65,536 characters. It does not document whether it counts code points or
UTF-16 units, so the larger number, UTF-16 units, is counted. 60,000 of them are below the limit
either way; in UTF-8 they are at most 180,000 bytes.
"""

import html
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from forge_bot.prompts import escape
from forge_bot.prompts.untrusted import clean_plain, what_is_hidden
from forge_bot.sentences import say
from forge_bot.values import Frozen

Tone = Literal["note", "tip", "important", "warning", "caution"]
"""GitHub's alerts, from blue to red."""

LIMIT = 60_000

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
class Papers:
    """Documents, folded, each as long as its share of the room (of `most` at the most) allows;
    where words are left out, a link follows.
    """

    papers: Sequence[Paper]
    most: int = LIMIT


@dataclass(frozen=True, slots=True)
class Rows:
    """Lines of a list or a table below `before`: as many as `room` allows, of which those behind a
    number are folded where a text has to be short. Below them the sentence `more` counts the rest,
    and says `where` it is. Empty without lines.
    """

    lines: Sequence[str]
    more: str
    before: str = ""
    where: str | None = None
    room: int = 6_000

    def shown(self, most: int = sys.maxsize) -> str:
        kept = self._limited(self.lines[:most], self.before, self.room)
        if not (rest := self.lines[most:]):
            return kept
        table = self.before if self.before.startswith("|") else ""
        folded = self._limited(rest, table, self.room - size(kept))
        return f"{kept}\n\n{fold(say('words.more', count=len(rest)), folded)}"

    def _limited(self, lines: Sequence[str], before: str, room: int) -> str:
        shown, left = list[str](), room
        for line in lines:
            left -= size(line) + 1
            if left < 0:
                break
            shown.append(line)
        body = before + "\n".join(shown) if lines else ""
        if not (rest := len(lines) - len(shown)):
            return body
        if self.where is None:
            return f"{body}\n\n_{say(self.more, count=rest)}_"
        return f"{body}\n\n_{say(self.more, count=rest, where=self.where)}_"


def size(text: str) -> int:
    """Return the length as GitHub may count it: in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def compose(
    parts: Iterable[str | Papers | Rows], limit: int = LIMIT, *, rows: int = sys.maxsize
) -> str:
    """Return the parts, an empty line between them. Documents share what the others leave of the
    limit, in their order. Lists show `rows` lines, and fold the others.
    """
    texts = (part.shown(rows) if isinstance(part, Rows) else part for part in parts)
    given = [part for part in texts if part]
    room = limit - sum(size(part) + 2 for part in given if isinstance(part, str))
    shown: list[str] = []
    for part in given:
        text = show_papers(part, room) if isinstance(part, Papers) else part
        room -= size(text) + 2 if isinstance(part, Papers) else 0
        shown.append(text.strip("\n"))
    return "\n\n".join(filter(None, shown)) + "\n"


def show_papers(part: Papers, room: int) -> str:
    """Return documents for so much room, as `size` counts: each gets an equal share of what those
    before it left. Empty without any.
    """
    shown, left = list[str](), max(0, min(room, part.most))
    for place, paper in enumerate(part.papers):
        shown.append(_beginning(paper, left // (len(part.papers) - place) - 2))
        left -= size(shown[-1]) + 2
    return "\n\n".join(shown)


def _beginning(paper: Paper, room: int) -> str:
    """Return a document, the first sections of it that fit, or a link to it where none does."""
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


# -- boxes and folds
# --------------------------------------------------------------------------------------------------


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
