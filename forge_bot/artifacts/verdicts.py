"""Read the verdict of a review from its Markdown: exactly one, or unreadable.

An unreadable verdict never counts as approval.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import Enum

from forge_bot.artifacts.markdown import BOLD, PLAIN, Block, BlockKind, read_blocks
from forge_bot.artifacts.sections import without_asides
from forge_bot.values import Verdict


class NoVerdict(Enum):
    """The reason why a text does not state one verdict."""

    NOTHING = "nothing: other words, or a legend that names several verdicts"
    UNCLEAR = "a verdict that is denied, doubted or bound to a condition"


_FEW = r"(?:(?:minor|small|some|a few|the following)\s+)?"
_NOTES = rf"(?:[\s_-]*(?:with|w/)[\s_-]+{_FEW}(?:notes?|comments?|nits?|suggestions?|remarks?))"
_TOKEN = rf"(?P<word>approved?|pass(?:ed)?|revise|fail(?:ed)?)(?P<notes>{_NOTES})?(?![\w]|-\w)"
_ANY_TOKEN = re.compile(r"(?:approved?|pass(?:ed)?|revise|fail(?:ed)?)(?![^\W_])", re.IGNORECASE)
_WORDS = {
    **dict.fromkeys(("approve", "approved"), (Verdict.APPROVE, Verdict.APPROVE_WITH_NOTES)),
    **dict.fromkeys(("pass", "passed"), (Verdict.PASS, Verdict.PASS_WITH_NOTES)),
    **dict.fromkeys(("fail", "failed"), (Verdict.FAIL, Verdict.FAIL)),
    "revise": (Verdict.REVISE, Verdict.REVISE),
}
# Signs and a ticked box may precede the word, but no `!` and no `≠`, which deny it.
_CHOICE = re.compile(
    rf"(?P<signs>(?:[^\w!≠¬]|_)*(?:x\]\s*)?){_TOKEN}(?P<tail>.*)", re.IGNORECASE | re.DOTALL
)
_CROSSES = re.compile("[❌✖✗✘🚫⛔👎🛑]")
_NOT_TICKED = re.compile(rf"(?:\[ ?\]|[☐⬜])\s*{_TOKEN}", re.IGNORECASE)
_SHORTCODE = re.compile(r":[a-z0-9_+-]+:")
_DENIED = re.compile(
    r"\W*(?:not|do(?:es)? not|don['’]t|doesn['’]t|cannot|can['’]t|never|no|would|almost|nearly"
    r"|conditional(?:ly)?|tentative(?:ly)?)\b(?P<rest>.{0,60})",
    re.IGNORECASE | re.DOTALL,
)

_BOUND = r"subject to|contingent|as (?:long|soon) as|on (?:the )?condition|conditional(?:ly)?"
_CONDITION = (
    r"(?:only\s+)?(?:if|once|when|unless|until|till|provided|providing|assuming|after|pending|given"
    r" that|except"
    rf"|{_BOUND})\b"
)
_AT_CLAUSE = re.compile(
    rf"(?:^|[,;:(\[—–|-]|\b(?:but|and|however|though|yet))\s*(?:but\s+|and\s+)?{_CONDITION}",
    re.IGNORECASE,
)
# Words that are often harmless count only with what makes them a condition: “even if”, “sent at
# once”, “pending requests”.
_ANYWHERE = re.compile(
    r"\b(?:only (?:if|when|once|after)|provided"
    rf" (?:that|the|all|you|it|they)|unless|assuming|until|{_BOUND}"
    r"|pending (?:the|ci|an?|review|approval|tests?|fix(?:es)?|changes?|confirmation)"
    r"|(?<!happens )(?<!even )(?<!as )(?<!see )(?<!checks )if|(?<!at )once"
    r" (?:the|these|this|all|both|it|they|you|tests?)"
    r"|tentative(?:ly)?|provisional(?:ly)?|preliminary|placeholder"
    r"|but\b.{0,40}\b(?:first|before|after|only|must|needs?|requires?|should|fix))\b",
    re.IGNORECASE,
)
# A later sentence or the next paragraph revokes an approval if it begins like this. “However, two
# small points” does not.
_TAKES_BACK = re.compile(
    r"\W*(?:(?:but|however|and)\W+)?(?:only (?:if|once|when|after)|unless|provided"
    rf" that|pending|assuming|{_BOUND})\b"
    r"|\W*(?:if|once|when|after)\b.{0,80}\b(?:approved?|pass(?:es)?|merged?|go ahead|proceed)\b"
    r"|\W*this (?:approval|verdict|pass) (?:is|holds|depends|stands)\b"
    r"|\W*(?:but|however)\b.{0,80}\b(?:must|needs?|requires?|before)\b",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"\b(?:was|were|from|previous|previously|earlier|prior|formerly|last|no longer|instead"
    r" of|not)\s+(?:an?\s+|the\s+)?\w+",
    re.IGNORECASE,
)
_REASON = re.compile(r"\s+(?:because|since|as (?:it|the|this|all|every|no|is))\b", re.IGNORECASE)
# A line that begins in lower case continues the sentence.
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+(?![a-z])")


def read_choice(text: str, following: str = "") -> Verdict | NoVerdict:
    """Return the verdict that a text begins with and states plainly.

    `following` is the text that comes next; a condition there revokes an approval too. An
    explanation may follow the word, after a sign or `because`. An approval with a condition
    anywhere in its sentence is unclear, also where a person would see that the condition belongs to
    the explanation: asking again costs less than a false approval.
    """
    text = _SHORTCODE.sub("", _NOT_TICKED.sub("", unicodedata.normalize("NFKC", text))).strip()
    match = _CHOICE.fullmatch(text)
    if match is None:
        denied = _DENIED.match(text)
        return (
            NoVerdict.UNCLEAR
            if denied is not None and _ANY_TOKEN.search(denied["rest"])
            else NoVerdict.NOTHING
        )
    plain, noted = _WORDS[match["word"].lower()]
    verdict = noted if match["notes"] else plain
    if _is_legend(verdict, match["tail"]):
        return NoVerdict.NOTHING
    first, *others = _SENTENCE_END.split(f"{match['tail'].strip()}\n{following}")
    if not verdict.positive:
        return NoVerdict.UNCLEAR if re.match(rf"\W*{_CONDITION}", first, re.IGNORECASE) else verdict
    return verdict if _plain_yes(match, first, others) else _unless_prose(match["tail"])


def stands_apart(text: str) -> bool:
    """Return whether a text begins with a verdict and then ends or continues after a sign."""
    match = _CHOICE.fullmatch(_SHORTCODE.sub("", unicodedata.normalize("NFKC", text)))
    return match is not None and not match["tail"].lstrip()[:1].isalnum()


def _is_legend(verdict: Verdict, tail: str) -> bool:
    """Return whether the next word is another verdict: `APPROVE | REVISE`, `PASS or FAIL`."""
    match = re.match(
        rf"[\W_]*(?:(?:or|and|vs\.?|if \w[^,;|/]{{0,60}}[,;|/])[\W_]*)?{_TOKEN}",
        tail,
        re.IGNORECASE,
    )
    return match is not None and _WORDS[match["word"].lower()][bool(match["notes"])] is not verdict


def _plain_yes(match: re.Match[str], first: str, others: Sequence[str]) -> bool:
    """Return whether an approval is plain.

    Only an explanation may follow it, and neither its sentence nor the next ones qualify it.
    """
    tail = match["tail"]
    explained = (
        not tail[:1].isspace() or not tail.lstrip()[:1].isalnum() or _REASON.match(tail) is not None
    )
    conditional = (
        _AT_CLAUSE.search(first) or _ANYWHERE.search(first) or any(map(_TAKES_BACK.match, others))
    )
    contradicted = re.search(r"\b(?:REVISE|FAIL)(?![^\W_])", _HISTORY.sub("", first)) is not None
    return (
        explained
        and not conditional
        and not contradicted
        and "?" not in first
        and not _CROSSES.search(match["signs"])
    )


def _unless_prose(tail: str) -> NoVerdict:
    """Classify an approval that is not plain.

    Prose such as `Pass criteria are listed below` states no verdict; all others are unclear.
    """
    words = re.match(r"\s+(?!with\b)\w", tail)
    return (
        NoVerdict.NOTHING
        if words is not None and not (_AT_CLAUSE.search(tail) or _ANYWHERE.search(tail))
        else NoVerdict.UNCLEAR
    )


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
