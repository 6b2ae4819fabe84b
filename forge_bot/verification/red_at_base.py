"""Prove that a change mends a defect: its tests fail at the base commit and pass at the end; and
compare the names of tests in documents with those that runners report.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from posixpath import basename

from forge_bot.text_format import command_line
from forge_bot.values import CommandResult
from forge_bot.verification.judgement import UNNAMED, Cause, cause_of
from forge_bot.verification.shown_output import about, failure_blocks

_NAMES_FILES = re.compile(r"^[^:./]*[./][^:]*::|\.[cm]?[jt]sx? [›>] |^\w+ \([\w.]+\)")
"""Names of tests that tell their file: of pytest, of Jest and Vitest, of unittest. Those of Cargo
begin with a module.
"""
_FILE_BEFORE = re.compile(r"^.+?(?:::| [›>] )")
_PATH_END = re.compile(r"(?:::| [›>] )$")
_NO_TEST = re.compile(r"_FailedTest|^setUp|^tearDown|\(error\)$")


_LACKS_A_NAME = re.compile(
    r"^E?\s*(?:ImportError|ModuleNotFoundError|NameError|ReferenceError)\b"
    r"|^E?\s*AttributeError: (?:module|type object) (?!.*attribute '__)"
    r"|\bCannot find module\b|is not a function\b",
    re.MULTILINE,
)
"""A test that stops where the base commit has no such name shows no defect, unless it is one of
Python's own names, which no change brings.
"""


def red_at_base(
    with_tests: CommandResult, known: Collection[str], output: str = ""
) -> tuple[str, ...]:
    """Return the tests that fail only because the base commit lacks the change.

    They fail there with the tests of the change, and not because a name is not there yet. The known
    ones fail without these tests too, or after the change.
    """
    blocks = failure_blocks(output.splitlines())
    nameless = [block for block in blocks if _LACKS_A_NAME.search(block.text)]
    return tuple(
        name
        for name in dict.fromkeys(with_tests.failures)
        if name not in {*known, UNNAMED} and not _NO_TEST.search(name)
        if not any(about(name, block) for block in nameless)
    )


def is_red_script(before: CommandResult | None, there: CommandResult, now: CommandResult) -> bool:
    """Return whether a command that names no tests shows a defect by its exit code: 0 before the
    change and after it, and not with only its tests.
    """
    if before is None or any(one.tests is not None or one.failures for one in (before, there, now)):
        return False
    green = all(one.exit_code == 0 and not one.timed_out for one in (before, now))
    return green and there.exit_code != 0 and cause_of(there) is Cause.UNREADABLE


def of_files(names: Sequence[str], files: Collection[str]) -> tuple[str, ...]:
    """Return the names of tests in certain files, as far as the names contain files."""
    return tuple(
        name
        for name in names
        if _NAMES_FILES.search(name) is None or any(_lies_in(name, file) for file in files)
    )


def _lies_in(name: str, file: str) -> bool:
    stem = basename(file).split(".")[0]
    file_named = _FILE_BEFORE.match(name)
    if file_named is not None and f"/{file}".endswith(f"/{_PATH_END.sub('', file_named[0])}"):
        # Vitest names a file as its project sees it.
        return True
    return name.startswith((f"{file}:", f"{file} ")) or stem in re.split(r"[.()\s]+", name)


def _failed_to_load(result: CommandResult) -> bool:
    return any(_NO_TEST.search(name) for name in result.failures)


def why_not_red(results: Sequence[CommandResult]) -> Iterator[str]:
    """Yield sentences about test commands that showed no red test at the base commit."""
    for result in results:
        words = f"`{command_line(result.argv)}`"
        if result.timed_out:
            yield f"At the base commit {words} did not end in time with the tests of this change."
        elif _failed_to_load(result):
            yield f"At the base commit {words} could not load the tests of this change."
        elif result.exit_code and not result.failures:
            yield f"The output of {words} does not name its tests."
        else:
            yield f"At the base commit no test of this change fails with {words}."


_LINE = re.compile(r":\d+(?:-\d+)?$")
_CASES = re.compile(r"(?<=\S)(?:\[[^\]]*\]|\([^()]*\))$")
_STEPS = re.compile(r"::| [›>] |[#.]")
_GO_CASE = re.compile(r"(?P<test>Test\w*)/.+")
_OPEN = re.compile(r"…|%[sdifjopc#$]|\\\$\\\{[^}]*\\\}|\\\$\w[\w.]*")
"""A place of a title for a value, as `each` of Jest and Vitest has them, or where it is cut."""


def plain_name(name: str) -> str:
    """Return a name without the number of a line."""
    return _LINE.sub("", name.strip()).removeprefix("./")


def names_test(name: str, test: str) -> bool:
    """Return whether a document's name is that of a reported test, of a part of it, of its class
    or of its file: `test_a` and `tests/a.py::A` of `tests/a.py::A::test_a[1]`.
    """
    plain = plain_name(name)
    plain = plain if " " in plain else _CASES.sub("", plain)
    if (case := _GO_CASE.fullmatch(plain)) is not None:
        plain = case["test"]
    if not plain:
        return False
    if plain.endswith(".py") and names_test(plain[:-3].replace("/", "."), test):
        # unittest names a file as a module.
        return True
    words = _OPEN.sub(".*", re.escape(_STEPS.sub(":", plain)))
    return re.search(rf"(?:^|[^\w]){words}(?=$|[:\[(/]| \()", _STEPS.sub(":", test)) is not None


def is_listed(name: str, passed: Collection[str]) -> bool:
    """Return whether a test that failed elsewhere is among those that passed here: by its name, by
    that of the test which a part belongs to, or by its title where only titles are listed.
    """
    whole = name in passed or _STEPS.split(name)[-1] in passed
    return whole or any(name.startswith(f"{test} ") for test in passed)
