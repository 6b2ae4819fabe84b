"""Python: venv and pip; pytest, unittest or Django; the linters that the repository configures."""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename, dirname

from forge_bot.project.detected_commands import (
    ENV,
    Command,
    DetectedCommands,
    ProjectCommands,
    combined,
    command,
)
from forge_bot.project.file_list import TEST_FOLDERS, Listing, join
from forge_bot.project.formatters import python_formatters
from forge_bot.project.lenient_config import ini, table, toml
from forge_bot.project.toolchains.python_install import (
    PYTHON,
    PipPackages,
    lock_of,
    locked_commands,
    pip_commands,
    pip_packages,
)
from forge_bot.project.toolchains.python_needs import DeclaredDependencies, read_needs
from forge_bot.project.toolchains.python_tests import Runner, Tests, read_tests, unittest_starts
from forge_bot.settings.config import CONFIG
from forge_bot.text_format import names
from forge_bot.values import CommandName, Frozen

_MANIFESTS = names("pyproject.toml setup.py setup.cfg requirements.txt tox.ini pytest.ini Pipfile")
_MANAGERS = {"Pipfile.lock": "Pipenv", "noxfile.py": "nox", "tox.ini": "tox"}
_MOST_PROJECTS = 8


class _Project(Frozen):
    """One Python project in the repository: its needs, its tests, its configured linters."""

    folder: str
    needs: DeclaredDependencies
    tests: Tests
    linters: tuple[Command, ...]
    formatters: tuple[Command, ...]

    @property
    def declares(self) -> bool:
        """Return whether the folder holds a project.

        A folder may hold only a tool's settings for the projects below it.
        """
        return self.needs.installable or bool(self.needs.dependencies or self.needs.sources)


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the Python project at the root, or else of those in folders."""
    if not listing.has("pyproject.toml") and not any(
        path.endswith(".py") for path in listing.own()
    ):
        return DetectedCommands()
    root = _read(listing, "")
    folders = listing.projects(_MANIFESTS)
    projects = [root]
    notes = tuple(_manager_notes(listing))
    if folders and not root.declares:
        projects = [_read(listing, folder) for folder in folders[:_MOST_PROJECTS]]
        projects += [root.replace(tests=Tests(runner=Runner.NONE))]
        if len(folders) > _MOST_PROJECTS:
            notes += (
                f"{len(folders)} Python projects; only the first {_MOST_PROJECTS} are tested.",
            )
    if not _share_a_package(listing, projects):
        return DetectedCommands(commands=_commands(listing, projects), notes=notes)
    parts = [_alone(_commands(listing, [each]), each.folder) for each in projects]
    return combined([DetectedCommands(notes=notes), *parts])


def _share_a_package(listing: Listing, projects: Sequence[_Project]) -> bool:
    """Return whether two projects that are installed have a package of one name: in one environment
    the tests of both would import the same one.
    """
    packages = [
        (holder.rpartition("/")[2], project.folder)
        for project in projects
        if project.needs.installable
        for source in (project.folder, join(project.folder, "src"))
        for path in listing.own(source)
        if basename(path) == "__init__.py"
        and dirname(holder := dirname(path)) == source
        and basename(holder) not in TEST_FOLDERS
    ]
    names_of_packages = [name for name, _ in dict.fromkeys(packages)]
    return len(names_of_packages) > len(set(names_of_packages))


def _alone(commands: ProjectCommands, folder: str) -> DetectedCommands:
    """Return the commands of one project with an environment of its own."""
    own = f"{ENV}/{folder or 'root'}"
    changed = {
        str(name): tuple(
            each.replace(argv=tuple(word.replace(ENV, own) for word in each.argv))
            for each in commands.of(name)
        )
        for name in CommandName
    }
    return DetectedCommands(commands=ProjectCommands.model_validate(changed))


def _commands(listing: Listing, projects: Sequence[_Project]) -> ProjectCommands:
    """Return the commands of projects that share an environment."""
    return ProjectCommands(
        setup=_setup(listing, projects),
        test=tuple(each for project in projects for each in _tests(listing, project)),
        lint=tuple(each for project in projects for each in project.linters),
        format=tuple(each for project in projects for each in project.formatters),
    )


def _read(listing: Listing, folder: str) -> _Project:
    needs = read_needs(listing, folder)
    tests = read_tests(listing, folder, needs)
    return _Project(
        folder=folder,
        needs=needs,
        tests=tests,
        linters=tuple(_linters(listing, folder, needs)),
        formatters=tuple(python_formatters(listing, folder, PYTHON)),
    )


def _setup(listing: Listing, projects: Sequence[_Project]) -> tuple[Command, ...]:
    """Return the commands that install all projects: as its lock says where there is one.

    Unittest needs nothing of a project that Python finds in place.
    """
    installed = [
        project
        for project in projects
        if lock_of(listing, project.folder)
        and (project.tests.runner is not Runner.UNITTEST or _must_install(listing, project))
    ]
    locked = [
        each
        for project in installed
        for each in locked_commands(listing, project.needs, _tools(project))
    ]
    orders = [_order(listing, project) for project in projects if project not in installed]
    return tuple(dict.fromkeys((*locked, *pip_commands(listing, orders))))


def _tools(project: _Project) -> list[str]:
    """Return the programs that the commands of a project call."""
    runner = ["pytest"] if project.tests.runner is Runner.PYTEST else []
    return [*runner, *(each.argv[2] for each in project.linters)]


def _order(listing: Listing, project: _Project) -> PipPackages:
    """Return what to install.

    Unittest needs nothing when the project has no dependencies and Python finds it in place.
    """
    linters = [each.argv[2] for each in project.linters]
    match project.tests.runner:
        case Runner.PYTEST:
            return pip_packages(listing, project.needs, ["pytest", *linters], with_tests=True)
        case Runner.DJANGO:
            return pip_packages(listing, project.needs, linters, with_tests=True)
        case Runner.UNITTEST:
            return pip_packages(
                listing, project.needs, linters, with_tests=_must_install(listing, project)
            )
        case Runner.NONE:
            return pip_packages(listing, project.needs, linters, with_tests=False)


def _must_install(listing: Listing, project: _Project) -> bool:
    needs = project.needs
    named = any(
        source.requirements and (source.for_tests or source.for_development or source.for_running)
        for source in needs.sources
    )
    built = needs.installable and (
        needs.compiled or listing.has_folder(join(project.folder, "src"))
    )
    return bool(needs.dependencies or needs.beside or named or built)


def _tests(listing: Listing, project: _Project) -> Iterator[Command]:
    tests, folder = project.tests, project.folder
    around = _import_paths(listing, project)
    if tests.runner is Runner.PYTEST:
        quiet = () if tests.quiet else ("-q",)
        yield command(
            tests.reason,
            *around,
            PYTHON,
            "-m",
            "pytest",
            *quiet,
            "-rfE",
            *([folder] if folder else []),
        )
    elif tests.runner is Runner.DJANGO:
        yield command(
            tests.reason,
            PYTHON,
            join(folder, "manage.py"),
            "test",
            "-v",
            "2",
            *([folder] if folder else []),
        )
    elif tests.runner is Runner.UNITTEST:
        python = PYTHON if _must_install(listing, project) else "python3"
        for start in unittest_starts(listing, tests.files):
            top = () if start.top == start.folder else ("-t", start.top)
            names = () if start.pattern == "test*.py" else ("-p", start.pattern)
            yield command(
                tests.reason,
                *around,
                python,
                "-m",
                "unittest",
                "discover",
                "-v",
                "-s",
                start.folder,
                *top,
                *names,
            )


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


_CONCISE = "--output-format=concise"
_OLD_RUFF = re.compile(r"ruff\s*(?:==|~=|<=?)\s*0\.[0-2]\b")


def _old_ruff(needs: DeclaredDependencies) -> bool:
    """Return whether Ruff is pinned to a version that does not know our option."""
    return _OLD_RUFF.match(needs.declared("ruff")) is not None


def _linters(listing: Listing, folder: str, needs: DeclaredDependencies) -> Iterator[Command]:
    """Yield Ruff if it is configured, else flake8 if that is.

    Projects that moved to Ruff often left flake8's settings behind.
    """
    target = folder or "."
    manifest = join(folder, "pyproject.toml")
    ruff = listing.first(folder, ("ruff.toml", ".ruff.toml"))
    if ruff or "ruff" in table(toml(listing.text(manifest)), "tool"):
        reason = f"{ruff or manifest} configures ruff"
        concise = () if _old_ruff(needs) else (_CONCISE,)
        lint = command(reason, PYTHON, "-m", "ruff", "check", *concise, target)
        yield lint.replace(ours=concise)
        return
    for name in (".flake8", "setup.cfg", "tox.ini"):
        if "flake8" in ini(listing.text(join(folder, name))):
            config = () if not folder else ("--config", join(folder, name))
            yield command(
                f"{join(folder, name)} configures flake8", PYTHON, "-m", "flake8", *config, target
            )
            return


def _manager_notes(listing: Listing) -> Iterator[str]:
    for name, manager in _MANAGERS.items():
        if listing.has(name) and (name != "tox.ini" or "testenv" in ini(listing.text(name))):
            yield (
                f"{name} is there, but plain pip is used, not {manager}; set commands in {CONFIG}"
                " to change that."
            )
