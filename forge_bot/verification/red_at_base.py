"""Prove that a change mends a defect: its tests fail at the base commit and pass at the end."""

import re
from collections.abc import Collection, Iterator, Sequence
from posixpath import basename

from forge_bot.text_format import command_line
from forge_bot.values import CommandResult
from forge_bot.verification.judgement import UNNAMED
from forge_bot.verification.runner_result import COVERAGE

_NAMES_FILES = re.compile(r"^[^:./]*[./][^:]*::|\.[cm]?[jt]sx? [›>] |^\w+ \([\w.]+\)")
"""Names of tests that tell their file: of pytest, of Jest and Vitest, of unittest. Those of Cargo
begin with a module.
"""
_FILE_BEFORE = re.compile(r"^.+?(?:::| [›>] )")
_PATH_END = re.compile(r"(?:::| [›>] )$")
_NO_TEST = re.compile(
    r"\[(?:build|setup) failed\]|_FailedTest|^setUp|^tearDown| panicked$|\(error\)$"
)


def red_at_base(with_tests: CommandResult, known: Collection[str]) -> tuple[str, ...]:
    """Return the tests that fail only because the base commit lacks the change.

    They fail there with the tests of the change. The known ones fail without these tests too, or
    after the change.
    """
    return tuple(
        name
        for name in dict.fromkeys(with_tests.failures)
        if name not in {*known, UNNAMED, COVERAGE} and not _NO_TEST.search(name)
    )


def of_files(names: Sequence[str], files: Collection[str]) -> tuple[str, ...]:
    """Return the names of tests in certain files, as far as the names contain files."""
    return tuple(
        name
        for name in names
        if _NAMES_FILES.search(name) is None or any(_in(name, file) for file in files)
    )


def _in(name: str, file: str) -> bool:
    stem = basename(file).split(".")[0]
    file_named = _FILE_BEFORE.match(name)
    if file_named is not None and f"/{file}".endswith(f"/{_PATH_END.sub('', file_named[0])}"):
        # Vitest names a file as its project sees it.
        return True
    return name.startswith((f"{file}:", f"{file} ")) or stem in re.split(r"[.()\s]+", name)


def _not_loaded(result: CommandResult) -> bool:
    """Return whether tests could not be loaded."""
    return any(_NO_TEST.search(name) for name in result.failures)


def why_not_red(results: Sequence[CommandResult]) -> Iterator[str]:
    """Yield sentences about test commands that showed no red test at the base commit."""
    for result in results:
        words = f"`{command_line(result.argv)}`"
        if result.timed_out:
            yield f"At the base commit {words} did not end in time with the tests of this change."
        elif _not_loaded(result):
            yield f"At the base commit {words} could not load the tests of this change."
        elif result.exit_code and not result.failures:
            yield f"The output of {words} does not name its tests."
        else:
            yield f"At the base commit no test of this change fails with {words}."
