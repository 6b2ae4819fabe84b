"""Python: venv and pip; how tests run (pytest, unittest or Django); the linters that a project
configures, else those that tox or CI calls.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from posixpath import basename, dirname
from typing import Literal

import yaml

from forge_bot.artifacts.test_paths import TEST_FOLDERS, is_test_file
from forge_bot.forge import WORKFLOWS
from forge_bot.project.detected_commands import (
    ENV,
    MOST_PROJECTS,
    Command,
    ProjectCommands,
    combined,
    command,
)
from forge_bot.project.file_list import Listing, ini, items, join, string, table, toml
from forge_bot.project.toolchains.python_install import (
    PYTHON,
    DeclaredDependencies,
    managed_commands,
    manager_of,
    pip_commands,
    pip_words,
    read_needs,
)
from forge_bot.settings.yaml_file import read_contents
from forge_bot.text_format import names
from forge_bot.values import CommandName, Frozen

_PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
_CONFIGURES_PYTEST = re.compile(r"^\[(?:tool[.:])?pytest\b", re.MULTILINE)
"""A table for pytest in pyproject.toml, tox.ini or setup.cfg."""
_USES_PYTEST = re.compile(
    r"^[^\S\n]*(?:import|from)\s+pytest\b|^(?:async\s+)?def\s+test_", re.MULTILINE
)
_USES_UNITTEST = re.compile(r"^[^\S\n]*(?:import|from)\s+unittest\b", re.MULTILINE)
_USES_DJANGO = re.compile(r"^[^\S\n]*(?:import|from)\s+django\.test\b", re.MULTILINE)
_READ_AT_MOST = 60


_Runner = Literal["pytest", "unittest", "django", ""]
"""The program that runs the tests."""


def _choose_runner(
    listing: Listing, folder: str, needs: DeclaredDependencies, files: Sequence[str]
) -> tuple[_Runner, str]:
    """Return the runner of the project in a folder, and the reason for it.

    Pytest runs unittest's classes too, so any sign of pytest decides.
    """
    if reason := _find_configuration(listing, folder):
        return "pytest", reason
    if needs.declared("pytest"):
        return "pytest", "the project declares pytest"
    manage = join(folder, "manage.py")
    by_text: tuple[tuple[_Runner, re.Pattern[str], str], ...] = (
        ("pytest", _USES_PYTEST, "{} is written for pytest"),
        ("django", _USES_DJANGO, f"{manage} is there and {{}} imports django.test"),
        ("unittest", _USES_UNITTEST, "{} imports unittest, and nothing names pytest"),
    )
    for runner, sign, reason in by_text:
        if runner == "django" and not listing.has(manage):
            continue
        for path in files[:_READ_AT_MOST]:
            if sign.search(listing.text(path)):
                return runner, reason.format(path)
    return "", ""


def _unittest_words(listing: Listing, files: Sequence[str]) -> list[tuple[str, ...]]:
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


def _find_configuration(listing: Listing, folder: str) -> str:
    """Return what configures pytest; empty when nothing does."""
    shared = (join(folder, name) for name in ("pyproject.toml", "tox.ini", "setup.cfg"))
    tables = (path for path in shared if _CONFIGURES_PYTEST.search(listing.text(path)))
    if path := next(tables, None) or listing.first(folder, _PYTEST_FILES):
        return f"{path} configures pytest"
    own = listing.first(folder, ("conftest.py", "tests/conftest.py"))
    return f"{own} is pytest's" if own else ""


_LINTERS = frozenset({"flake8", "mypy", "pycodestyle", "pyflakes", "pylint", "ruff"})
_RUNNERS = frozenset({"python", "python3", "-m", "uv", "poetry", "pdm", "hatch", "run", "uvx"})
"""Words before a linter's name that only say by what it is started."""
_CHANGES = frozenset({"--fix", "--in-place", "--version"})
_POSARGS = re.compile(r"\{posargs:?([^{}]*)\}")
_SHELL = re.compile(r"[|&;<>$`*{}]")
_CONCISE = "--output-format=concise"


