"""Recognise a severity in a review: before a title, after it, above a list, on its own line."""

import re

from forge_bot.artifacts.markdown import BOLD, CODE, MARKS, PLAIN, TEXT
from forge_bot.values import Severity

# A title or an empty answer is shorter. Longer texts are not searched, so that a hostile text costs
# no time.
_SHORT = 1_000

_FLAGS = re.IGNORECASE | re.DOTALL
_ANY = r"(?:critical|major|minor)"
_SEVERITY = rf"(?P<severity>{_ANY[3:-1]})"
_CAPITALS = r"(?P<severity>CRITICAL|MAJOR|MINOR)"
_NOUN = (
    r"(?:\s+(?:severity|findings?|issues?|problems?|concerns?"
    r"|items?|bugs?|defects?|flaws?|gaps?|blockers?))"
)
# A tag may follow signs, a ticked box, a number and the word finding: `1.`, `F2:`, `#3`, `Finding 4
# —`.
_LEAD = (
    r"^[\W_]{0,20}(?:\[x\]"
    r" )?(?:(?:finding|issue|problem)\s+)?(?:[A-Za-z]{0,2}-?\d{1,3}(?:\.\d{1,3})?[\W_]{1,8})?"
)
_SIGN = r"(?:\s*[:：|]|\s+[-–—]+\s|\s*[–—])"
_BEFORE = tuple(
    re.compile(rf"{_LEAD}{tag}(?P<rest>.*)$", _FLAGS)
    for tag in (
        rf"\[\s*(?:severity:?\s*)?{_SEVERITY}{_NOUN}?\s*\]",
        rf"(?<=\()\s*{_SEVERITY}\s*\)",
        rf"{_SEVERITY}{_NOUN}?(?:[\s#-]*\d+)?[{MARKS}`_*]*{_SIGN}",
        rf"(?<={BOLD}){_SEVERITY}{_NOUN}?\s*[:：.]?\s*{PLAIN}",
    )
)
# Where a title is expected, a tag in capitals needs no sign.
_CAPITAL_TAG = re.compile(
    rf"{_LEAD}{_CAPITALS}\s+(?!(?:findings?|issues?|problems?|items?)\b)(?P<rest>\w.*)$", re.DOTALL
)
# After a title a tag needs brackets or capitals: there the word is often only a word.
_THEN = r"(?:[\W_]*$|\s*[:：—–-]\s.*$)"
_BEHIND = (
    re.compile(
        rf"^(?P<rest>.+?)[\s{MARKS}]*\[\s*(?:severity:?\s*)?{_SEVERITY}\s*\]{_THEN}", _FLAGS
    ),
    re.compile(rf"^(?P<rest>.+?)\s*\((?:[Ss]everity:?\s*)?{_CAPITALS}\){_THEN}", re.DOTALL),
    re.compile(rf"^(?P<rest>.+?)\s+[-–—]+\s*{_CAPITALS}[\W_]*$", re.DOTALL),
)
_ORDERS = (
    r"(?:(?:must|should|could|needs?)(?: be)? fix(?:ed)?|blocking|blockers?|nice to have|optional)"
)
_ASIDE_TEXT = r"\s*\([^)]*\)"
_LABEL, _HEADING = (
    re.compile(
        rf"{_LEAD}(?:severity:?\s*)?[\[(]?{_SEVERITY}[\])]?{_NOUN}?(?:{more})?[\W_]*$", _FLAGS
    )
    for more in (_ASIDE_TEXT, rf"{_ASIDE_TEXT}|\s*[:—–-]\s*{_ORDERS}")
)
_LINE = re.compile(rf"^[\W_]*severity[\W_]+{_SEVERITY}\b(?P<rest>.*)$", _FLAGS)
_CELL = re.compile(rf"[\W_]*{_SEVERITY}[\W_]*", _FLAGS)
_BETWEEN = r"[\W_]{0,6}?(?:[/|,<>=→]|\bor\b|\band\b|\bto\b)[\W_]{0,6}"
_LEGEND = re.compile(rf"{_LEAD}(?:severity[\W_]{{1,8}})?{_ANY}{_BETWEEN}{_ANY}\b", _FLAGS)

_CODE_GOES_ON = re.compile(rf"[^\w{CODE}]*\w[^{MARKS}]*{TEXT}")

