"""The table of requirements that a verifier or reviewer wrote: Requirement, Files, Tests, State."""

import re
from collections.abc import Iterable, Iterator, Mapping

from forge_bot.artifacts.markdown import BlockKind, read_blocks
from forge_bot.text_format import gist
from forge_bot.values import Frozen

_CODE = re.compile(r"`([^`]+)`")
_QUOTED = re.compile(r"[“„«]([^“”„«»]+)[”“»]")
"""A title in typographic quotes, as tests of JavaScript and Ruby are named in a text."""
_CASES = re.compile(r"(`\w+`)\s*\([^()]*\)")
"""What stands in parentheses behind the name of a function: the cases that it tries."""
_NO_NAME = re.compile(r"(?:[-–—]|none|n/a)$", re.IGNORECASE)
"""What stands in a cell that names nothing."""
_AS_ABOVE = re.compile(
    r"^\s*(?:both|the same|ditto|as above"
    r"|(?:all|its|these) (?:new )?(?:tests|two|three|four|five))\b|\bin both\b",
    re.IGNORECASE,
)
"""Words that stand for the tests of the row above."""

_IDS = re.compile(r"(?:[\W_]*(?:and\s+)?[A-Z]-\d+\b)+")
"""The numbers that a requirement begins with, such as `R-1` or `P-2`."""
_NUMBERED = re.compile(r"(?P<number>[A-Z]-\d+)\s*[:：]\s*(?P<words>.*)")
_ID = r"(?:R|P|AC)-\d+"
_ALONE = re.compile(rf"\s*\({_ID}(?:(?:\s*[,–-]\s*| and | to ){_ID})*\)")
"""Numbers in parentheses. They mean something in the run's documents only."""
_NUMBER = re.compile(r"\b[RP]-\d+\b")
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

    @property
    def ids(self) -> tuple[str, ...]:
        numbers = _IDS.match(self.text)
        return tuple(re.findall(r"[A-Z]-\d+", numbers[0])) if numbers is not None else ()

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


def without_numbers(text: str) -> str:
    """Return the text without numbers of requirements in parentheses, such as `(R-1, R-2)`."""
    return _ALONE.sub("", text)


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

    return _NUMBER.sub(words, without_numbers(text))


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
    for text, files, tests, state in rows:
        named = _names(tests)
        if _AS_ABOVE.search(tests):
            if not (_CODE.search(tests) or _QUOTED.search(tests)):
                named = ()
            named = tuple(dict.fromkeys((*above, *named)))
        yield Requirement(text=text.replace("`", ""), files=_names(files), tests=named, state=state)
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