def _find_linters(listing: Listing, folder: str) -> Iterator[Command]:
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
            path = join(folder, name)
            config = ("--config", path) if folder else ()
            yield command(f"{path} configures flake8", PYTHON, "-m", "flake8", *config, target)
            return
    if not folder:
        yield from _called_linters(listing)


def longest_line(listing: Listing) -> str:
    """Return how many characters flake8, Ruff or Black allow a line, by their settings at the root,
    flake8's 79 by default; empty where none of them limits it.
    """
    if (settings := _flake8_settings(listing)) is not None:
        unlimited = "E501" in "".join(settings.values())
        return "" if unlimited else settings.get("max-line-length", "79")
    tools = table(toml(listing.text("pyproject.toml")), "tool")
    lengths = (table(tools, name).get("line-length") for name in ("ruff", "black"))
    return next((str(length) for length in lengths if length), "")


def highest_complexity(listing: Listing) -> str:
    """Return the McCabe complexity that flake8 or Ruff allow a function, by their settings at the
    root; empty where neither limits it. https://docs.astral.sh/ruff/rules/complex-structure/
    """
    if (settings := _flake8_settings(listing)) is not None:
        most = settings.get("max-complexity", "-1")
        return "" if most == "-1" else most
    ruff = table(table(toml(listing.text("pyproject.toml")), "tool"), "ruff")
    linter = {**ruff, **table(ruff, "lint")}
    chosen = (*items(linter.get("select")), *items(linter.get("extend-select")))
    ignored = (*items(linter.get("ignore")), *items(linter.get("extend-ignore")))
    if not any(string(rule).startswith(("C9", "ALL")) for rule in chosen) or any(
        string(rule).startswith("C9") for rule in ignored
    ):
        return ""
    return str(table(linter, "mccabe").get("max-complexity", 10))


def _flake8_settings(listing: Listing) -> Mapping[str, str] | None:
    files = (".flake8", "setup.cfg", "tox.ini")
    sections = (ini(listing.text(name)).get("flake8") for name in files)
    return next((section for section in sections if section is not None), None)


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
    for path in listing.below(WORKFLOWS):
        with suppress(yaml.YAMLError, ValueError):
            for job in table(read_contents(listing.text(path)).value, "jobs").values():
                for step in items(table(job).get("steps")):
                    lines = string(table(step).get("run")).splitlines()
                    yield from ((path, line) for line in lines)


def _words(line: str) -> list[str]:
    """Return the words of a line that needs no shell; tox's placeholders become what they stand
    for by default. Otherwise empty.
    """
    line = _POSARGS.sub(r"\1", line).replace("{toxinidir}/", "").replace("{toxinidir}", ".")
    try:
        return [] if _SHELL.search(line) else shlex.split(line)
    except ValueError:
        return []


_MANIFESTS = names("pyproject.toml setup.py setup.cfg requirements.txt pytest.ini")


class _Project(Frozen):
    """One Python project in the repository: its needs, its tests with the program that runs them
    and the reason for it, its configured linters.
    """

    folder: str
    needs: DeclaredDependencies
    tests: tuple[str, ...]
    runner: _Runner
    reason: str
    linters: tuple[Command, ...]

    @property
    def declares(self) -> bool:
        """Return whether the folder holds a project.

        A folder may hold only a tool's settings for the projects below it.
        """
        return self.needs.installable or bool(self.needs.dependencies or self.needs.sources)


def find(listing: Listing) -> ProjectCommands:
    """Return the commands of the Python project at the root, or else of those in folders."""
    if not listing.has("pyproject.toml") and not any(
        path.endswith(".py") for path in listing.own()
    ):
        return ProjectCommands()
    root = _read(listing, "")
    folders = listing.projects(_MANIFESTS)
    projects = [root]
    notes: tuple[str, ...] = ()
    if folders and not root.declares:
        projects = [_read(listing, folder) for folder in folders[:MOST_PROJECTS]]
        projects += [root.replace(tests=(), runner="")]
        if len(folders) > MOST_PROJECTS:
            notes = (f"{len(folders)} Python projects; only the first {MOST_PROJECTS} are tested.",)
    if _share_a_package(listing, projects):
        parts = [_alone(_commands(listing, [project]), project.folder) for project in projects]
    else:
        parts = [_commands(listing, projects)]
    return combined([ProjectCommands(notes=notes), *parts])


