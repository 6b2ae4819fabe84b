"""HTML elements that are still open where a line stands: the folded, the quoted, the struck out,
and all others.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from forge_bot.gate.markdown.html_blocks import BLOCK_ELEMENTS, COMMENT, TAG
from forge_bot.gate.markdown.spans import InlineTag

_VOID = {"base", "basefont", "col", "frame", "hr", "link", "meta", "param", "source", "track"}
_INLINE_NAMES = (
    "a abbr audio b bdi bdo big button canvas cite code data del dfn em font i ins kbd label map"
    " mark math meter noembed noscript object output picture plaintext pre progress q rp rt ruby s"
    " samp script select slot small span strike strong style sub sup svg template textarea time tt"
    " u var video xmp"
)
# Browsers end a paragraph by themselves, so nothing stays inside of it.
_KNOWN = (BLOCK_ELEMENTS | frozenset(_INLINE_NAMES.split())) - _VOID - {"p"}

# What looks like a tag inside of these is none, until their own end.
_VERBATIM = {
    "script",
    "style",
    "textarea",
    "title",
    "xmp",
    "iframe",
    "noembed",
    "noframes",
    "plaintext",
}
_MOST_ALIKE = 3
_STYLES = {"a", "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"}

_ANYTHING = re.compile(r"<(?=[A-Za-z/!?])")


def tags_of_block(numbers: Sequence[int], lines: Sequence[str]) -> tuple[list[InlineTag], bool]:
    """The tags in a block of HTML, and whether it ends in the middle of one: then all that follows
    may lie inside of it.
    """
    text = "\n".join(lines)
    tags: list[InlineTag] = []
    line = place = 0
    while (found := _ANYTHING.search(text, place)) is not None:
        line += text.count("\n", place, found.start())
        if (tag := TAG.match(text, found.start())) is not None:
            tags.append(
                InlineTag(
                    numbers[line], (tag["opens"] or tag["closes"]).lower(), tag["opens"] is not None
                )
            )
        elif (tag := COMMENT.match(text, found.start())) is None:
            return tags, True
        line += text.count("\n", found.start(), tag.end())
        place = tag.end()
    return tags, False


def lines_inside(tags: Iterable[InlineTag], lines: int) -> set[int]:
    """The lines, of so many, that begin inside of an element that is known. One that is not closed
    reaches to the end.
    """
    hidden: set[int] = set()
    stack: list[str] = []
    standing: Counter[str] = Counter()
    before = 0
    for tag in tags:
        verbatim = stack and stack[-1] in _VERBATIM and (tag.opens or tag.name != stack[-1])
        if verbatim or tag.name not in _KNOWN:
            continue
        if stack:
            hidden.update(range(before + 1, tag.line + 1))
        before = tag.line
        if tag.opens:
            stack.append(tag.name)
            standing[tag.name] += 1
        elif standing[tag.name]:
            _close(tag.name, stack, standing)
    if stack:
        hidden.update(range(before + 1, lines))
    return hidden


def _close(name: str, stack: list[str], standing: Counter[str]) -> None:
    """Close an element and what was left open inside of it. Browsers open styles again behind it,
    three alike at most.
    """
    again: list[str] = []
    while (last := stack.pop()) != name:
        if last in _STYLES and again.count(last) < _MOST_ALIKE:
            again.append(last)
        else:
            standing[last] -= 1
    standing[name] -= 1
    stack.extend(reversed(again))
