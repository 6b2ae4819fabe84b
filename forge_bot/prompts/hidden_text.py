"""Find the hidden parts and the code of a text, and remove the hidden parts.

Removing a comment can change the lines after it: `<!-- x --><br>` is HTML up to the end of the
line, `<br>` up to the next blank line, with the code block that follows. Code is shown letter by
letter and must not be read as anything else. The text on both sides of a comment can become a new
comment: `<<!-- x -->!-- seen -->` shows `<!-- seen -->`. So if visible text would be lost, the
empty comments stay.
"""

from collections.abc import Iterable
from typing import NamedTuple

from forge_bot.prompts.invisible import invisible_spans
from forge_bot.prompts.markdown_blocks import read_blocks
from forge_bot.prompts.markup import Code, lay_out
from forge_bot.prompts.removals import RemovalKind, RemovedSpan, cut

_OPENING = "<!--"
_CLOSINGS = ("-->", "--!>")


class HiddenTextScan(NamedTuple):
    """A text with its code and the spans to leave out."""

    text: str
    hidden: tuple[RemovedSpan, ...]
    code: tuple[Code, ...]


def read(text: str) -> HiddenTextScan:
    """Read a text as GitHub does.

    If it has invisible characters, only these are found: with them, the Markdown is not what it
    looks like.
    """
    if spans := invisible_spans(text):
        return HiddenTextScan(text, tuple(spans), ())
    layout = lay_out(read_blocks(text))
    if not layout.page.has_html:
        return HiddenTextScan(text, tuple(layout.hidden), tuple(layout.code))
    from forge_bot.prompts.hidden_html import hidden_in  # it loads html5lib

    return HiddenTextScan(text, (*layout.hidden, *hidden_in(layout.page)), tuple(layout.code))


def shorten(reading: HiddenTextScan) -> tuple[HiddenTextScan, dict[RemovalKind, int]]:
    """Return the text without its hidden parts, read again, and what was left out.

    A text without hidden parts, or with only empty comments, is returned unchanged.
    """
    shorter, tally = cut(reading.text, reading.hidden)
    after = read(shorter)
    joined = _joins_comment(reading, after)
    if not joined and _keeps_code(reading, after):
        return after, tally
    in_shells, shell_tally = cut(
        reading.text, [_without_shell(reading.text, span) for span in reading.hidden]
    )
    kept = read(in_shells)
    return (kept, shell_tally) if joined or _keeps_code(reading, kept) else (after, tally)


def _joins_comment(before: HiddenTextScan, after: HiddenTextScan) -> bool:
    """Return whether the cuts joined two visible halves to a new `<!--`."""
    cuts: set[int] = set()
    gone = reached = 0
    for start, end, kind in sorted(before.hidden):
        if end > reached:
            if kind == RemovalKind.HTML_COMMENT and start >= reached:
                cuts.add(start - gone)
            gone += end - max(start, reached)
            reached = end
    comments = (span for span in after.hidden if span.kind == RemovalKind.HTML_COMMENT)
    return any(
        not cuts.isdisjoint(range(start + 1, start + len(_OPENING))) for start, _, _ in comments
    )


def _keeps_code(before: HiddenTextScan, after: HiddenTextScan) -> bool:
    """Return whether all code that is not itself hidden is still code."""
    if not before.code or (after.hidden and not after.code and invisible_spans(after.text)):
        return True
    found = iter(code.content for code in after.code)
    return all(content in found for content in _shown(before.code, before.hidden))


def _shown(code: Iterable[Code], hidden: Iterable[RemovedSpan]) -> list[str]:
    """Return the contents of the code that no hidden span touches."""
    waiting = sorted(hidden, reverse=True)
    reached = 0
    shown: list[str] = []
    for start, end, content in sorted(code):
        while waiting and waiting[-1].start < end:
            reached = max(reached, waiting.pop().end)
        if reached <= start:
            shown.append(content)
    return shown


def _without_shell(text: str, span: RemovedSpan) -> RemovedSpan:
    """Return the inside of a comment; other spans are returned unchanged."""
    closing = next(
        (closing for closing in _CLOSINGS if text.endswith(closing, span.start, span.end)), None
    )
    if (
        span.kind != RemovalKind.HTML_COMMENT
        or closing is None
        or not text.startswith(_OPENING, span.start)
    ):
        return span
    return RemovedSpan(
        span.start + len(_OPENING),
        max(span.start + len(_OPENING), span.end - len(closing)),
        span.kind,
    )