_THINGS = r"(?:findings?|issues?|problems?|concerns?|items?|blockers?|ones?)"
_SEEN = r"(?:found|identified|remain(?:s|ing)?|left|open|detected|observed|at this time|to report)"
_FOUND = rf"(?: (?:were |was |are |is |have been )?{_SEEN})?"
_NONE = re.compile(
    rf"[\W_]*(?:(?:none|nothing){_FOUND}|no (?:\w+"
    rf" ){{0,3}}?{_THINGS}{_FOUND}|n/?a|nil|zero|keine?|aucune?|ninguno?|なし|無し"
    rf"|\d+(?: (?:{_THINGS}|open))?)?[\W_]*",
    _FLAGS,
)
_DONE = r"(?:resolved|fixed|addressed|closed)"
_RESOLVED = re.compile(
    rf"(?:[(\[—–→]|\s-|->)\s*(?:✅\s*)?(?:now )?{_DONE}(?: in"
    rf" .{{1,30}})?[\W_]*$|^[\W_]*{_DONE}\s*[)\]:—–]",
    _FLAGS,
)
_WHEN = r"(?: (?:since|in|from)\b.{0,40})?"
_ASIDE = re.compile(
    rf"\W*(?:(?:now |already |previously )?{_DONE}(?: {_THINGS})?{_WHEN}"
    rf"|{_THINGS} (?:that (?:are|were) |now |already )?{_DONE}{_WHEN}"
    r"|(?:severity )?legend|severities|severity"
    r" (?:levels?|scale|definitions?|key|guide)|rubric)\W*",
    _FLAGS,
)
_DEFINITION = re.compile(
    r"[\W_]*(?:(?:must|should|has to|have to|needs? to|could|can|may|to) be"
    r" (?:fixed|addressed|resolved|improved)"
    r"|(?:does not |doesn't )?blocks? (?:approval|the \w+)|blocking|nice to"
    r" have|cosmetic|optional|worth fixing|style only"
    r"|(?:an?|any) (?:defect|problem|issue|bug|flaw|finding|error|gap) (?:that|which))\b",
    _FLAGS,
)


def read_tag(text: str, *, titled: bool) -> tuple[Severity, str] | None:
    """Return the severity of a marked line and the rest of the line.

    A tag after the title counts only if the text is set as a title: a heading, a bullet, or bold.
    """
    text = text[:_SHORT]
    if _LEGEND.match(text):
        return None
    match = next((found for tag in _BEFORE if (found := tag.match(text)) is not None), None)
    if match is None and titled:
        title = text[1:].partition(PLAIN)[0] if text.startswith(BOLD) else text
        behind = (tag.match(part) for tag in _BEHIND for part in (title, text))
        match = _CAPITAL_TAG.match(text) or next(filter(None, behind), None)
    return (
        (_of(match), match["rest"])
        if match is not None and not _inside_code(match["rest"])
        else None
    )


def read_label(text: str, *, heading: bool = False) -> Severity | None:
    """Return the severity of a text that holds nothing else.

    Examples are `**Minor:**` or, for a heading, `### Critical findings: must fix`.
    """
    match = (_HEADING if heading else _LABEL).match(text[:_SHORT])
    return _of(match) if match is not None else None


def read_severity_line(line: str) -> tuple[Severity, str] | None:
    """Return the severity of a line `Severity: MAJOR`, and the text after it."""
    match = _LINE.match(line[:_SHORT])
    return (_of(match), match["rest"]) if match is not None and not _LEGEND.match(line) else None


def read_cell(cell: str) -> Severity | None:
    """Return the severity that a table cell holds."""
    match = _CELL.fullmatch(cell[:_SHORT])
    return _of(match) if match is not None else None


def is_no_finding(text: str) -> bool:
    """Return whether a text with a severity reports no finding, a count, or a resolved finding."""
    none = len(text) < _SHORT and _NONE.fullmatch(text) is not None
    return none or _RESOLVED.search(text[-_SHORT:]) is not None


def is_definition(text: str) -> bool:
    """Return whether a text defines a severity, as legends do."""
    return _DEFINITION.match(text) is not None


def is_aside(heading: str) -> bool:
    """Return whether a section explains severities or lists resolved findings."""
    return _ASIDE.fullmatch(heading[:_SHORT]) is not None


def _inside_code(rest: str) -> bool:
    """Return whether a tag is in a code span together with other words.

    Such a tag shows how a finding is written.
    """
    return _CODE_GOES_ON.match(rest) is not None


def _of(match: re.Match[str]) -> Severity:
    return Severity(match["severity"].upper())
