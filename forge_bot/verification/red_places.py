"""Where the tests and complaints that are red stand in the code, as their runner says it."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import dropwhile, takewhile

from forge_bot.values import Frozen
from forge_bot.verification.runner_result import Lines
from forge_bot.verification.shown_output import about, complaint_lines, failure_blocks, last_name

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
