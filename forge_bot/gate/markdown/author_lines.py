"""A comment as lines, with those marked in which its author speaks."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from forge_bot.gate.markdown.block_lines import Leaf, LineKind, TooDeep, read_leaves
from forge_bot.gate.markdown.mail import mail_begins
from forge_bot.gate.markdown.open_elements import lines_inside, tags_of_block
from forge_bot.gate.markdown.spans import InlineTag, read_spans

_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Text:
    """The lines of a comment; the numbers of those that speak; and where the text of the author
    ends, before a copied mail.
    """

    lines: tuple[str, ...]
    speaking: frozenset[int]
    end: int


def read_text(body: str) -> Text:
    """Every line outside of quotes, code, HTML, link definitions and copied mails speaks. Read as
    GitHub shows it, or stricter.
    """
    lines = tuple(_LINE_END.split(body))
    try:
        readings = [read_leaves(lines, eager=eager) for eager in (True, False)]
    except TooDeep:
        return Text(lines, frozenset(), 0)
    speaking = _own_lines(readings[0], len(lines)) & _own_lines(readings[1], len(lines))
    mail = mail_begins(lines, _prose(readings[0]).__contains__)
    end = len(lines) if mail is None else mail
    return Text(lines, frozenset(number for number in speaking if number < end), end)


def _prose(leaves: Sequence[Leaf]) -> set[int]:
    return {
        number
        for leaf in leaves
        if leaf.kind is LineKind.TEXT and not leaf.quoted
        for number in leaf.numbers
    }


def _own_lines(leaves: Sequence[Leaf], lines: int) -> set[int]:
    speaking, tags, torn = _spoken(leaves)
    hidden = lines_inside(tags, lines)
    return {number for number in speaking if number < torn and number not in hidden}


def _spoken(leaves: Sequence[Leaf]) -> tuple[set[int], list[InlineTag], int]:
    """The lines of prose, all tags outside of quotes, and the line from which a broken tag may have
    swallowed everything.
    """
    speaking: set[int] = set()
    tags: list[InlineTag] = []
    torn = sys.maxsize
    for leaf in leaves:
        if leaf.kind is LineKind.TEXT:
            spans = read_spans(leaf.lines)
            broken = spans.torn
            found = [InlineTag(leaf.numbers[tag.line], tag.name, tag.opens) for tag in spans.tags]
            if not leaf.quoted and not leaf.defines:
                speaking.update(
                    number for place, number in enumerate(leaf.numbers) if place not in spans.hidden
                )
        elif leaf.kind is LineKind.HTML:
            found, broken = tags_of_block(leaf.numbers, leaf.lines)
        else:
            continue
        torn = min(torn, leaf.numbers[0]) if broken else torn
        # A quote closes what was opened inside of it.
        tags.extend(found if not leaf.quoted else ())
    return speaking, tags, torn
