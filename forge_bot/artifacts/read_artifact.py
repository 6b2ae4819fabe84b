"""Read an artifact: whether its headings are filled, its tasks, and a review in its one form: a
line with the verdict, a bullet for each finding, and a table of requirements. The verdict counts
only if findings and table agree with it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from forge_bot.artifacts.markdown import Block, BlockKind, blocks_below, read_blocks, sections_where
from forge_bot.artifacts.tasks import read_tasks
from forge_bot.artifacts.test_paths import is_page
from forge_bot.text_format import cut, gist, one_line
from forge_bot.values import Finding, Frozen, Inspection, Problem, Severity, Verdict

FINDINGS = "Findings"
_LONGEST = 500
_VERDICT = re.compile(r"Verdict: ?(?P<word>[A-Z_]+)")
_FINDING = re.compile(r"\[(?P<severity>CRITICAL|MAJOR|MINOR)\][\s:–—-]*(?P<text>\S.*)")
_NONE = "None."
_HEAVY = (Severity.CRITICAL, Severity.MAJOR)
_STOPS = {
    Verdict.APPROVE: _HEAVY[:1],
    Verdict.APPROVE_WITH_NOTES: _HEAVY[:1],
    Verdict.PASS: _HEAVY,
    Verdict.PASS_WITH_NOTES: _HEAVY,
}
"""The findings beside which an approval does not count."""


class AnswersFor(Frozen):
    """The numbered requirements that a review answers for. `table` says that it has to name each
    of them in its table. `persons` are those that people approved with.
    """

    ids: tuple[str, ...] = ()
    persons: tuple[str, ...] = ()
    table: bool = False


def judge_review(
    markdown: str, allowed: Sequence[Verdict], answers_for: AnswersFor | None = None
) -> Inspection:
    """Return what a review says: its findings, its verdict, and in `contradictions` what makes that
    unreadable: a review that is not in the prescribed form, or that passes work, with or without
    notes, which has a CRITICAL or MAJOR finding or a requirement that is not met.

    One of the two is then a mistake, and the text does not show which. An APPROVE of a design
    beside a MAJOR finding counts: a person is asked next, and sees it. That of a draft, which has
    the table, does not: it stands for the review of the change.
    """
    answers_for = answers_for or AnswersFor()
    verdict, findings = read_verdict(markdown, allowed), read_findings(markdown)
    why = [*_find_misplaced(markdown)]
    if verdict is Verdict.UNREADABLE:
        choices = ", ".join(f"`## Verdict: {choice.value}`" for choice in allowed)
        why.insert(0, f"there must be exactly one line with a verdict, out of {choices}")
    elif verdict.positive:
        beside = (
            *(
                f"a {finding.severity.value} finding: {finding.description}"
                for finding in findings
                if finding.severity in (_HEAVY if answers_for.table else _STOPS[verdict])
            ),
            *(
                f"a requirement that is not met: {reason}"
                for reason in _unmet(markdown, answers_for)
            ),
        )
        why += [f"{verdict.value} stands beside {reason}" for reason in beside]
    read = Verdict.UNREADABLE if why else verdict
    return Inspection(verdict=read, findings=findings, contradictions=tuple(why))


def first_sentence(markdown: str) -> str:
    """Return the words below the line with the verdict: why, or what was checked."""
    blocks = iter(read_blocks(markdown))
    for block in blocks:
        if block.kind is BlockKind.HEADING and _VERDICT.match(block.text):
            return next((one.words for one in blocks if one.kind is BlockKind.TEXT), "")
    return ""


def read_verdict(markdown: str, allowed: Sequence[Verdict]) -> Verdict:
    """Return the one verdict of a review, a heading `## Verdict: PASS`; UNREADABLE without one,
    with several, with words behind it, or if this reviewer was not offered it.
    """
    lines = [
        block.text.strip()
        for block in read_blocks(markdown)
        if block.is_heading and block.text.strip().casefold().startswith("verdict")
    ]
    match = _VERDICT.fullmatch(lines[0]) if len(lines) == 1 else None
    word = match["word"] if match is not None else ""
    return next((verdict for verdict in allowed if verdict.value == word), Verdict.UNREADABLE)


def read_findings(markdown: str) -> tuple[Finding, ...]:
    """Return all findings in their order, each once: the visible texts that begin with a severity,
    such as `- **[CRITICAL]** The key is logged`.
    """
    matches = (_FINDING.match(block.words) for block in read_blocks(markdown) if _is_shown(block))
    findings = (
        Finding(severity=Severity(match["severity"]), description=cut(match["text"], _LONGEST))
        for match in matches
        if match is not None
    )
    return tuple(dict.fromkeys(findings))


def _is_shown(block: Block) -> bool:
    return block.kind in {BlockKind.HEADING, BlockKind.TEXT} and not block.quoted


def _find_misplaced(markdown: str) -> Iterator[str]:
    """Yield what stands below the heading of the findings and is none."""
    section = [block for block in blocks_below(markdown, FINDINGS) if _is_shown(block)]
    form = "write each finding as `- **[CRITICAL]** …`, `- **[MAJOR]** …` or `- **[MINOR]** …`"
    items = [
        block for block in section if (block.starts_item and block.depth == 1) or not block.depth
    ]
    if any(_FINDING.match(block.words) for block in items):
        items = [block for block in items if block.depth or block.kind is BlockKind.HEADING]
    for block in items:
        if block.words != _NONE and not _FINDING.match(block.words):
            words = cut(block.words, _LONGEST)
            yield f"“{words}” stands under `## {FINDINGS}` without a severity; {form}"


def _unmet(markdown: str, answers_for: AnswersFor) -> Iterator[str]:
    """Yield the rows of the table that are not met, and the requirements without a row.

    A row about requirements that the review does not answer for is left out.
    """
    rows = read_requirements(markdown)
    numbers = (*answers_for.ids, *answers_for.persons)
    named = {name for row in rows for name in row.ids}
    for row in rows:
        if not met(row.state) and (not row.ids or not answers_for.ids or {*row.ids} & {*numbers}):
            yield f"{row.text}: the state is {row.state.strip() or 'empty'}"
    if rows or answers_for.table:
        yield from (f"{name} has no row in the table" for name in numbers if name not in named)


MOST_CHARACTERS = 200_000

_LEVEL = 2
_PLACEHOLDERS = {"", "tbd", "todo", "to do", "fixme"}


def check_headings(markdown: str, required: Sequence[str]) -> tuple[Problem, ...]:
    """Return the problems that make a document incomplete.

    Each required heading is `## Name`, in any case, and what stands behind it after a colon. Before
    the next heading of level 1 or 2 it has content: text, a list, a table or code, other than a
    word such as TBD. An empty document, or one of more than 200,000 characters, is a fatal problem;
    a person may accept the others.
    """
    if len(markdown) > MOST_CHARACTERS:
        message = (
            f"the file has {len(markdown):,} characters; the most is {MOST_CHARACTERS:,}: leave out"
            " what is not needed"
        )
        return (Problem(place="", message=message, fatal=True),)
    if all(block.kind is BlockKind.RULE or block.empty for block in read_blocks(markdown)):
        return (Problem(place="", message="the file is empty", fatal=True),)
    return tuple(
        Problem(place=name, message=message, fatal=False)
        for name in required
        if (message := _lacking(name, markdown))
    )


def inspect(
    markdown: str,
    *,
    headings: Sequence[str],
    verdicts: Sequence[Verdict] = (),
    answers_for: AnswersFor | None = None,
    tasks: bool = False,
) -> Inspection:
    """Return all facts about an artifact.

    They are the problems of its headings, its verdict and findings if verdicts are requested, and
    its tasks.
    """
    problems = check_headings(markdown, headings)
    if any(problem.fatal for problem in problems):
        return Inspection(problems=problems, verdict=Verdict.UNREADABLE if verdicts else None)
    judged = judge_review(markdown, verdicts, answers_for) if verdicts else Inspection()
    specs, of_tasks = read_tasks(markdown) if tasks else ((), ())
    return judged.replace(problems=(*problems, *of_tasks), tasks=specs)


def _lacking(name: str, markdown: str) -> str:
    """Return what a required heading lacks; "" where nothing. It has text after a colon on its line
    or below it.
    """

    def is_named(block: Block) -> bool:
        heading = one_line(block.text).partition(":")[0]
        return block.level == _LEVEL and heading.casefold() == name.casefold()

    sections = [*sections_where(markdown, is_named)]
    for heading, end in sections:
        inside = [block for block in read_blocks(markdown) if heading.line < block.line < end]
        texts = [
            block.text + " ".join(block.cells)
            for block in inside
            if block.kind is not BlockKind.HEADING
        ]
        if not all(map(_is_nothing, (one_line(heading.text).partition(":")[2], *texts))):
            return ""
    if sections:
        return f"there is nothing below `## {name}`; write that part"
    level = "of level 2, outside of a code fence"
    return f"the heading is missing; add `## {name}`, {level}, and write that part"


def _is_nothing(text: str) -> bool:
    return one_line(text).strip(".…").casefold() in _PLACEHOLDERS


_CODE = re.compile(r"`([^`]+)`")
_QUOTED = re.compile(r"[“„«]([^“”„«»]+)[”“»]")
"""A title in typographic quotes, as tests of JavaScript and Ruby are named in a text."""
_CASES = re.compile(r"(`\w+`)\s*\([^()]*\)")
"""What stands in parentheses behind the name of a function: the cases that it tries."""
_NO_NAME = re.compile(r"(?:[-–—]|none(?: needed)?|n/a)$", re.IGNORECASE)
"""What stands in a cell that names nothing."""
_AS_ABOVE = re.compile(
    r"^\s*(?:both|the same|ditto|as above"
    r"|(?:all|its|these) (?:new )?(?:tests|two|three|four|five))\b|\bin both\b",
    re.IGNORECASE,
)
"""Words that stand for the tests of the row above."""

_EVERY_NEW = re.compile(r"\s*(?:every|all|each)(?: of)?(?: the)? new tests?\b", re.IGNORECASE)
"""Words that stand for the tests that the other rows name."""

_PRESENT = re.compile(
    r"\s*(?:(?:the|all|whole) )*"
    r"(?:suite\b|(?:present|existing|other) (?:test|suite|assertion|case))",
    re.IGNORECASE,
)
"""Words that stand for the tests that were there before the change."""

_IDS = re.compile(r"(?:[\W_]*(?:and\s+)?[A-Z]-\d+\b)+")
"""The numbers that a requirement begins with, such as `R-1` or `P-2`."""
_NUMBERED = re.compile(r"(?P<number>[A-Z]-\d+)\s*[:：]\s*(?P<words>.*)")
_ID = r"(?:R|P|AC)-\d+"
_ALONE = re.compile(rf"\s*\({_ID}(?:(?:\s*[,–-]\s*| and | to ){_ID})*\)")
"""Numbers in parentheses. They mean something in the run's documents only."""
_NUMBER = re.compile(r"\b[RP]-\d+\b")
_WITHOUT_WORDS = re.compile(r"\b(?:(?<!\| )|(?![RP]-\d+:))[RP]-\d+\b")
"""A number, but for one that a cell begins with, with its words behind it."""
_AMONG_WORDS = re.compile(rf"\s*(?<!\w)\(([^()]*\b{_ID}\b[^()]*)\)")
_PIECES = re.compile(r"(?:`[^`]*`|[^`,;])+")
_LONGEST_WORDS = 120

