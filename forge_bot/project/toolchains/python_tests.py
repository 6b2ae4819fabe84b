"""Detect how a Python project runs its tests, and its linters: those that it configures, else those
that tox or CI calls.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from posixpath import basename, dirname

import yaml

from forge_bot.artifacts.test_paths import is_test_file
from forge_bot.project.detected_commands import Command, command
from forge_bot.project.file_list import Listing, ini, items, join, string, table, toml
from forge_bot.project.toolchains.python_install import PYTHON
from forge_bot.project.toolchains.python_needs import DeclaredDependencies
from forge_bot.settings.yaml_file import read_contents
from forge_bot.values import Frozen

_PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
_CONFIGURATIONS = (
    *((name, ("pytest",)) for name in _PYTEST_FILES),
    ("pyproject.toml", ("tool", "pytest")),
    ("tox.ini", ("pytest",)),
    ("setup.cfg", ("tool:pytest",)),
)
"""The files and tables that may configure pytest."""
_USES_PYTEST = re.compile(
    r"^[^\S\n]*(?:import|from)\s+pytest\b|^(?:async\s+)?def\s+test_", re.MULTILINE
)
_USES_UNITTEST = re.compile(r"^[^\S\n]*(?:import|from)\s+unittest\b", re.MULTILINE)
_USES_DJANGO = re.compile(r"^[^\S\n]*(?:import|from)\s+django\.test\b", re.MULTILINE)
_READ_AT_MOST = 60


class PythonRunner(StrEnum):
    """The program that runs the tests."""

    PYTEST = "pytest"
    UNITTEST = "unittest"
    DJANGO = "django"
    NONE = ""


class Tests(Frozen):
    """The runner, the reason for it, and the test files."""

    runner: PythonRunner
    reason: str = ""
    files: tuple[str, ...] = ()


def read_tests(listing: Listing, folder: str, needs: DeclaredDependencies) -> Tests:
    """Return the runner of the project in a folder.

    Pytest runs unittest's classes too, so any sign of pytest decides.
    """
    files = tuple(
        path for path in listing.own(folder) if path.endswith(".py") and is_test_file(path)
    )
    configured = _find_configuration(listing, folder)
    declared = needs.declared("pytest")
    texts = {path: listing.text(path) for path in files[:_READ_AT_MOST]}
    written = _first(texts, _USES_PYTEST)
    if configured or declared or written:
        reason = configured or (declared and "the project declares pytest")
        reason = reason or f"{written} is written for pytest"
        return Tests(runner=PythonRunner.PYTEST, reason=reason, files=files)
    if listing.has(manage := join(folder, "manage.py")) and (path := _first(texts, _USES_DJANGO)):
        reason = f"{manage} is there and {path} imports django.test"
        return Tests(runner=PythonRunner.DJANGO, reason=reason, files=files)
    if path := _first(texts, _USES_UNITTEST):
        reason = f"{path} imports unittest, and nothing names pytest"
        return Tests(runner=PythonRunner.UNITTEST, reason=reason, files=files)
    return Tests(runner=PythonRunner.NONE, files=files)


def unittest_words(listing: Listing, files: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the words of the fewest discoveries that reach all test files.

    Discovery descends into packages only
    (https://docs.python.org/3/library/unittest.html#test-discovery), so each file is reached from
    the topmost package around it, or from its own folder when that is no package.
    """
    starts = set[tuple[str, str, str]]()
    for path in files:
        folder = top = dirname(path)
        while top and listing.has(join(top, "__init__.py")):
            folder, top = top, dirname(top)
        pattern = "test*.py" if basename(path).startswith("test") else "*_test.py"
        starts.add((folder or ".", top or ".", pattern))
    return [
        (
            *("-m", "unittest", "discover", "-v", "-s", folder),
            *(() if top == folder else ("-t", top)),
            *(() if pattern == "test*.py" else ("-p", pattern)),
        )
        for folder, top, pattern in sorted(starts)
        # A discovery that starts in the folder around a package finds its files too.
        if folder == top or (top, top, pattern) not in starts
    ]


def _first(texts: dict[str, str], sign: re.Pattern[str]) -> str:
    return next((path for path, text in texts.items() if sign.search(text)), "")


