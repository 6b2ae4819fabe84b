"""Clean untrusted text for a model. Invisible parts are removed and reported.

The visible text does not change. The measure is what GitHub shows of a comment, and in doubt what a
browser shows of its HTML. Spans are found in the source by reading it as Markdown and as HTML and
are cut out; nothing is inserted or rewritten, except that line ends become newlines. A cut can
create new markup, so the text is read again until nothing is found: cleaning a cleaned text changes
nothing.

Not removed, though invisible: addresses of links and images; link labels, footnote labels and
languages of code blocks of one short word; properties in a map or model that a code block draws.
Not removed, because a person who looks sees them: text far to the right in code, and the content of
a `<details>`.
"""

from collections import Counter
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from forge_bot.prompts.fence import fence
from forge_bot.prompts.hidden_text import read, shorten
from forge_bot.prompts.invisible import invisible_spans
from forge_bot.prompts.removals import (
    Removal,
    RemovalKind,
    count_in_words,
    cut,
    removals_of,
    sentence,
)

__all__ = [
    "LONGEST_TEXT",
    "Cleaned",
    "Removal",
    "RemovalKind",
    "clean",
    "clean_plain",
    "fence",
    "sentence",
    "what_is_hidden",
]

# GitHub accepts 65,536 characters for an issue or a comment.
LONGEST_TEXT = 200_000
# The maximum text read for one cleaning, all rounds together: a bound on time. Only crafted markup
# needs more rounds.
_MOST_READ = 600_000
_MOST_ROUNDS = 50
_MOST_LINES = 5


class Cleaned(BaseModel):
    """A text without its hidden parts, and these parts. `removals` is empty if there were none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    removals: tuple[Removal, ...]


def clean(markdown: str) -> Cleaned:
    """Return `markdown` without what GitHub would not show of it.

    For bodies and comments; never raises.

    Characters beyond LONGEST_TEXT are removed, and all of a text whose markup was nested to be
    unreadable; both are reported.
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
    """Return `text` without invisible characters. Never raises.

    It is for text that is shown unchanged: titles, file names, labels, branches.
    """
    seen, tally = _without_unseen(_newlines(text))
    return Cleaned(text=seen, removals=removals_of(tally))


# A document is checked when it is written, when it is asked about and when it is shown.
@lru_cache(maxsize=64)
def what_is_hidden(markdown: str) -> str:
    """Return the hidden parts of a document, with their lines, in words; "" if there are none.

    A byte order mark at the beginning, which editors write, hides nothing.
    """
    text = _newlines(markdown.removeprefix("\ufeff"))[:LONGEST_TEXT]
    found = count_in_words(clean(text).removals)
    if not found:
        return ""
    lines = sorted({text.count("\n", 0, span.start) + 1 for span in read(text).hidden})
    named = ", ".join(str(line) for line in lines[:_MOST_LINES]) + (
        " …" if len(lines) > _MOST_LINES else ""
    )
    return f"{found} (line{'s' if len(lines) > 1 else ''} {named})"


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _without_unseen(text: str) -> tuple[str, Counter[RemovalKind]]:
    tally: Counter[RemovalKind] = Counter()
    while spans := invisible_spans(text):
        text, found = cut(text, spans)
        tally += found
    return text, tally