COLUMNS = ("requirement", "files", "tests", "state")
MET = ("met", "left out, as decided")
"""The states with which a requirement needs no more work."""


class Requirement(Frozen):
    """One requirement, and the places that meet it."""

    text: str
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    state: str = ""
    by_present_tests: bool = Field(
        default=False, description="the tests that were there before the change show it"
    )

    @property
    def ids(self) -> tuple[str, ...]:
        numbers = _IDS.match(self.text)
        return tuple(re.findall(r"[A-Z]-\d+", numbers[0])) if numbers is not None else ()

    @property
    def only_pages(self) -> bool:
        """Return whether pages of documentation alone meet it, which no test shows."""
        return bool(self.files) and all(map(is_page, self.files))

    @property
    def is_number(self) -> bool:
        return _IDS.fullmatch(self.text.strip(" .:")) is not None


def met(state: str) -> bool:
    """Return whether a state says that a requirement needs no more work."""
    return re.sub(r"^[\W_]+|[\W_]+$", "", state).casefold() in MET


def numbered_requirements(markdown: str) -> dict[str, str]:
    """Return the requirements that a document lists as `- R-1: …`, by their numbers."""
    rows = (
        _NUMBERED.match(block.words)
        for block in read_blocks(markdown)
        if block.starts_item and not block.quoted
    )
    return {row["number"]: row["words"] for row in reversed([*filter(None, rows)])}