def _find_configuration(listing: Listing, folder: str) -> str:
    """Return what configures pytest; empty when nothing does.

    The places are in the order in which pytest looks.
    Source: https://docs.pytest.org/en/stable/reference/customize.html
    """
    for name, path_of_table in _CONFIGURATIONS:
        path = join(folder, name)
        if not listing.has(path):
            continue
        text = listing.text(path)
        content: Mapping[str, object] = toml(text) if name.endswith(".toml") else ini(text)
        if name in _PYTEST_FILES or _section(content, path_of_table) is not None:
            return f"{path} configures pytest"
    own = listing.first(folder, ("conftest.py", "tests/conftest.py"))
    return f"{own} is pytest's" if own else ""


def _section(content: Mapping[str, object], path: Sequence[str]) -> object:
    return table(content, *path[:-1]).get(path[-1])


_LINTERS = frozenset({"flake8", "mypy", "pycodestyle", "pyflakes", "pylint", "ruff"})
_RUNNERS = frozenset({"python", "python3", "-m", "uv", "poetry", "pdm", "hatch", "run", "uvx"})
"""Words before a linter's name that only say by what it is started."""
_CHANGES = frozenset({"--fix", "--in-place", "--version"})
_POSARGS = re.compile(r"\{posargs:?([^{}]*)\}")
_SHELL = re.compile(r"[|&;<>$`*{}]")
_CONCISE = "--output-format=concise"


def find_linters(listing: Listing, folder: str) -> Iterator[Command]:
    """Yield Ruff if it is configured, else flake8 if that is, else what tox or CI calls.

    Projects that moved to Ruff often left flake8's settings behind.
    """
    target = folder or "."
    manifest = join(folder, "pyproject.toml")
    ruff = listing.first(folder, ("ruff.toml", ".ruff.toml"))
    if ruff or "ruff" in table(toml(listing.text(manifest)), "tool"):
        reason = f"{ruff or manifest} configures ruff"
        yield command(reason, PYTHON, "-m", "ruff", "check", _CONCISE, target)
        return
    for name in (".flake8", "setup.cfg", "tox.ini"):
        if "flake8" in ini(listing.text(join(folder, name))):
            config = () if not folder else ("--config", join(folder, name))
            yield command(
                f"{join(folder, name)} configures flake8", PYTHON, "-m", "flake8", *config, target
            )
            return
    if not folder:
        yield from _called_linters(listing)


def _called_linters(listing: Listing) -> Iterator[Command]:
    """Yield the first call of each linter in tox.ini and in GitHub's workflows."""
    calls: dict[str, Command] = {}
    for path, line in _lines_of_ci(listing):
        words = _words(line)
        start = next((at for at, word in enumerate(words) if word in _LINTERS), None)
        if start is None or not _RUNNERS.issuperset(words[:start]):
            continue
        tool, given = words[start], words[start + 1 :]
        # `ruff format` and a linter that mends what it finds change files.
        if (tool == "ruff" and given[:1] != ["check"]) or _CHANGES.intersection(given):
            continue
        calls.setdefault(tool, command(f"{path} calls {tool}", PYTHON, "-m", tool, *given))
    yield from calls.values()


def _lines_of_ci(listing: Listing) -> Iterator[tuple[str, str]]:
    """Yield the lines of tox's commands and of the steps of GitHub's workflows, with their file."""
    for name, section in ini(listing.text("tox.ini")).items():
        if name.startswith("testenv"):
            yield from (("tox.ini", line) for line in section.get("commands", "").splitlines())
    for path in listing.below(".github/workflows"):
        for job in table(_yaml(listing.text(path)), "jobs").values():
            for step in items(table(job).get("steps")):
                lines = string(table(step).get("run")).splitlines()
                yield from ((path, line) for line in lines)


def _yaml(text: str) -> object:
    try:
        return read_contents(text).value
    except (yaml.YAMLError, ValueError):
        return None


def _words(line: str) -> list[str]:
    """Return the words of a line that needs no shell; tox's placeholders become what they stand
    for by default. Otherwise empty.
    """
    line = _POSARGS.sub(r"\1", line).replace("{toxinidir}/", "").replace("{toxinidir}", ".")
    try:
        return [] if _SHELL.search(line) else shlex.split(line)
    except ValueError:
        return []
