"""Find text of a file that an edit loses without a word: a placeholder stands in for it, or a
whole-file write leaves it out.
"""

import re
from collections import Counter
from difflib import SequenceMatcher

from forge_bot.git.diff import has_markers

_NOTE = re.compile(
    r"\s*(?:(?:#+|//+|/?\*+|<!--|\{/\*|--+|;+|%+|!|'|\"{3}|REM\b|\(\*|\.\.).*|\[.*\]|\(.*\)|\{.*\}"
    r"|(?:\.{3}|…).*)\s*"
)
"""A line that is a comment in some language, a note in brackets, or begins with an ellipsis."""

_STANDS_IN = re.compile(
    r"\.{3}|…|\b(?:unchanged|unmodified|untouched|omitted|elided|snip(?:ped)?|truncated|abridged"
    r"|not shown|for brevity|as (?:before|above|is|it was|they (?:are|were))|(?:the|this) same"
    r"|no changes?|rest|remaining|remainder|everything else|all else|other|existing|previous"
    r"|original|continues?|goes? here)\b",
    re.IGNORECASE,
)
"""An ellipsis, or words with which models stand in for lines that they leave out."""

_LONGEST_NOTE = 120

_FENCE = re.compile(r"(`{3,}|~{3,})[^\n`]*\n")
FENCED = "`new` has the fences of Markdown around the text of the file; leave them out."

_LEAST_LINES = 10
"""Lines with text of a file below which nothing counts as most of it."""


def placeholder_problem(before: str, after: str) -> str:
    """Return the complaint about a new line that stands in for lines of the file; empty if none
    does.

    Such a line is a comment or a note that says so by an ellipsis or by its words, and at its place
    more lines go than come.
    """
    old, new = _filled(before), _filled(after)
    if not any(map(_stands_in, set(new) - set(old))):
        return ""
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for operation, first, last, start, end in opcodes:
        gone, come = old[first:last], new[start:end]
        line = next(filter(_stands_in, come), None)
        if operation != "replace" or line is None:
            continue
        lost = Counter(gone) - Counter(new)
        if lost.total() > len(come):
            return (
                f"the line `{line.strip()}` stands in for text that would be lost:"
                f" {_missing(gone, new)}. Give the text itself, or change only the passages that"
                " change, by `replace`."
            )
    return ""


def loss_problem(before: str, new: str) -> str:
    """Return the complaint about a whole-file write that loses most lines of the file, and about
    one that has the fences of Markdown around the text; empty if it does neither.

    Of a file with both sides of a conflict, one may go.
    """
    if is_fenced(new) and not is_fenced(before):
        return FENCED
    if has_markers(before.encode()):
        return ""
    old, come = _filled(before), _filled(new)
    lost = (Counter(old) - Counter(come)).total()
    if len(old) < _LEAST_LINES or len(come) * 2 >= len(old) or lost * 2 <= len(old):
        return ""
    return (
        f"`new` is to be the whole file, and most of the file is not in it: {_missing(old, come)}."
        " Give the whole text, or change passages by `replace`. If the lines are to go, delete the"
        " file first and write it after that."
    )


def is_fenced(text: str) -> bool:
    """Return whether all of a text stands between two fences of Markdown."""
    stripped = text.strip()
    fence = _FENCE.match(stripped)
    if fence is None or not stripped.endswith("\n" + fence[1]):
        return False
    return stripped.count("\n" + fence[1]) == 1


def _stands_in(line: str) -> bool:
    note = _NOTE.fullmatch(line) if len(line) <= _LONGEST_NOTE else None
    return note is not None and _STANDS_IN.search(note[0]) is not None


def _filled(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _missing(old: list[str], new: list[str]) -> str:
    """Return how many lines are missing, and the first of them."""
    left = Counter(old) - Counter(new)
    first = next(line for line in old if line in left)
    return f"{left.total()} of {len(old)} lines are missing, the first one `{first.strip()[:100]}`"