def without_requirement_numbers(text: str) -> str:
    """Return the text without numbers of requirements in parentheses, such as `(R-1, R-2)`, and
    without what names one there: of `(R-1, also in lists)` the rest stays.
    """

    def without_them(parenthesis: re.Match[str]) -> str:
        pieces = [
            piece.strip() for piece in _PIECES.findall(parenthesis[1]) if not _NUMBER.search(piece)
        ]
        return f" ({', '.join(pieces)})" if pieces else ""

    return _AMONG_WORDS.sub(without_them, _ALONE.sub("", text))


def with_requirement_words(text: str, requirements: Mapping[str, str]) -> str:
    """Return the text for readers who do not know the numbers: with the words of each requirement
    behind its number, once.
    """
    shown = set[str]()

    def words(number: re.Match[str]) -> str:
        known = requirements.get(number[0], "")
        if not known or number[0] in shown:
            return number[0]
        shown.add(number[0])
        return f"{number[0]} ({gist(known, _LONGEST_WORDS)})"

    return _WITHOUT_WORDS.sub(words, without_requirement_numbers(text))


def words_of_numbers(texts: Iterable[str], requirements: Mapping[str, str]) -> tuple[str, ...]:
    """Return the requirements that texts name by their numbers, each once, as `**R-1**: words`."""
    numbers = (number for text in texts for number in _NUMBER.findall(text))
    return tuple(
        f"**{number}**: {gist(requirements[number], _LONGEST_WORDS)}"
        for number in dict.fromkeys(numbers)
        if number in requirements
    )