def _share_a_package(listing: Listing, projects: Sequence[_Project]) -> bool:
    """Return whether two projects that are installed have a package of one name: in one environment
    the tests of both would import the same one.
    """
    packages = {
        (basename(package), project.folder)
        for project in projects
        if project.needs.installable
        for source in (project.folder, join(project.folder, "src"))
        for path in listing.own(source)
        if basename(path) == "__init__.py" and dirname(package := dirname(path)) == source
    }
    named = [name for name, _ in packages if name not in TEST_FOLDERS]
    return len(named) > len(set(named))


def _alone(commands: ProjectCommands, folder: str) -> ProjectCommands:
    """Return the commands with an environment of their own."""
    own = f"{ENV}/{folder or 'root'}"
    changed = {
        name: [one.replace(argv=tuple(word.replace(ENV, own) for word in one.argv)) for one in kind]
        for name in CommandName
        for kind in (commands.of(name),)
    }
    return ProjectCommands.model_validate(changed)


def _commands(listing: Listing, projects: Sequence[_Project]) -> ProjectCommands:
    return ProjectCommands(
        setup=_setup(listing, projects),
        test=tuple(command for project in projects for command in _tests(listing, project)),
        lint=tuple(command for project in projects for command in project.linters),
    )


def _read(listing: Listing, folder: str) -> _Project:
    needs = read_needs(listing, folder)
    tests = [path for path in listing.own(folder) if path.endswith(".py") and is_test_file(path)]
    runner, reason = _choose_runner(listing, folder, needs, tests)
    return _Project(
        folder=folder,
        needs=needs,
        tests=tuple(tests),
        runner=runner,
        reason=reason,
        linters=tuple(_find_linters(listing, folder)),
    )


def _setup(listing: Listing, projects: Sequence[_Project]) -> tuple[Command, ...]:
    """Return the commands that install all projects: by its own tool where a project has a lock.

    Unittest needs nothing of a project that Python finds in place.
    """
    managed: list[Command] = []
    packages: list[tuple[str, ...]] = []
    for project in projects:
        runner, needs = project.runner, project.needs
        tools = [command.argv[2] for command in project.linters]
        tools = ["pytest", *tools] if runner == "pytest" else tools
        wanted = runner != "unittest" or _must_install(listing, project)
        if wanted and manager_of(listing, project.folder)[0]:
            managed += managed_commands(listing, needs, tools)
        else:
            packages += pip_words(needs, tools, with_tests=wanted and runner != "")
    return tuple(dict.fromkeys((*managed, *pip_commands(listing, packages))))


def _must_install(listing: Listing, project: _Project) -> bool:
    needs = project.needs
    named = any(source.requirements and source.purpose for source in needs.sources)
    built = needs.installable and listing.has_folder(join(project.folder, "src"))
    return bool(needs.dependencies or named or built)


def _tests(listing: Listing, project: _Project) -> Iterator[Command]:
    folder, reason = project.folder, project.reason
    place, around = [folder] if folder else [], _import_paths(listing, project)
    if project.runner == "pytest":
        yield command(reason, *around, PYTHON, "-m", "pytest", "-q", "-rfE", *place)
    elif project.runner == "django":
        yield command(reason, PYTHON, join(folder, "manage.py"), "test", "-v", "2", *place)
    elif project.runner == "unittest":
        python = PYTHON if _must_install(listing, project) else "python3"
        for words in _unittest_words(listing, project.tests):
            yield command(reason, *around, python, *words)


def _import_paths(listing: Listing, project: _Project) -> tuple[str, ...]:
    """Return a prefix that lets Python find modules which are not installed.

    It is needed if they are not in the folder where the command runs.
    """
    if project.needs.installable:
        return ()
    source = join(project.folder, "src")
    in_source = any(
        path.endswith(".py") and not basename(path).startswith("test")
        for path in listing.below(source)
    )
    paths = [project.folder] if project.folder else []
    paths += [source] if in_source else []
    return ("env", "PYTHONPATH=" + ":".join(paths)) if paths else ()
