"""Read the verdict of a review from its Markdown: exactly one, or unreadable.

An unreadable verdict never counts as approval.
"""

import re
from collections.abc import Iterator, Sequence

from forge_bot.artifacts.findings import read_findings
from forge_bot.artifacts.markdown import BOLD, PLAIN, Block, BlockKind, read_blocks
from forge_bot.artifacts.sections import without_asides
from forge_bot.artifacts.verdict_text import NoVerdict, read_choice, stands_apart
from forge_bot.values import Finding, Severity, Verdict

__all__ = ["judge_review", "read_findings", "read_verdict"]

_WHOSE = (
    r"(?:(?:the|my|our|final|overall|review|reviewer|reviewer['’]s"
    r"|design|tasks?|code|comprehensive)\s+){0,4}"
)
_LABEL = re.compile(
    rf"^[\W_]{{0,20}}(?:\d{{1,2}}(?:\.\d{{1,2}})?[.):]?\s+)?{_WHOSE}verdict"
    rf"(?P<aside>\s*\([^)]*\))?[*_`]*"
    r"(?P<sign>\s*(?:[:：=|]|[-–—→]+>?|\bis\b:?|\Z)|\s+)(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LATER_LABEL = re.compile(
    r"^(?P<before>.*?)(?P<sign>\s[-–—]+|[|·•:;(])\s*"
    r"(?P<label>(?:(?:final|overall)\s+)?verdict\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
# A verdict that is only reported does not count: on its line, or in a section of that name.
_TOLD = re.compile(
    r"\b(?:previous|earlier|last|prior|old|former|examples?|sample|template|format|legend"
    r"|instructions?|criteri(?:on|a)|if)\b",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"\W*(?:(?:previous|earlier|last|prior|old|former)\s+"
    r"(?:reviews?|rounds?|verdicts?|iterations?)\b.*"
    r"|(?:an? |the )?(?:examples?|samples?|templates?|legend|(?:output"
    r" )?format|instructions|history)\W*)",
    re.IGNORECASE | re.DOTALL,
)
_REASONS = re.compile(
    r"\W*(?:reasons?|rationale|why|summary|notes?|comments?|explanation|details)\W*", re.IGNORECASE
)


def read_verdict(markdown: str, allowed: Sequence[Verdict]) -> Verdict:
    """Return the one verdict of a review, or UNREADABLE.

    A verdict is the label *Verdict* with a verdict after it, in any case: on one line (`## Verdict:
    APPROVE`, `**Verdict** — approve with notes.`), in the next paragraph or bullet, below a heading
    that is only the label, or in a table row `| Verdict | PASS |`. An explanation may follow. The
    same verdict may occur twice.

    Code, quotes, comments, struck-out words, sections about earlier rounds or examples, and legends
    (`APPROVE | REVISE`) are ignored. Two different verdicts, a denied or conditional one (`PASS,
    but only after …`), or one that this reviewer was not offered make the whole review unreadable.
    """
    blocks = without_asides(read_blocks(markdown), _TELLING.fullmatch)
    said = {choice for choice in _choices(blocks) if choice is not NoVerdict.NOTHING}
    verdict = said.pop() if len(said) == 1 else NoVerdict.UNCLEAR
    return verdict if isinstance(verdict, Verdict) and verdict in allowed else Verdict.UNREADABLE


def judge_review(markdown: str, allowed: Sequence[Verdict]) -> tuple[Verdict, tuple[Finding, ...]]:
    """Return the verdict and the findings. An approval beside a CRITICAL finding is unreadable.

    This includes an approval with notes. CRITICAL means that the work must not continue, so one of
    the two is a mistake, and the text does not show which.
    """
    verdict, findings = read_verdict(markdown, allowed), read_findings(markdown)
    critical = any(finding.severity is Severity.CRITICAL for finding in findings)
    return (Verdict.UNREADABLE if verdict.positive and critical else verdict), findings


def _choices(blocks: Sequence[Block]) -> Iterator[Verdict | NoVerdict]:
    for place, block in enumerate(blocks):
        if block.kind is BlockKind.ROW:
            yield from _in_row(blocks, place)
            continue
        for number, line in enumerate(block.lines):
            rest = _after_label(line, heading=block.kind is BlockKind.HEADING)
            if rest is None:
                continue
            if rest:
                yield read_choice(rest, _following(blocks, place, number))
            else:
                yield from _below(blocks, place, number)


def _after_label(line: str, *, heading: bool) -> str | None:
    """Return the text after the label of a line.

    It is empty if the line is only the label, None if there is no label.
    """
    match = _LABEL.match(line)
    if match is None:
        later = _LATER_LABEL.match(line)
        signed = later is not None and (heading or later["sign"].strip() in {"|", "·", "•", ";"})
        if later is None or not signed or _TOLD.search(later["before"]):
            return None
        match = _LABEL.match(later["label"])
    return None if match is None or _TOLD.search(match["aside"] or "") else match["rest"].strip()


def _following(blocks: Sequence[Block], place: int, number: int) -> str:
    """Return the text below a line up to a new heading: more lines, and the next paragraph."""
    more = [*blocks[place].lines[number + 1 :]]
    if not more and place + 1 < len(blocks) and blocks[place + 1].kind is BlockKind.TEXT:
        more = [*blocks[place + 1].lines[:1]]
    return "\n".join(more)


def _below(blocks: Sequence[Block], place: int, number: int) -> Iterator[Verdict | NoVerdict]:
    """Yield the choices below a label on its own.

    They are the next block and, under a heading, also verdicts that stand by themselves.
    """
    label = blocks[place]
    if number + 1 < len(label.lines):
        yield read_choice(label.lines[number + 1], _following(blocks, place, number + 1))
        return
    for distance, block in enumerate(blocks[place + 1 :]):
        line = next(iter(block.lines), "")
        apart = stands_apart(line) or stands_apart(_bold_lead(block))
        if _ends(label, block, distance, apart=apart):
            return
        if line and (not distance or apart) and _after_label(line, heading=False) is None:
            yield read_choice(line, _following(blocks, place + 1 + distance, 0))


def _ends(label: Block, block: Block, distance: int, *, apart: bool) -> bool:
    """Return whether a block no longer belongs to a label on its own.

    Below text, the label covers the next block or a list.
    """
    if block.kind is BlockKind.HEADING:
        return label.kind is not BlockKind.HEADING or block.level <= label.level or not apart
    return (
        label.kind is not BlockKind.HEADING
        and distance > 0
        and not (block.starts_item and block.depth > label.depth)
    )


def _bold_lead(block: Block) -> str:
    line = next(iter(block.marked_lines), "")
    return line[1:].partition(PLAIN)[0] if line.startswith(BOLD) else ""


def _in_row(blocks: Sequence[Block], place: int) -> Iterator[Verdict | NoVerdict]:
    """Yield the verdicts of `| Verdict | PASS |` rows.

    The same holds for a table whose only row is below the header `Verdict`, with nothing but
    reasons beside it.
    """
    row = blocks[place]
    if not row.cells or _after_label(row.cells[0], heading=False) != "":
        return
    if len(row.cells) > 1:
        yield read_choice(row.cells[1], "\n".join(row.cells[2:]))
    body = [
        block
        for block in blocks[place + 1 : place + 3]
        if block.kind is BlockKind.ROW and not block.header
    ]
    if row.header and len(body) == 1 and all(map(_REASONS.fullmatch, row.cells[1:])):
        yield read_choice(body[0].cells[0], "\n".join(body[0].cells[1:]))
