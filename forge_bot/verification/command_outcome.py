"""Read the outcome of a command of the project: its exit code, what its output and its runner's
reports say, and the complaints of linters, type checkers and compilers, each by a name that stays
the same when lines move; and choose the part of the output that a model or a person is shown: the
words of the failing tests first, which also tell where these stand in the code.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile
from typing import NamedTuple

from forge_bot.values import CommandName, CommandResult, Frozen
from forge_bot.verification.judgement import UNNAMED
from forge_bot.verification.runner_output import Lines, RunnerResult, read_go
from forge_bot.verification.runners import RUNNERS, read_report

_STOPPED = re.compile(
    r"!+ (?:stopping after|Interrupted:|xdist\.dsession\.Interrupted|_pytest\.outcomes\.Exit).*"
    r"|\[… \d+ bytes left out …\]"
)
"""Lines behind which tests may be missing."""
_LISTED = re.compile(
    r"\w+ \([\w.]+\)(?: \.\.\. .*)?"
    r"|.* \.\.\. (?:ok|FAIL|ERROR|skipped '.*|expected failure|unexpected success)"
)
"""Lines of a verbose unittest, which its end repeats for those that failed."""
# Colours and other terminal control sequences,
# https://ecma-international.org/publications-and-standards/standards/ecma-48/.
_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_NPM_OPTIONS = re.compile(
    r"^npm (?:error|ERR!) Options:\n(?:npm (?:error|ERR!).*\n?)+", re.MULTILINE
)
"""What npm prints behind an error, whatever it is, and longer than what is shown."""
_LONGEST_LINE = 4_000
"""Characters of a line of output that are looked at."""
_NO_REPORTS: Mapping[str, str] = {}
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


class CommandOutput(NamedTuple):
    """The result of a command, its readable output, and the tests that passed; None where the
    runner does not list them.
    """

    result: CommandResult
    output: str
    passed: tuple[str, ...] | None = None


def read_outcome(
    name: CommandName,
    argv: Sequence[str],
    exit_code: int,
    output: str,
    duration_ms: int,
    timed_out: bool = False,
    reports: Mapping[str, str] = _NO_REPORTS,
) -> CommandOutput:
    """Return the outcome of a command from its exit code, its output and its runner's reports.

    The output holds standard output and standard error in the order they were written. `failures`
    end with `UNNAMED` if more tests failed than are named, or if the runner stopped early; but of a
    command that failed without a name they are empty.
    """
    lines = [cut_line(line) for line in plain_lines(output)]
    run = RunnerResult()
    if name is CommandName.TEST:
        run, lines = _read_tests(lines, reports)
        if "unittest" in argv:
            lines = [line for line in lines if _LISTED.fullmatch(line) is None]
    elif exit_code != 0 and name in {CommandName.BUILD, CommandName.LINT}:
        run = RunnerResult(failing=_read_complaints(lines))
    result = CommandResult(
        name=name,
        argv=tuple(argv),
        exit_code=exit_code,
        duration_ms=duration_ms,
        timed_out=timed_out,
        tests=run.tests,
        failures=(
            *sorted(run.failing),
            *([UNNAMED] if not run.whole and (run.failing or exit_code == 0) else []),
        ),
        tail=shown_output(lines, TAIL_CHARACTERS, TAIL_LINES),
    )
    return CommandOutput(result, "\n".join(lines), run.passed)


def _read_tests(lines: list[str], reports: Mapping[str, str]) -> tuple[RunnerResult, list[str]]:
    """Return what the runners of a test command say, and the lines that tell it to people."""
    of_go, shown = read_go(lines)
    runs = [of_go, *(read_report(*report) for report in sorted(reports.items()))]
    runs += [runner.read_output(shown) for runner in RUNNERS if runner.read_output is not None]
    known = [run for run in runs if run is not None]
    shown = [*shown, *(line for run in known for line in run.shown.split("\n") if run.shown)]
    run = _together(known)
    if (reports or of_go is not None) and any(map(_STOPPED.fullmatch, shown)):
        run = run.replace(whole=False)
    return run, shown


def _together(runs: Sequence[RunnerResult]) -> RunnerResult:
    """Combine several runners. If one count is unknown, the sum is unknown; so are the names."""
    counts, lists = [run.tests for run in runs], [run.passed for run in runs]
    passed = tuple(name for names in lists for name in names or ())
    return RunnerResult(
        tests=sum(filter(None, counts)) if runs and None not in counts else None,
        failing=tuple(name for run in runs for name in run.failing),
        whole=all(run.whole for run in runs),
        passed=passed if runs and None not in lists else None,
    )


def cut_line(line: str) -> str:
    """Return the line, without the middle of a very long one: a command may write a million
    characters in a line, and the time to read it would grow with their square.
    """
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[: _LONGEST_LINE // 2]}{GAP}{line[-_LONGEST_LINE // 2 :]}"


def plain_lines(output: str) -> Sequence[str]:
    """Return the lines of the output without terminal control and npm's list of options.

    Of an overwritten line only the last text remains.
    """
    plain = _NPM_OPTIONS.sub("", _CONTROL.sub("", output).replace("\r\n", "\n"))
    return [line.rpartition("\r")[2].rstrip() for line in plain.split("\n")]


def _read_complaints(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the errors of a linter or compiler, in the order of the output and with repetitions;
    the warnings if there is nothing else.
    """
    complaints = [*_find_complaints(lines)]
    errors = tuple(item for severity, item in complaints if severity == "error")
    return errors or tuple(item for _, item in complaints)


def _find_complaints(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the severity and the stable name of each complaint. An arrow to a place stands below
    its complaint; a note has no place.
    """
    path = above = ""
    for line in lines:
        below = _BELOW.fullmatch(line)
        if below is not None and path:
            yield from _name_complaint(path, below["message"])
        elif (match := _PARENTHESES.fullmatch(line) or _COLONS.fullmatch(line)) is not None:
            yield from _name_complaint(match["path"], match["message"])
        elif (match := _REFORMAT.fullmatch(line)) is not None:
            yield "error", f"{match['path']}: would be reformatted"
        elif (arrow := _ARROW.fullmatch(line)) and (head := _HEAD.fullmatch(above)):
            yield from _name_complaint(arrow["path"], head["message"])
        if line.strip() and below is None:
            file = _FILE.fullmatch(line)
            path = file["path"] if file is not None else ""
        above = line


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
    words = "\n".join(words[: characters * 3 // 4].split("\n")[: room * 3 // 4])
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
