"""Strangers' text made fit for a model: what nobody sees is removed, what is seen is not touched, and what was removed is said.

The measure is what GitHub shows of a comment, and in doubt what a browser shows of its HTML. Spans are found in the source by
reading it as Markdown and as HTML and are cut out; nothing is ever put in or rewritten, except that line ends become newlines.
A cut can bring new markup together, so the text is read again until nothing is found: cleaning a cleaned text changes nothing.

Not removed, though unseen: addresses of links and images; link labels, footnote labels and languages of code blocks of one
short word; properties in a map or model that a code block draws. Not removed, because a person sees them who looks: what stands
far to the right in code, and what a `<details>` holds.
"""

from collections import Counter
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from forge_bot.prompts.fence import fence
from forge_bot.prompts.hidden_text import read, shorten
from forge_bot.prompts.invisible import invisible_spans
from forge_bot.prompts.removals import Removal, RemovalKind, counted, cut, removals_of, sentence

__all__ = ["LONGEST_TEXT", "Cleaned", "Removal", "RemovalKind", "clean", "clean_plain", "fence", "sentence", "what_is_hidden"]

# GitHub takes 65,536 characters for an issue or a comment.
LONGEST_TEXT = 200_000
# How much text may be read for one cleaning, all rounds together: a bound on time. Markup that needs more rounds was made to.
_MOST_READ = 600_000
_MOST_ROUNDS = 50
_MOST_LINES = 5


class Cleaned(BaseModel):
    """A text without its hidden parts, and what they were. `removals` is empty when nothing was removed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    removals: tuple[Removal, ...]


def clean(markdown: str) -> Cleaned:
    """`markdown` without what GitHub would not show of it. For bodies and comments; never raises.

    Characters beyond LONGEST_TEXT are removed, and all of a text whose markup was nested to be unreadable; both are said.
    """
    text, tally = _without_unseen(_newlines(markdown))
    if len(text) > LONGEST_TEXT:
        tally[RemovalKind.TOO_LONG] += len(text) - LONGEST_TEXT
        text = text[:LONGEST_TEXT]
    reading = read(text)
    effort = len(text)
    for _ in range(_MOST_ROUNDS):
        after, found = shorten(reading) if reading.hidden else (reading, {})
        if after.text == reading.text:
            return Cleaned(text=after.text, removals=removals_of(tally))
        tally.update(found)
        reading = after
        effort += len(after.text)
        if effort > _MOST_READ:
            break
    tally[RemovalKind.TANGLED] += len(reading.text)
    return Cleaned(text="", removals=removals_of(tally))


def clean_plain(text: str) -> Cleaned:
    """`text` without unseen characters. For what is shown as it stands: titles, file names, labels, branches. Never raises."""
    seen, tally = _without_unseen(_newlines(text))
    return Cleaned(text=seen, removals=removals_of(tally))


# A document is looked at when it is written, when it is asked about and when it is shown.
@lru_cache(maxsize=64)
def what_is_hidden(markdown: str) -> str:
    """Return what a document holds that its reader does not see, with the lines, in words; "" when all of it is seen.

    A byte order mark at the beginning, which editors write, hides nothing.
    """
    text = _newlines(markdown.removeprefix("\ufeff"))[:LONGEST_TEXT]
    found = counted(clean(text).removals)
    if not found:
        return ""
    lines = sorted({text.count("\n", 0, span.start) + 1 for span in read(text).hidden})
    named = ", ".join(str(line) for line in lines[:_MOST_LINES]) + (" …" if len(lines) > _MOST_LINES else "")
    return f"{found} (line{'s' if len(lines) > 1 else ''} {named})"


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _without_unseen(text: str) -> tuple[str, Counter[RemovalKind]]:
    tally: Counter[RemovalKind] = Counter()
    while spans := invisible_spans(text):
        text, found = cut(text, spans)
        tally += found
    return text, tally
