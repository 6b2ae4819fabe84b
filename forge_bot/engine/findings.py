"""What a reviewer found, read out of its Markdown in the shapes reviewers write."""

import re
from collections.abc import Iterator, Sequence

from forge_bot.engine.markdown import BOLD, MARKS, PLAIN, Block, Kind, one_line, read_blocks
from forge_bot.engine.values import Finding, Frozen, Severity

LONGEST = 500
# A title or an empty answer is shorter; beyond it nothing is looked for, so that a hostile text costs no time.
_SHORT = 1_000

_SEVERITY = r"(?P<severity>critical|major|minor)"
_ANY = r"(?:critical|major|minor)"
_NOUN = r"(?:\s+(?:severity|findings?|issues?|problems?|concerns?|items?))"
# Before a tag may stand signs, a number and the word finding: `1.`, `F2:`, `#3`, `Finding 4 —`.
_LEAD = r"^[\W_]{0,20}(?:\[x\] )?(?:(?:finding|issue|problem)\s+)?(?:[A-Za-z]{0,2}-?\d{1,3}(?:\.\d{1,3})?[\W_]{1,8})?"
_TAGS = (
    re.compile(rf"{_LEAD}\[\s*(?:severity:?\s*)?{_SEVERITY}{_NOUN}?\s*\](?P<rest>.*)$", re.IGNORECASE | re.DOTALL),
    re.compile(rf"{_LEAD}(?<=\()\s*{_SEVERITY}\s*\)(?P<rest>.*)$", re.IGNORECASE | re.DOTALL),
    re.compile(rf"{_LEAD}{_SEVERITY}{_NOUN}?(?:[\s#-]*\d+)?[{MARKS}`_*]*(?:\s*[:：|]|\s+[-–—]+\s|\s*[–—])(?P<rest>.*)$", re.IGNORECASE | re.DOTALL),
    re.compile(rf"{_LEAD}(?<={BOLD}){_SEVERITY}{_NOUN}?\s*[:：.]?\s*{PLAIN}(?P<rest>.*)$", re.IGNORECASE | re.DOTALL),
)
# At the end a tag needs brackets or capitals, since there the word is more often just a word.
# Behind the title a tag needs brackets or capitals, since there the word is more often just a word.
_TAGS_BEHIND = (
    re.compile(rf"^(?P<rest>.+?)[\s{MARKS}]*\[\s*(?:severity:?\s*)?{_SEVERITY}\s*\](?:[\W_]*$|\s*[:：—–-]\s.*$)", re.IGNORECASE | re.DOTALL),
    re.compile(r"^(?P<rest>.+?)\s*\((?:[Ss]everity:?\s*)?(?P<severity>CRITICAL|MAJOR|MINOR)\)(?:[\W_]*$|\s*[:：—–-]\s.*$)", re.DOTALL),
    re.compile(r"^(?P<rest>.+?)\s+[-–—]+\s*(?P<severity>CRITICAL|MAJOR|MINOR)[\W_]*$", re.DOTALL),
)
_LABEL = re.compile(rf"{_LEAD}(?:severity:?\s*)?[\[(]?{_SEVERITY}[\])]?{_NOUN}?(?:\s*\([^)]*\))?[\W_]*$", re.IGNORECASE)
_SEVERITY_LINE = re.compile(rf"^[\W_]*severity[\W_]+{_SEVERITY}\b(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
_TEXT_LINE = re.compile(r"^[\W_]*(?:description|issue|problem|finding|title|summary)[\W_]{0,6}[:：][\W_]{0,6}?(?P<rest>\w.*)$", re.IGNORECASE | re.DOTALL)
_GENERIC = re.compile(r"^[\W\d_]*(?:(?:review|open|all|detailed|key|new)\s+)?(?:findings?|issues?|problems?|concerns?|review|comments?)[\W\d_]*$", re.IGNORECASE)

_LEGEND = re.compile(rf"{_LEAD}(?:severity[\W_]{{1,8}})?{_ANY}[\W_]{{0,6}}?(?:[/|,<>=→]|\bor\b|\band\b|\bto\b)[\W_]{{0,6}}{_ANY}\b", re.IGNORECASE)
_FOUND = r"(?: (?:were |was |are |is |have been )?(?:found|identified|remain(?:s|ing)?|left|open|detected|observed|at this time|to report))?"
_NONE = re.compile(
    rf"[\W_]*(?:none{_FOUND}|no (?:\w+ ){{0,3}}?(?:findings?|issues?|problems?|concerns?|items?|blockers?|ones?){_FOUND}|nothing{_FOUND}"
    r"|n/?a|nil|zero|keine?|aucune?|ninguno?|なし|無し|\d+(?: (?:findings?|issues?|items?|open))?)?[\W_]*",
    re.IGNORECASE,
)
_DONE = r"(?:now )?(?:resolved|fixed|addressed|closed)"
_RESOLVED = re.compile(rf"(?:[(\[—–→]|\s-|->)\s*(?:✅\s*)?{_DONE}(?: in .{{1,30}})?[\W_]*$|^[\W_]*{_DONE}\s*[)\]:—–]", re.IGNORECASE)
_ASIDE = re.compile(
    r"\W*(?:(?:now |already |previously )?(?:resolved|fixed|addressed|closed)(?: (?:findings?|issues?|problems?))?(?: (?:since|in|from)\b.{0,40})?"
    r"|(?:findings?|issues?|problems?) (?:that (?:are|were) |now |already )?(?:resolved|fixed|addressed|closed)(?: (?:since|in|from)\b.{0,40})?"
    r"|(?:severity )?legend|severities|severity (?:levels?|scale|definitions?|key|guide)|rubric)\W*",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"[\W_]*(?:(?:must|should|has to|have to|needs? to|could|can|may|to) be (?:fixed|addressed|resolved|improved)|(?:does not |doesn't )?blocks? (?:approval|the \w+)"
    r"|blocking|nice to have|cosmetic|optional|worth fixing|style only|(?:an?|any) (?:defect|problem|issue|bug|flaw|finding|error|gap) (?:that|which))\b",
    re.IGNORECASE,
)

_CELL = re.compile(rf"[\W_]*{_SEVERITY}[\W_]*", re.IGNORECASE)
_EXPLAINS = re.compile(r"\W*(?:meaning|definition|when(?: to use)?|count|number|total)\W*", re.IGNORECASE)
_TELLS = re.compile(r"\W*(?:findings?|issues?|problems?|titles?|descriptions?|summary|what|observations?|comments?)\W*", re.IGNORECASE)


class _Candidate(Frozen):
    """Something with a severity, and the place in the text at which it was said."""

    place: tuple[int, int]
    severity: Severity
    text: str

    @property
    def counts(self) -> bool:
        none = len(self.text) < _SHORT and _NONE.fullmatch(self.text) is not None
        return not none and _RESOLVED.search(self.text) is None


def read_findings(markdown: str) -> tuple[Finding, ...]:
    """All findings in their order, each once.

    Read are tags before a title (`**1. [CRITICAL] Title**`, `- **MAJOR** — …`, `### MINOR: …`) or behind it, sections and
    labels of one severity, lines `Severity: …`, and tables with such a column. Code, quotes and comments are not looked into;
    legends, “CRITICAL: none”, counts, and what is marked as resolved are no findings.
    """
    blocks = _heard(read_blocks(markdown))
    candidates = [*_tagged(blocks), *_in_sections(blocks), *_by_severity_lines(blocks), *_in_tables(blocks)]
    ordered = sorted((candidate for candidate in candidates if candidate.counts), key=lambda candidate: candidate.place)
    findings = (Finding(severity=candidate.severity, description=_description(candidate.text)) for candidate in _real(ordered))
    return tuple({(finding.severity, finding.description.casefold()): finding for finding in findings}.values())


def _heard(blocks: Sequence[Block]) -> list[Block]:
    """The blocks a reviewer says something with, without sections that explain severities or tell what is resolved."""
    heard: list[Block] = []
    aside = 0
    for block in blocks:
        if block.kind is Kind.HEADING and (not aside or block.level <= aside):
            aside = block.level if _ASIDE.fullmatch(block.text) else 0
        if not aside and not block.quoted and block.kind in {Kind.HEADING, Kind.TEXT, Kind.ROW}:
            heard.append(block)
    return heard


def _tagged(blocks: Sequence[Block]) -> Iterator[_Candidate]:
    for place, block in enumerate(blocks):
        for number, text in enumerate(_segments(block)):
            titled = block.kind is Kind.HEADING or block.starts_item or text.startswith(BOLD)
            tag = _tag(text, titled=titled)
            if tag is not None and _LABEL.match(text) is None:
                yield _Candidate(place=(place, number), severity=tag[0], text=tag[1])


def _segments(block: Block) -> list[str]:
    """The text of a block, parted where a line begins with a tag of its own."""
    segments: list[str] = []
    for line in block.marked_lines if block.kind is not Kind.ROW else ():
        if segments and _tag(line, titled=False) is None:
            segments[-1] += f" {line}"
        else:
            segments.append(line)
    return segments


def _tag(text: str, *, titled: bool) -> tuple[Severity, str] | None:
    """The severity a text carries and the rest of it. A tag behind the title is taken only from what is set as a title."""
    text = text[:_SHORT]
    if _LEGEND.match(text):
        return None
    match = next((found for tag in _TAGS if (found := tag.match(text)) is not None), None)
    if match is None and titled:
        title = text[1:].partition(PLAIN)[0] if text.startswith(BOLD) else text
        match = next((found for tag in _TAGS_BEHIND for part in (title, text) if (found := tag.match(part)) is not None), None)
    return (Severity(match["severity"].upper()), match["rest"]) if match is not None else None


def _in_sections(blocks: Sequence[Block]) -> Iterator[_Candidate]:
    """What stands below a heading or a label that is nothing but a severity."""
    for place, block in enumerate(blocks):
        label = _LABEL.match("".join(block.marked_lines)) if block.kind is not Kind.ROW else None
        if label is not None:
            scope = _scope(blocks, place)
            for number, member in _members(scope):
                text = " ".join(member.marked_lines) or max(member.cells, key=len, default="")
                if _tag(text, titled=True) is None and _LABEL.match(text) is None:
                    yield _Candidate(place=(place + 1 + number, 0), severity=Severity(label["severity"].upper()), text=text)


def _scope(blocks: Sequence[Block], place: int) -> list[Block]:
    """The blocks that belong to the label at a place: down to the next heading or label of its rank."""
    label, scope = blocks[place], list[Block]()
    for block in blocks[place + 1 :]:
        heading_ends = block.kind is Kind.HEADING and (label.kind is not Kind.HEADING or block.level <= label.level)
        outside = label.kind is not Kind.HEADING and block.depth <= label.depth and (label.depth > 0 or any(b.depth for b in scope))
        another = label.kind is not Kind.HEADING and _LABEL.match("".join(block.marked_lines)) is not None
        if heading_ends or outside or another:
            break
        scope.append(block)
    return scope


def _members(scope: Sequence[Block]) -> list[tuple[int, Block]]:
    """The findings of a section: its sub-headings, else its bullets, else paragraphs with bold titles or table rows, else its text."""
    numbered = [*enumerate(scope)]
    depth = min((block.depth for block in scope if block.depth), default=0)
    return (
        [pair for pair in numbered if pair[1].kind is Kind.HEADING]
        or [pair for pair in numbered if pair[1].starts_item and pair[1].depth == depth]
        or [pair for pair in numbered if pair[1].kind is Kind.TEXT and "".join(pair[1].marked_lines).startswith(BOLD)]
        or [pair for pair in numbered if pair[1].kind is Kind.ROW and not pair[1].header]
        or [pair for pair in numbered if pair[1].kind is Kind.TEXT][:1]
    )


def _by_severity_lines(blocks: Sequence[Block]) -> Iterator[_Candidate]:
    """Findings whose severity stands on a line of its own, `Severity: MAJOR`, below a title or beside a description."""
    for place, block in enumerate(blocks):
        for number, line in enumerate(block.marked_lines if block.kind is Kind.TEXT else ()):
            match = _SEVERITY_LINE.match(line)
            if match is None or _LEGEND.match(line):
                continue
            title = block.marked_lines[0] if number else _title_above(blocks, place)
            if title is None or _tag(title, titled=True) is None:
                text = title or _text_beside(blocks, place, number) or match["rest"].strip(" .,;:—–-") or block.text
                yield _Candidate(place=(place, number), severity=Severity(match["severity"].upper()), text=text)


def _title_above(blocks: Sequence[Block], place: int) -> str | None:
    """The title that the list or paragraph at a place belongs to, unless another severity line has it already."""
    here = blocks[place]
    for block in reversed(blocks[:place]):
        lines = block.marked_lines
        if block.kind is Kind.ROW or any(map(_SEVERITY_LINE.match, lines)):
            return None
        if lines and (block.kind is Kind.HEADING or block.depth < here.depth or (not block.depth and lines[0].startswith(BOLD))):
            return None if _GENERIC.match(lines[0]) else lines[0]
    return None


def _text_beside(blocks: Sequence[Block], place: int, number: int) -> str | None:
    following = [*blocks[place].marked_lines[number + 1 :]]
    for block in blocks[place + 1 : place + 5]:
        if block.kind is not Kind.TEXT or any(map(_SEVERITY_LINE.match, block.marked_lines)):
            break
        following += block.marked_lines
    return next((match["rest"] for line in following if (match := _TEXT_LINE.match(line)) is not None), None)


def _in_tables(blocks: Sequence[Block]) -> Iterator[_Candidate]:
    header: tuple[str, ...] = ()
    for place, block in enumerate(blocks):
        if block.kind is not Kind.ROW:
            continue
        header = block.cells if block.header else header
        severities = [cell for cell in block.cells if _CELL.fullmatch(cell)]
        if len(severities) == 1 and not any(map(_EXPLAINS.fullmatch, header)):
            match = _CELL.fullmatch(severities[0])
            others = [(name, cell) for name, cell in zip(header, block.cells, strict=False) if cell != severities[0] and cell]
            text = next((cell for name, cell in others if _TELLS.fullmatch(name)), max((cell for _, cell in others), key=len, default=""))
            if match is not None:
                yield _Candidate(place=(place, 0), severity=Severity(match["severity"].upper()), text=text)


def _real(candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """The candidates without legends: neighbours of different severities that say what a severity means."""
    means = [_DEFINITION.match(candidate.text) is not None for candidate in candidates]
    for number, candidate in enumerate(candidates):
        beside = [other for other in (number - 1, number + 1) if 0 <= other < len(candidates) and means[other]]
        near = [candidates[other] for other in beside if abs(candidates[other].place[0] - candidate.place[0]) <= 1]
        if not (means[number] and any(other.severity is not candidate.severity for other in near)):
            yield candidate


def _description(text: str) -> str:
    """The title if one is set in bold, else all of it; one line without markup."""
    text = text.lstrip(" \t\n:：.–—|*_-" + MARKS[1])
    title = re.match(rf"(?:{BOLD})?(?P<title>[^{MARKS}]+){PLAIN}", text)
    if title is not None and len(title["title"].strip()) > 1 and not title["title"].rstrip().endswith((":", "：")):
        text = title["title"]
    plain = re.sub(r"^\d{1,3}[.)]\s+", "", one_line(re.sub(rf"[{MARKS}]", "", text)).strip(" :–—|-"))
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"
