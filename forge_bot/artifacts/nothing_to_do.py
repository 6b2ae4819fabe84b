"""Read from a document that its request needs no change."""

import re

from forge_bot.artifacts.markdown import BlockKind, read_blocks
from forge_bot.artifacts.sections import read_section
from forge_bot.text_format import one_line
from forge_bot.values import NothingToDo, Problem, Unneeded

HEADING = "Nothing to Do"
_SAID = re.compile(r"nothing to (?:do|change)\s*(?:[:：–—-]\s*(?P<why>.*))?", re.IGNORECASE)
_LEVEL = 2


def read_nothing_to_do(markdown: str) -> tuple[NothingToDo | None, tuple[Problem, ...]]:
    """Return the reason in the section `## Nothing to Do: already works`, and its problems.

    Only a known reason with its evidence is accepted.
    """
    headings = [
        one_line(block.text)
        for block in read_blocks(markdown)
        if block.kind is BlockKind.HEADING and not block.quoted and block.level <= _LEVEL
    ]
    stated = [(text, match) for text in headings if (match := _SAID.match(text)) is not None]
    if not stated:
        return None, ()
    forms = ", ".join(f"`## {HEADING}: {why.value}`" for why in Unneeded)
    if len(stated) > 1:
        return None, (_problem(f"say it once: {forms}"),)
    text, match = stated[0]
    words = (match["why"] or "").strip(" .*_`").casefold()
    if words not in set(Unneeded):
        return None, (_problem(f"the heading has to say why, as one of {forms}"),)
    evidence = read_section(markdown, text.strip(" :.#*_"))
    if not evidence:
        return None, (_problem("give the evidence below the heading, in at most 4,000 characters"),)
    return NothingToDo(why=Unneeded(words), evidence=evidence), ()


def _problem(message: str) -> Problem:
    return Problem(place=HEADING, message=message, fatal=False)
