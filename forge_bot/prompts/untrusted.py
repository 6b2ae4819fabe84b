"""Clean untrusted text for a model: only what a reader is shown stays, and what goes is counted.

The measure is what GitHub shows of a comment. The text is written anew from what the parser shows
as words (`visible_markdown`), so it may differ from the source in markup, and cleaning a cleaned
text changes nothing.

Not left out, though not read at once: addresses of links and images without blanks, text far to the
right in code, and the content of a `<details>`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from html import escape

from forge_bot.prompts.invisible import is_suspect, without_unseen
from forge_bot.prompts.raw_html import KNOWN_TAGS, unescape
from forge_bot.prompts.removals import Removal, RemovalKind, count_in_words, list_removals
from forge_bot.prompts.visible_markdown import MarkdownWriter
from forge_bot.text_format import code_block
from forge_bot.values import Frozen

# GitHub accepts 65,536 characters for an issue or a comment.
LONGEST_TEXT = 200_000
_MOST_ROUNDS = 4
_MOST_LINES = 5
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9,.;:'()%/-]| (?=[A-Za-z0-9]))*\n?")
"""Words on one line without any markup."""

_DELIMITER = "untrusted-text"
_LONGEST_LABEL = 200
# Characters that look like those of the delimiters: brackets, slashes, and Cyrillic, Greek and
# Armenian letters.
_LOOK_ALIKES = str.maketrans("‹〈⟨❮˂∕⁄⧸еѕхԁтгпυτνսո−", "<<<<<///esxdtrnutvun-")


class Cleaned(Frozen):
    """A text with only what a reader is shown, and what was left out. `removals` is empty if that
    was nothing.
    """

    text: str
    removals: tuple[Removal, ...]


def clean(markdown: str) -> Cleaned:
    """Return `markdown` written anew, with only what GitHub shows a reader as words. For bodies and
    comments; never raises.

    Characters beyond LONGEST_TEXT are left out and counted.
    """
    text, removed = _write(markdown)
    return Cleaned(text=text, removals=list_removals(Counter(kind for kind, _ in removed)))


def clean_plain(text: str) -> Cleaned:
    """Return `text` without invisible characters. Never raises.

    It is for text that is shown unchanged: titles, file names, labels, branches.
    """
    seen, removed = without_unseen(_newlines(text))
    return Cleaned(text=seen, removals=list_removals(Counter(kind for kind, _ in removed)))


_BARE_TAG = re.compile(
    r"(?P<code>^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\2|\Z)|(?<![\\`])(`+)(?!`).*?(?<!`)\3(?!`))"
    r"|(?<!\\)(?P<tag></?(?P<name>[A-Za-z][\w.-]*)>)",
    re.DOTALL | re.MULTILINE,
)


def with_visible_tags(markdown: str) -> str:
    """Return a document in which `<word>` outside of code is seen as it is written, unless HTML
    knows it: a model means `Dict<K>` or `<unknown>` to be read.
    """

    def written(part: re.Match[str]) -> str:
        known = part["code"] or part["name"].lower() in KNOWN_TAGS
        return part[0] if known else f"\\{part[0]}"

    return _BARE_TAG.sub(written, markdown)


# A document is checked when it is written, when it is asked about and when it is shown.
@lru_cache(maxsize=64)
def what_is_hidden(markdown: str) -> str:
    """Return the parts of a document that a reader is not shown, with their lines, in words; "" if
    there are none.

    A byte order mark at the beginning, which editors write, hides nothing.
    """
    _, removed = _write(markdown.removeprefix("\ufeff"))
    if not removed:
        return ""
    lines = sorted({line for _, line in removed if line})
    named = ", ".join(str(line) for line in lines[:_MOST_LINES]) + (
        " …" if len(lines) > _MOST_LINES else ""
    )
    counted = count_in_words(list_removals(Counter(kind for kind, _ in removed)))
    return f"{counted} (line{'s' if len(lines) > 1 else ''} {named})" if lines else counted


def _write(markdown: str) -> tuple[str, list[tuple[RemovalKind, int]]]:
    """Return the text written anew, and what was left out with its line, 0 if none is known."""
    text, removed = without_unseen(_newlines(markdown))
    if len(text) > LONGEST_TEXT:
        removed += [(RemovalKind.TOO_LONG, 0)] * (len(text) - LONGEST_TEXT)
        text = text[:LONGEST_TEXT]
    if _PLAIN.fullmatch(text):
        return text, removed
    written = _stable(writer := MarkdownWriter(), text)
    removed += writer.removed
    if not removed:
        lost = _words(text) - _words(written)
        removed += [(RemovalKind.UNSEEN_WORD, _line_of(word, text)) for word in sorted(lost)]
        if text.strip() and not written and not removed:
            removed.append((RemovalKind.TANGLED, 1))
    return written, removed


def _stable(writer: MarkdownWriter, text: str) -> str:
    """Return a text that is written anew as itself. Where that takes more than a few rounds, its
    words are shown as code.
    """
    written = writer.write(text)
    for _ in range(_MOST_ROUNDS):
        again = MarkdownWriter().write(written)
        if again == written:
            return written
        written = again
    return f"{code_block(written.rstrip())}\n"


def _words(text: str) -> set[str]:
    """Return the words of a text, without its tags."""
    return set(_WORD.findall(unescape(_TAG.sub(" ", text))))


def _line_of(word: str, text: str) -> int:
    return text.count("\n", 0, max(0, text.find(word))) + 1


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


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
    return f'<{_DELIMITER} source="{_escape_label(label)}">\n{"".join(pieces)}\n</{_DELIMITER}>'


def _delimiters(text: str) -> Iterator[int]:
    """Yield the places of the `<` of everything that reads like one of the delimiters."""
    folded: list[str] = []
    places: list[int] = []
    for index, char in enumerate(text):
        letters = _fold(char)
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
def _fold(char: str) -> str:
    """Return the character as a reader sees it: lower case, without style, "" for blanks.

    Invisible characters give "" too.
    """
    if char.isspace() or is_suspect(char):
        return ""
    if unicodedata.category(char) == "Pd":
        return "-"
    return unicodedata.normalize("NFKC", char).casefold().translate(_LOOK_ALIKES).strip()


def _escape_label(label: str) -> str:
    line = " ".join(label.split())
    seen, _ = without_unseen(line)
    return escape(seen[:_LONGEST_LABEL])
