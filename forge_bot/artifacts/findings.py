"""Read the findings of a reviewer from Markdown, in the forms that reviewers use."""

import re
from collections.abc import Iterator, Sequence

from forge_bot.artifacts.markdown import (
    BOLD,
    CODE,
    MARKS,
    PLAIN,
    TEXT,
    Block,
    BlockKind,
    one_line,
    read_blocks,
)
from forge_bot.artifacts.sections import without_asides
from forge_bot.artifacts.severities import (
    is_aside,
    is_definition,
    is_no_finding,
    read_cell,
    read_label,
    read_severity_line,
    read_tag,
)
from forge_bot.values import Finding, Frozen, Severity

LONGEST = 500

_TEXT_LINE = re.compile(
    r"^[\W_]{0,20}(?:description|issue|problem|finding|title"
    r"|summary)[\W_]{0,6}[:：][\W_]{0,6}?(?P<rest>\w.*)$",
    re.IGNORECASE | re.DOTALL,
)
# Headings above many findings, which are the title of none.
_GENERIC = re.compile(
    r"^[\W\d_]*(?:(?:review|open|all|detailed|key"
    r"|new)\s+)?(?:findings?|issues?|problems?|concerns?|review|comments?)[\W\d_]*$",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"\W*(?:meaning|definition|when(?: to use)?|count|number|total)\W*", re.IGNORECASE
)
_TELLS = re.compile(
    r"\W*(?:findings?|issues?|problems?|titles?|descriptions?|summary|what"
    r"|observations?|comments?)\W*",
    re.IGNORECASE,
)


class _Candidate(Frozen):
    """A possible finding with a severity and its place in the text."""

    place: tuple[int, int]
    severity: Severity
    text: str


def read_findings(markdown: str) -> tuple[Finding, ...]:
    """Return all findings in their order, each once.

    The forms are tags before a title (`**1. [CRITICAL] Title**`, `- **MAJOR** — …`, `### MINOR: …`)
    or after it, sections and labels of one severity, lines `Severity: …`, and tables with such a
    column. Code, quotes and comments are ignored. Legends, “CRITICAL: none”, counts, and items
    marked as resolved are no findings.
    """
    # Some sections explain severities or list resolved findings.
    blocks = without_asides(read_blocks(markdown), is_aside)
    candidates = [
        *_tagged(blocks),
        *_in_sections(blocks),
        *_by_severity_lines(blocks),
        *_in_tables(blocks),
    ]
    ordered = sorted(
        (candidate for candidate in candidates if not is_no_finding(candidate.text)),
        key=lambda candidate: candidate.place,
    )
    findings = (
        Finding(severity=candidate.severity, description=_description(candidate.text))
        for candidate in _real(ordered)
    )
    return tuple(
        {
            (finding.severity, finding.description.casefold()): finding for finding in findings
        }.values()
    )


def _tagged(blocks: Sequence[Block]) -> Iterator[_Candidate]:
    for place, block in enumerate(blocks):
        for number, text in enumerate(_segments(block)):
            titled = block.kind is BlockKind.HEADING or block.starts_item or text.startswith(BOLD)
            tag = read_tag(text, titled=titled)
            if tag is not None and _label(block, text) is None:
                yield _Candidate(place=(place, number), severity=tag[0], text=tag[1])


def _segments(block: Block) -> list[str]:
    """Split the text of a block at each line that begins with a tag."""
    segments: list[str] = []
    for line in block.marked_lines if block.kind is not BlockKind.ROW else ():
        if segments and read_tag(line, titled=False) is None:
            segments[-1] += f" {line}"
        else:
            segments.append(line)
    return segments


def _in_sections(blocks: Sequence[Block]) -> Iterator[_Candidate]:
    """Yield the candidates below a heading or a label that is only a severity."""
    for place, block in enumerate(blocks):
        severity = _label(block)
        if severity is not None:
            scope = _scope(blocks, place)
            for number, member in _members(scope):
                text = " ".join(member.marked_lines) or max(member.cells, key=len, default="")
                if read_tag(text, titled=True) is None and _label(member) is None:
                    yield _Candidate(place=(place + 1 + number, 0), severity=severity, text=text)


def _label(block: Block, text: str | None = None) -> Severity | None:
    """Return the severity for which a block, or one line of it, is the label."""
    if block.kind is BlockKind.ROW:
        return None
    return read_label(
        "".join(block.marked_lines) if text is None else text,
        heading=block.kind is BlockKind.HEADING,
    )


def _scope(blocks: Sequence[Block], place: int) -> list[Block]:
    """Return the blocks below the label at a place, up to the next heading or label of its rank."""
    label, scope = blocks[place], list[Block]()
    for block in blocks[place + 1 :]:
        heading_ends = block.kind is BlockKind.HEADING and (
            label.kind is not BlockKind.HEADING or block.level <= label.level
        )
        outside = (
            label.kind is not BlockKind.HEADING
            and block.depth <= label.depth
            and (label.depth > 0 or any(b.depth for b in scope))
        )
        another = label.kind is not BlockKind.HEADING and _label(block) is not None
        if heading_ends or outside or another:
            break
        scope.append(block)
    return scope


