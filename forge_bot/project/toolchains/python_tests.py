"""Detect how a Python project runs its tests: the evidence for it, and where they start."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from posixpath import basename, dirname
from typing import NamedTuple

from forge_bot.artifacts.test_paths import is_test_file
from forge_bot.project.file_list import Listing, join
from forge_bot.project.lenient_config import ini, strings, table, toml
from forge_bot.project.toolchains.python_needs import DeclaredDependencies
from forge_bot.values import Frozen

_PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
_CONFIGURATIONS = (
    *((name, ("pytest",)) for name in _PYTEST_FILES),
    ("pyproject.toml", ("tool", "pytest")),
    ("tox.ini", ("pytest",)),
    ("setup.cfg", ("tool:pytest",)),
)
"""The files and tables that may configure pytest."""
_QUIET = re.compile(r"-[a-zA-Z]*q[a-zA-Z]*|--quiet")
_USES_PYTEST = re.compile(
    r"^[^\S\n]*(?:import|from)\s+pytest\b|^(?:async\s+)?def\s+test_", re.MULTILINE
)
_USES_UNITTEST = re.compile(r"^[^\S\n]*(?:import|from)\s+unittest\b", re.MULTILINE)
_USES_DJANGO = re.compile(r"^[^\S\n]*(?:import|from)\s+django\.test\b", re.MULTILINE)
_READ_AT_MOST = 60


class Runner(StrEnum):
    """The program that runs the tests."""

    PYTEST = "pytest"
    UNITTEST = "unittest"
    DJANGO = "django"
    NONE = ""


class Tests(Frozen):
    """The runner, the reason for it, and the test files."""

    runner: Runner
    reason: str = ""
    files: tuple[str, ...] = ()
    quiet: bool = False


class UnittestStart(NamedTuple):
    """The start folder of unittest's discovery, the folder of its imports, and its file pattern."""

    folder: str
    top: str
    pattern: str


def read_tests(listing: Listing, folder: str, needs: DeclaredDependencies) -> Tests:
    """Return the runner of the project in a folder.

    Pytest runs unittest's classes too, so any sign of pytest decides.
    """
    files = tuple(
        path for path in listing.own(folder) if path.endswith(".py") and is_test_file(path)
    )
    configured, quiet = _find_configuration(listing, folder)
    declared = needs.named_in("pytest")
    if reason := configured or (declared and f"{declared} names pytest"):
        return Tests(runner=Runner.PYTEST, reason=reason, files=files, quiet=quiet)
    texts = {path: listing.text(path) for path in files[:_READ_AT_MOST]}
    if path := _first(texts, _USES_PYTEST):
        return Tests(runner=Runner.PYTEST, reason=f"{path} is written for pytest", files=files)
    if listing.has(manage := join(folder, "manage.py")) and (path := _first(texts, _USES_DJANGO)):
        reason = f"{manage} is there and {path} imports django.test"
        return Tests(runner=Runner.DJANGO, reason=reason, files=files)
    if path := _first(texts, _USES_UNITTEST):
        reason = f"{path} imports unittest, and nothing names pytest"
        return Tests(runner=Runner.UNITTEST, reason=reason, files=files)
    return Tests(runner=Runner.NONE, files=files)


def unittest_starts(listing: Listing, files: Sequence[str]) -> tuple[UnittestStart, ...]:
    """Return the fewest discoveries that reach all test files.

    Discovery descends into packages only
    (https://docs.python.org/3/library/unittest.html#test-discovery), so each file is reached from
    the topmost package around it, or from its own folder when that is no package.
    """
    starts = {_start(listing, path) for path in files}
    kept = {
        start for start in starts if not any(_reaches(other, start) for other in starts - {start})
    }
    return tuple(sorted(kept, key=lambda start: (start.folder, start.pattern)))


def _start(listing: Listing, path: str) -> UnittestStart:
    pattern = "test*.py" if basename(path).startswith("test") else "*_test.py"
    folder = top = dirname(path)
    while top and listing.has(join(top, "__init__.py")):
        folder, top = top, dirname(top)
    return UnittestStart(folder=folder or ".", top=top or ".", pattern=pattern)


def _reaches(start: UnittestStart, other: UnittestStart) -> bool:
    """Return whether the first discovery also finds the second's files.

    It does if it starts in the folder that holds the other's package.
    """
    return start.pattern == other.pattern and start.folder == start.top == other.top


def _first(texts: dict[str, str], sign: re.Pattern[str]) -> str:
    return next((path for path, text in texts.items() if sign.search(text)), "")


def _find_configuration(listing: Listing, folder: str) -> tuple[str, bool]:
    """Return what configures pytest, and whether it requests quiet output already.

    Both are empty when nothing does. The places are in the order in which pytest looks.
    Source: https://docs.pytest.org/en/stable/reference/customize.html
    """
    for name, path_of_table in _CONFIGURATIONS:
        path = join(folder, name)
        if not listing.has(path):
            continue
        text = listing.text(path)
        content: Mapping[str, object] = toml(text) if name.endswith(".toml") else ini(text)
        if (section := _section(content, path_of_table)) is not None or name in _PYTEST_FILES:
            options = table(table(section), "ini_options").get("addopts")
            return f"{path} configures pytest", _is_quiet(options or table(section).get("addopts"))
    own = listing.first(folder, ("conftest.py", "tests/conftest.py"))
    return (f"{own} is pytest's", False) if own else ("", False)


def _is_quiet(options: object) -> bool:
    return any(_QUIET.fullmatch(word) for line in strings(options) for word in line.split())


def _section(content: Mapping[str, object], path: Sequence[str]) -> object:
    return table(content, *path[:-1]).get(path[-1])
