"""Prove that a change mends a defect: its tests fail at the base commit and pass at the end."""

import re
from collections.abc import Collection, Iterator, Sequence
from posixpath import basename

from forge_bot.text_format import command_line
from forge_bot.values import CommandResult
from forge_bot.verification.judgement import UNNAMED
from forge_bot.verification.runner_result import COVERAGE
from forge_bot.verification.shown_output import about, failure_blocks
from forge_bot.verification.unusable_commands import Cause, cause_of

_NAMES_FILES = re.compile(r"^[^:./]*[./][^:]*::|\.[cm]?[jt]sx? [›>] |^\w+ \([\w.]+\)")
"""Names of tests that tell their file: of pytest, of Jest and Vitest, of unittest. Those of Cargo
begin with a module.
"""
_FILE_BEFORE = re.compile(r"^.+?(?:::| [›>] )")
_PATH_END = re.compile(r"(?:::| [›>] )$")
_NO_TEST = re.compile(
    r"\[(?:build|setup) failed\]|_FailedTest|^setUp|^tearDown| panicked$|\(error\)$"
)


_LACKS_A_NAME = re.compile(
    r"^E?\s*(?:ImportError|ModuleNotFoundError|NameError|ReferenceError)\b"
    r"|^E?\s*AttributeError: (?:module|type object) |\bCannot find module\b|is not a function\b",
    re.MULTILINE,
)
"""A test that stops where the base commit has no such name shows no defect."""


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
        if name not in {*known, UNNAMED, COVERAGE} and not _NO_TEST.search(name)
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
