"""Read the complaints of linters, type checkers and compilers.

Each gets a name that stays the same when lines move.
"""

import re
from collections.abc import Iterator, Sequence

from forge_bot.values import Frozen

_LONGEST = 300

# `path:line:col: message`: flake8, ruff --output-format concise, mypy, pylint, golangci-lint, go
# vet. `- error:` is the form of pyright and `tsc --pretty`, `path(line,col): message` that of tsc.
_COLONS = re.compile(
    r"\s*(?:vet: )?(?P<path>(?=[^\s:()]*[./])[^\s:()]+):\d+(?::\d+)?(?::| -)\s*(?P<message>\S.*)"
)
_PARENTHESES = re.compile(r"(?P<path>[^\s()]+)\(\d+,\d+\): (?P<message>\S.*)")
# ESLint's `stylish` and ruff's `grouped` print the path on its own line and the complaints below
# it.
_FILE = re.compile(r"(?P<path>(?=\S*[./])\S*[^\s:]):?")
_BELOW = re.compile(r"\s+\d+:\d+\s+(?P<message>\S.*)")
# rustc, clippy and ruff's `full` print the complaint first, then an arrow to its place.
_ARROW = re.compile(r"\s*--> (?P<path>.+?):\d+:\d+")
_HEAD = re.compile(r"(?P<message>(?:[A-Za-z][\w-]*)(?:\[\w+\])?:? .+)")
_REFORMAT = re.compile(r"(?:would reformat|Would reformat:|\[warn\]) (?P<path>\S+\.\w+)")

_SEVERITY = re.compile(
    r"(?P<severity>error|warning|warn|note|info|information|help)"
    r"(?:\[(?P<code>\w+)\])?(?::\s+|\s{2,}|\s+(?=TS\d))"
)
_STATED = (
    re.compile(r"Found (?P<errors>\d+) errors?\b.*"),
    re.compile(r"✖ \d+ problems? \((?P<errors>\d+) errors?, \d+ warnings?\)"),
    re.compile(r"(?P<errors>\d+) errors?, \d+ warnings?, \d+ informations?.*"),
    re.compile(r"(?P<errors>\d+) issues[:.].*"),
)
_ALL_COUNT = re.compile(r"ESLint found too many warnings.*")
_CUT_SHORT = re.compile(r".*\(errors prevented further checking\)")


class Diagnostics(Frozen):
    """The complaints in the order of the output, repetitions included.

    `whole` is true if none is known to be missing.
    """

    items: tuple[str, ...] = ()
    whole: bool = True


def read_diagnostics(lines: Sequence[str]) -> Diagnostics:
    """Return the errors.

    Return the warnings if there is nothing else or if the tool counts them.
    """
    complaints = [*_find_complaints(lines)]
    errors = [item for severity, item in complaints if severity == "error"]
    every = any(map(_ALL_COUNT.fullmatch, lines))
    items = [item for _, item in complaints] if every or not errors else errors
    stated = sum(
        int(match["errors"])
        for line in lines
        for form in _STATED
        if (match := form.fullmatch(line)) is not None
    )
    return Diagnostics(
        items=tuple(items),
        whole=len(errors) >= stated and not any(map(_CUT_SHORT.fullmatch, lines)),
    )


def _find_complaints(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the severity and the stable name of each complaint."""
    path = ""
    for number, line in enumerate(lines):
        if (below := _BELOW.fullmatch(line)) is not None and path:
            yield from _name_complaint(path, below["message"])
        elif (match := _PARENTHESES.fullmatch(line) or _COLONS.fullmatch(line)) is not None:
            yield from _name_complaint(match["path"], match["message"])
        elif (match := _REFORMAT.fullmatch(line)) is not None:
            yield "error", f"{match['path']}: would be reformatted"
        elif _ARROW.fullmatch(line) is not None:
            yield from filter(None, [_read_arrow(lines, number)])
        if line.strip() and below is None:
            file = _FILE.fullmatch(line)
            path = file["path"] if file is not None else ""


def _read_arrow(lines: Sequence[str], number: int) -> tuple[str, str] | None:
    """Return the complaint whose place is given on line `number`.

    The line above must be a complaint and no note.
    """
    arrow = _ARROW.fullmatch(lines[number])
    head = _HEAD.fullmatch(lines[number - 1]) if number else None
    return (
        next(_name_complaint(arrow["path"], head["message"]), None)
        if arrow is not None and head is not None
        else None
    )


def _name_complaint(path: str, message: str) -> Iterator[tuple[str, str]]:
    severity = _SEVERITY.match(message)
    word = severity["severity"] if severity is not None else "error"
    if word in {"note", "info", "information", "help"}:
        return
    text = message[severity.end() :] if severity is not None else message
    code = f"{severity['code']} " if severity is not None and severity["code"] else ""
    yield ("error" if word == "error" else "warning"), f"{path}: {code}{_stable(text)}"[:_LONGEST]


def _stable(message: str) -> str:
    """Return the message without places and fix marks. ESLint pads its columns with blanks."""
    message = re.sub(r"\[\*\] ", "", message)
    message = re.sub(r"\b(lines?|columns?|col) \d+(?:[-:]\d+)?", r"\1 N", message)
    message = re.sub(r"(\.\w+):\d+(?::\d+)?", r"\1", message)
    return re.sub(r"0x[0-9a-f]{4,}", "0x…", " ".join(message.split()))