def _members(scope: Sequence[Block]) -> list[tuple[int, Block]]:
    """Return the items of a section.

    They are sub-headings, else bullets, else paragraphs with bold titles or table rows, else the
    first text.
    """
    numbered = [*enumerate(scope)]
    depth = min((block.depth for block in scope if block.depth), default=0)
    return (
        [pair for pair in numbered if pair[1].kind is BlockKind.HEADING]
        or [pair for pair in numbered if pair[1].starts_item and pair[1].depth == depth]
        or [
            pair
            for pair in numbered
            if pair[1].kind is BlockKind.TEXT and "".join(pair[1].marked_lines).startswith(BOLD)
        ]
        or [pair for pair in numbered if pair[1].kind is BlockKind.ROW and not pair[1].header]
        or [pair for pair in numbered if pair[1].kind is BlockKind.TEXT][:1]
    )


def _by_severity_lines(blocks: Sequence[Block]) -> Iterator[_Candidate]:
    """Yield findings whose severity is on a line of its own, `Severity: MAJOR`.

    The line is below a title or beside a description.
    """
    for place, block in enumerate(blocks):
        for number, line in enumerate(block.marked_lines if block.kind is BlockKind.TEXT else ()):
            said = read_severity_line(line)
            if said is None:
                continue
            title = block.marked_lines[0] if number else _title_above(blocks, place)
            if title is None or read_tag(title, titled=True) is None:
                text = (
                    title
                    or _text_beside(blocks, place, number)
                    or said[1].strip(" .,;:—–-")
                    or block.text
                )
                yield _Candidate(place=(place, number), severity=said[0], text=text)


def _title_above(blocks: Sequence[Block], place: int) -> str | None:
    """Return the title above the list or paragraph at a place.

    Return None if another severity line already uses it.
    """
    here = blocks[place]
    for block in reversed(blocks[:place]):
        lines = block.marked_lines
        if block.kind is BlockKind.ROW or any(map(read_severity_line, lines)):
            return None
        if lines and (
            block.kind is BlockKind.HEADING
            or block.depth < here.depth
            or (not block.depth and lines[0].startswith(BOLD))
        ):
            return None if _GENERIC.match(lines[0]) else lines[0]
    return None


def _text_beside(blocks: Sequence[Block], place: int, number: int) -> str | None:
    following = [*blocks[place].marked_lines[number + 1 :]]
    for block in blocks[place + 1 : place + 5]:
        if block.kind is not BlockKind.TEXT or any(map(read_severity_line, block.marked_lines)):
            break
        following += block.marked_lines
    return next(
        (match["rest"] for line in following if (match := _TEXT_LINE.match(line)) is not None), None
    )


def _in_tables(blocks: Sequence[Block]) -> Iterator[_Candidate]:
    header: tuple[str, ...] = ()
    for place, block in enumerate(blocks):
        if block.kind is not BlockKind.ROW:
            continue
        header = block.cells if block.header else header
        said = [
            (severity, cell) for cell in block.cells if (severity := read_cell(cell)) is not None
        ]
        if len(said) == 1 and not any(map(_EXPLAINS.fullmatch, header)):
            severity, tag = said[0]
            others = [
                (name, cell)
                for name, cell in zip(header, block.cells, strict=False)
                if cell and cell != tag
            ]
            longest = max((cell for _, cell in others), key=len, default="")
            text = next((cell for name, cell in others if _TELLS.fullmatch(name)), longest)
            yield _Candidate(place=(place, 0), severity=severity, text=text)


def _real(candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """Yield the candidates without legends.

    A legend is a row of neighbours with different severities that say what a severity means.
    """
    means = [is_definition(candidate.text) for candidate in candidates]
    for number, candidate in enumerate(candidates):
        beside = [
            other
            for other in (number - 1, number + 1)
            if 0 <= other < len(candidates) and means[other]
        ]
        near = [
            candidates[other]
            for other in beside
            if abs(candidates[other].place[0] - candidate.place[0]) <= 1
        ]
        if not (means[number] and any(other.severity is not candidate.severity for other in near)):
            yield candidate


def _description(text: str) -> str:
    """Return the bold title if there is one, else the whole text, as one line without bold."""
    text = text.lstrip(" :：.–—|*_-" + PLAIN + TEXT)
    title = re.match(rf"[{BOLD}{TEXT}]?(?P<title>[^{BOLD}{PLAIN}]+){PLAIN}", text)
    if (
        title is not None
        and len(title["title"].strip(MARKS + " ")) > 1
        and not title["title"].rstrip().endswith((":", "："))
    ):
        text = title["title"]
    text = re.sub(rf"{CODE}([^{MARKS}`]+){TEXT}", r"`\1`", text)
    plain = re.sub(
        r"^\d{1,3}[.)]\s+", "", one_line(re.sub(rf"[{MARKS}]", "", text)).strip(" :–—|-")
    )
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"
