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

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from html import escape

from pydantic import BaseModel, ConfigDict

from forge_bot.prompts.characters import is_suspect
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

_DELIMITER = "untrusted-text"
_LONGEST_LABEL = 200
# Characters that look like those of the delimiters: brackets, slashes, and Cyrillic, Greek and
# Armenian letters.
_LOOK_ALIKES = str.maketrans("‹〈⟨❮˂∕⁄⧸еѕхԁтгпυτνսո−", "<<<<<///esxdtrnutvun-")


class _Folds(dict[int, str | None]):
    """`_folded` as a table for str.translate, filled as it is used."""

    def __missing__(self, code: int) -> str | None:
        self[code] = _folded(chr(code)) or None
        return self[code]


_FOLDS = _Folds()
# An ASCII text is translated at once, any other one character by character, so the parts are split.
_NOT_ASCII = re.compile(r"([^\x00-\x7f]+)")


class Cleaned(BaseModel):
    """A text without its hidden parts, and these parts. `removals` is empty if there were none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    removals: tuple[Removal, ...]


def clean(markdown: str) -> Cleaned:
    """Return `markdown` without the parts that GitHub would not show. For bodies and comments;
    never raises.

    Characters beyond LONGEST_TEXT are removed, and so is the whole of a text whose markup is nested
    too deep to be read; both are reported.
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


def fence(text: str, label: str) -> str:
    """Return `text` between `<untrusted-text source="label">` and `</untrusted-text>`.

    If the text itself holds one of these, also in capitals, with spaces or in look-alike letters,
    its `<` is written as `&lt;`; nothing else changes. The label becomes one escaped line of at
    most 200 visible characters.
    """
    pieces: list[str] = []
    reached = 0
    for start in _delimiters(text):
        pieces += [text[reached:start], "&lt;"]
        reached = start + 1
    pieces.append(text[reached:])
    return f'<{_DELIMITER} source="{_escaped_label(label)}">\n{"".join(pieces)}\n</{_DELIMITER}>'


def _delimiters(text: str) -> Iterator[int]:
    """Yield the places of the `<` of everything that reads like one of the delimiters."""
    # Nearly every text holds none, and this check takes a hundredth of the time of the search.
    if _DELIMITER not in "".join(part.translate(_FOLDS) for part in _NOT_ASCII.split(text)):
        return
    folded: list[str] = []
    places: list[int] = []
    for index, char in enumerate(text):
        letters = _folded(char)
        folded.append(letters)
        places.extend([index] * len(letters))
    plain = "".join(folded)
    at = plain.find(_DELIMITER)
    while at >= 0:
        start = at - 1 if plain[at - 1 : at] != "/" else at - 2
        if start >= 0 and plain[start] == "<":
            yield places[start]
        at = plain.find(_DELIMITER, at + 1)


@cache
def _folded(char: str) -> str:
    """Return the character as a reader sees it: lower case, without style, "" for blanks.

    Invisible characters give "" too.
    """
    if char.isspace() or is_suspect(char):
        return ""
    if unicodedata.category(char) == "Pd":
        return "-"
    return unicodedata.normalize("NFKC", char).casefold().translate(_LOOK_ALIKES).strip()


def _escaped_label(label: str) -> str:
    line = " ".join(label.split())
    seen, _ = cut(line, invisible_spans(line))
    return escape(seen[:_LONGEST_LABEL])
