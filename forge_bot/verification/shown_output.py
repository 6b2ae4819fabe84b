"""The part of a command's output that a model or a person is shown.

The words of the failing tests come first, with their tracebacks; they also tell
where these and complaints stand in the code.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile

from forge_bot.values import Frozen
from forge_bot.verification.runner_output import Lines
from forge_bot.verification.runners import RUNNERS

TAIL_LINES = 60
_MOST_COMPLAINTS = 10
TAIL_CHARACTERS = 4_000
GAP = "[…]"

_RULE = re.compile(r"[=-]{20,}")
_CAPTURED = re.compile(r"-+ Captured .* -+|Stdout:|Stderr:")
_CAPTURED_LINES = 8
_BLOCK_HEAD, _BLOCK_END = 14, 26

_TITLES = tuple(re.compile(title) for runner in RUNNERS for title in runner.titles)
# The line that ends it, when no other title does.
_ENDS = re.compile(
    r"=+ .* =+|={20,}|Ran \d+ tests? in .*|FAIL\t.*|FAIL|ok +\t.*|failures:|test result: .*"
    r"|Test Suites: .*|(?:FAIL|PASS) +\S+\.\w+.*|⎯+.*⎯+| *Test Files  .*| *\.\.\.|# tests \d+"
)


class FailureBlock(Frozen):
    """The words of a runner about one failing test."""

    title: str
    text: str
    after: int
    """The number of the first line behind it."""


def failure_blocks(lines: Lines) -> tuple[FailureBlock, ...]:
    """Return the runner's output about each failing test, in the order of the output."""
    blocks: list[FailureBlock] = []
    title, block = "", list[str]()
    for number, line in enumerate(lines):
        begins = _title(line, lines[number - 1] if number else "")
        if begins or (title and _ENDS.fullmatch(line)):
            blocks += _block(title, block, number)
            title, block = begins, []
        if title:
            block.append(line)
    blocks += _block(title, block, len(lines))
    return tuple(blocks)


def about(item: str, block: FailureBlock) -> bool:
    """Return whether a block is about the test or file with this name."""
    return last_name(item) in block.title or block.title in item


@lru_cache(maxsize=1_000)
def last_name(item: str) -> str:
    """Return the test's own name; each is compared with all blocks."""
    return re.split(r"::| > | › | ", item.removesuffix(" (error)"))[-1]


def complaint_lines(item: str, lines: Lines) -> list[str]:
    """Return the lines of a complaint, named by its file and then its code or first word."""
    path, _, words = item.partition(": ")
    first = words.split(" ", 1)[0]
    return [line for line in lines if first and path in line and first in line][:_MOST_COMPLAINTS]


def shown_output(
    lines: Lines, characters: int, most_lines: int | None = None, first: Sequence[str] = ()
) -> str:
    """Return the output if it fits, else the text of failing tests, with those of `first` at the
    beginning, and then its end. No text of a test is shown twice.
    """
    whole = "\n".join(lines).strip("\n")
    room = len(lines) if most_lines is None else most_lines
    if len(whole) <= characters and whole.count("\n") < room:
        return whole
    blocks = failure_blocks(lines)
    if not blocks:
        return _end(whole, characters, room)
    blocks = sorted(blocks, key=lambda block: not any(about(item, block) for item in first))
    words = "\n\n".join(block.text for block in blocks)
    words = _beginning(words, characters * 3 // 4, room * 3 // 4)
    left = characters - len(words) - len(GAP) - 2
    behind = max((block.after for block in blocks if block.text in words), default=0)
    end = _end("\n".join(lines[behind:]).strip("\n"), left, room - words.count("\n") - 2)
    return f"{words}\n{GAP}\n{end}" if end else words


def _title(line: str, above: str) -> str:
    match = next((match for form in _TITLES if (match := form.fullmatch(line))), None)
    if match is None or match["title"] == "Console":
        return ""
    is_unittest = line.startswith(("FAIL: ", "ERROR: "))
    return "" if is_unittest and not _RULE.fullmatch(above) else match["title"].strip()


def _block(title: str, block: Sequence[str], after: int) -> Iterator[FailureBlock]:
    """Yield the block, shortened: what a test printed, and the middle of a long traceback."""
    if not title:
        return
    lines: list[str] = []
    printed = -1
    for line in block:
        printed = 0 if _CAPTURED.fullmatch(line) else printed + 1 if printed >= 0 else -1
        if printed <= _CAPTURED_LINES:
            lines.append(line)
    if len(lines) > _BLOCK_HEAD + _BLOCK_END:
        lines = [*lines[:_BLOCK_HEAD], GAP, *lines[-_BLOCK_END:]]
    yield FailureBlock(title=title, text="\n".join(lines).rstrip(), after=after)


def _beginning(text: str, characters: int, most_lines: int) -> str:
    return "\n".join(text[:characters].split("\n")[:most_lines])


def _end(text: str, characters: int, most_lines: int) -> str:
    last = "\n".join(text.split("\n")[-max(most_lines, 1) :])
    return last[-max(characters, 1) :]


_PLACE = re.compile(r"([\w./@+-]+\.\w+)(?:[:(]|\", line )(\d{1,7})\b")


class RedPlace(Frozen):
    """The line of a file that a failing test or a complaint names."""

    name: str
    file: str
    line: int


def red_places(names: Sequence[str], output: Lines, files: Collection[str]) -> Iterator[RedPlace]:
    """Yield a place for each name whose own output has one in these files: in the file that the
    name begins with, else the first.
    """
    blocks = failure_blocks(output)
    for name in names:
        words = [block.text for block in blocks if about(name, block)]
        words = words or complaint_lines(name, output) or _paragraph(name, output)
        found = _PLACE.findall("\n".join(words))
        places = [(file, int(line)) for path, line in found if (file := _known(path, files))]
        places.sort(key=lambda place: not name.startswith(place[0]))
        if places:
            yield RedPlace(name=name, file=places[0][0], line=places[0][1])


def _paragraph(name: str, output: Lines) -> list[str]:
    """Return the lines that begin with one of the name: a shown part of an output lacks the rules
    between its blocks.
    """
    rest = dropwhile(lambda line: last_name(name) not in line, output)
    return list(takewhile(str.strip, rest))


def _known(path: str, files: Collection[str]) -> str:
    """Return the file that a runner means, which may name it from the root of the machine."""
    parts = path.removeprefix("./").split("/")
    ends = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((end for end in ends if end in files), "")