def read_requirements(markdown: str) -> tuple[Requirement, ...]:
    """The rows of the first table with these four columns in this order; empty without one."""
    rows: list[tuple[str, ...]] = []
    is_it = False
    for block in read_blocks(markdown):
        if block.kind is not BlockKind.ROW or block.quoted:
            continue
        if block.header:
            if rows:
                break
            is_it = tuple(cell.casefold() for cell in block.cells) == COLUMNS
        elif is_it:
            rows.append(block.cells)
    return tuple(_requirements(rows))


def _requirements(rows: list[tuple[str, ...]]) -> Iterator[Requirement]:
    above: tuple[str, ...] = ()
    new = [name for row in rows for name in _CODE.findall(row[2]) if not _EVERY_NEW.match(row[2])]
    for text, files, tests, state in rows:
        present = _PRESENT.match(tests) is not None and not _CODE.search(tests)
        named = () if present else _names(tests)
        if _AS_ABOVE.search(tests):
            if not (_CODE.search(tests) or _QUOTED.search(tests)):
                named = ()
            named = tuple(dict.fromkeys((*above, *named)))
        if _EVERY_NEW.match(tests):
            named = tuple(dict.fromkeys(new))
        yield Requirement(
            text=text.replace("`", ""),
            files=_names(files),
            tests=named,
            state=state,
            by_present_tests=present,
        )
        above = named or above


def _names(cell: str) -> tuple[str, ...]:
    """Return a cell's spans of code and quoted titles; without any, the parts between commas."""
    shown = _CASES.sub(r"\1", cell)
    titles = _QUOTED.findall(_CODE.sub("", shown))
    if spans := [*_CODE.findall(shown), *titles]:
        return tuple(filter(None, (span.strip() for span in spans)))
    return tuple(
        name
        for part in cell.split(",")
        if (name := part.strip().strip("`").strip()) and not _NO_NAME.match(name)
    )
