"""Detect how a Python project runs its tests: the evidence for it, and where they start."""

import re
import shlex
from collections.abc import Iterator, Sequence
from enum import StrEnum
from posixpath import basename, dirname
from typing import NamedTuple

from forge_bot.project.file_list import Listing, join
from forge_bot.project.lenient_config import ini, strings, table, toml
from forge_bot.project.toolchains.python_needs import DeclaredDependencies
from forge_bot.values import Frozen

_PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
_USES_PYTEST = re.compile(
    r"^[^\S\n]*(?:import|from)\s+pytest\b|^(?:async\s+)?def\s+test_", re.MULTILINE
)
_USES_UNITTEST = re.compile(r"^[^\S\n]*(?:import|from)\s+unittest\b", re.MULTILINE)
_USES_DJANGO = re.compile(r"^[^\S\n]*(?:import|from)\s+django\.test\b", re.MULTILINE)
_TEST_FILE = re.compile(r"(?:tests?|test(?:_|[A-Z0-9]).*|.*_test)\.py")
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
    files = tuple(path for path in listing.own(folder) if _is_test(path.rpartition("/")[2]))
    configured, quiet = _configured(listing, folder)
    declared = needs.named_in("pytest")
    if configured or declared:
        return Tests(
            runner=Runner.PYTEST,
            reason=configured or f"{declared} names pytest",
            files=files,
            quiet=quiet,
        )
    texts = {path: listing.text(path) for path in files[:_READ_AT_MOST]}
    if path := _first(texts, _USES_PYTEST):
        return Tests(runner=Runner.PYTEST, reason=f"{path} is written for pytest", files=files)
    if listing.has(manage := join(folder, "manage.py")) and (path := _first(texts, _USES_DJANGO)):
        return Tests(
            runner=Runner.DJANGO,
            reason=f"{manage} is there and {path} imports django.test",
            files=files,
        )
    if path := _first(texts, _USES_UNITTEST):
        return Tests(
            runner=Runner.UNITTEST,
            reason=f"{path} imports unittest, and nothing names pytest",
            files=files,
        )
    return Tests(runner=Runner.NONE, files=files)


def unittest_starts(listing: Listing, files: Sequence[str]) -> tuple[UnittestStart, ...]:
    """Return the fewest discoveries that reach all test files.

    Discovery descends into packages only
    (https://docs.python.org/3/library/unittest.html#test-discovery), so each file is reached from
    the topmost package around it, or from its own folder when that is no package.
    """
    starts = {_start(listing, path) for path in files}
    kept = {each for each in starts if not any(_reaches(other, each) for other in starts - {each})}
    return tuple(sorted(kept, key=lambda each: (each.folder, each.pattern)))


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


def _is_test(name: str) -> bool:
    return bool(_TEST_FILE.fullmatch(name))


def _first(texts: dict[str, str], sign: re.Pattern[str]) -> str:
    return next((path for path, text in texts.items() if sign.search(text)), "")


def _configured(listing: Listing, folder: str) -> tuple[str, bool]:
    """Return what configures pytest, and whether it requests quiet output already.

    Both are empty when nothing does.
    """
    for reason, options in _configurations(listing, folder):
        return reason, any(
            re.fullmatch(r"-[a-zA-Z]*q[a-zA-Z]*|--quiet", option) for option in options
        )
    return "", False


def _configurations(listing: Listing, folder: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield configurations in the order in which pytest looks for them.

    Source: https://docs.pytest.org/en/stable/reference/customize.html
    """
    for name in _PYTEST_FILES:
        if listing.has(path := join(folder, name)):
            text = listing.text(path)
            section = (
                table(toml(text), "pytest")
                if name.endswith(".toml")
                else ini(text).get("pytest", {})
            )
            yield f"{path} configures pytest", _options(section.get("addopts"))
    path = join(folder, "pyproject.toml")
    tool = table(toml(listing.text(path)), "tool")
    if "pytest" in tool:
        section = table(tool, "pytest")
        yield (
            f"{path} configures pytest",
            _options(table(section, "ini_options").get("addopts") or section.get("addopts")),
        )
    for name, heading in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        sections = ini(listing.text(join(folder, name)))
        if heading in sections:
            yield (
                f"{join(folder, name)} configures pytest",
                _options(sections[heading].get("addopts")),
            )
    if listing.has(path := join(folder, "conftest.py")) or listing.has(
        path := join(folder, "tests/conftest.py")
    ):
        yield f"{path} is pytest's", ()


def _options(value: object) -> tuple[str, ...]:
    try:
        return tuple(option for each in strings(value) for option in shlex.split(each))
    except ValueError:
        return ()
