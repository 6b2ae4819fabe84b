"""The lines of a comment that could be commands, found without reading Markdown.

Rather too many are found than too few: a command in a quotation by HTML or in a code block is a
candidate too. The supervisor reads the comment as Markdown once forge-bot is installed, and drops
those that are no commands. A candidate is certain where nothing around it could make Markdown of
it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forge_bot.gate.grammar import Command
from forge_bot.gate.parse_comment import as_plain_text, command_lines, may_hold_command, parse_lines
from forge_bot.gate.written_command import Mistyped

# What reaches over blank lines: HTML, fenced code, formulas, and the head of a copied mail.
_REACHES_FAR = re.compile(r"<|```|~~~|\$\$|[:：]|--|__")
# What reaches to the end of its paragraph: quotes, code, emphasis, links, tables, escapes.
_REACHES_ON = re.compile(r"[`*_~\[\]|>\\$]|^(?: {4}| {0,3}\t)")
# What makes a heading or a table of the line above it.
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|[-:| \t]*-[-:| \t]*)$")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The commands of a comment if all its candidates speak, and whether they certainly do."""

    said: tuple[Command | Mistyped, ...] = ()
    certain: bool = True


def read_candidates(body: str, prefix: str, *, bare: bool) -> Candidates:
    """Return the candidates of a comment, in time proportional to its length."""
    if not may_hold_command(body, prefix):
        return Candidates()
    text = as_plain_text(body)
    numbers = command_lines(text, prefix, bare=bare)
    if not numbers:
        return Candidates()
    return Candidates(
        parse_lines(text, prefix, bare=bare), _certain(text.lines, frozenset(numbers))
    )


def _certain(lines: Sequence[str], candidates: frozenset[int]) -> bool:
    """Return whether Markdown can show these lines as nothing but their author's words."""
    if any(_REACHES_FAR.search(line) for line in lines[: max(candidates)]):
        return False
    below_markup = below_candidate = False
    for number, line in enumerate(lines):
        if not line.strip(" \t"):
            below_markup = below_candidate = False
            continue
        if (below_candidate and _UNDERLINE.match(line)) or (below_markup and number in candidates):
            return False
        below_candidate = below_candidate or number in candidates
        below_markup = below_markup or _REACHES_ON.search(line) is not None
    return True
