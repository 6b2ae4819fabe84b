"""Python: venv and pip; pytest, unittest or Django; the linters that the repository configures."""

from collections.abc import Iterator, Sequence
from posixpath import basename, dirname

from forge_bot.artifacts.test_paths import TEST_FOLDERS
from forge_bot.project.detected_commands import (
    ENV,
    MOST_PROJECTS,
    Command,
    DetectedCommands,
    ProjectCommands,
    combined,
    command,
    python_formatters,
)
from forge_bot.project.file_list import Listing, join
from forge_bot.project.toolchains.python_install import (
    PYTHON,
    PipPackages,
    managed_commands,
    manager_of,
    pip_commands,
    pip_packages,
)
from forge_bot.project.toolchains.python_needs import DeclaredDependencies, read_needs
from forge_bot.project.toolchains.python_tests import (
    PythonRunner,
    Tests,
    find_linters,
    read_tests,
    unittest_words,
)
from forge_bot.text_format import names
from forge_bot.values import CommandName, Frozen

_MANIFESTS = names("pyproject.toml setup.py setup.cfg requirements.txt pytest.ini")


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
    notes: tuple[str, ...] = ()
    if folders and not root.declares:
        projects = [_read(listing, folder) for folder in folders[:MOST_PROJECTS]]
        projects += [root.replace(tests=Tests(runner=PythonRunner.NONE))]
        if len(folders) > MOST_PROJECTS:
            notes = (f"{len(folders)} Python projects; only the first {MOST_PROJECTS} are tested.",)
    if not _share_a_package(listing, projects):
        return DetectedCommands(commands=_commands(listing, projects), notes=notes)
    parts = [_alone(_commands(listing, [project]), project.folder) for project in projects]
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
    own = f"{ENV}/{folder or 'root'}"
    changed = {
        str(name): tuple(
            command.replace(argv=tuple(word.replace(ENV, own) for word in command.argv))
            for command in commands.of(name)
        )
        for name in CommandName
    }
    return DetectedCommands(commands=ProjectCommands.model_validate(changed))


def _commands(listing: Listing, projects: Sequence[_Project]) -> ProjectCommands:
    return ProjectCommands(
        setup=_setup(listing, projects),
        test=tuple(command for project in projects for command in _tests(listing, project)),
        lint=tuple(command for project in projects for command in project.linters),
        format=tuple(command for project in projects for command in project.formatters),
    )


def _read(listing: Listing, folder: str) -> _Project:
    needs = read_needs(listing, folder)
    tests = read_tests(listing, folder, needs)
    return _Project(
        folder=folder,
        needs=needs,
        tests=tests,
        linters=tuple(find_linters(listing, folder)),
        formatters=tuple(python_formatters(listing, folder, PYTHON)),
    )


def _setup(listing: Listing, projects: Sequence[_Project]) -> tuple[Command, ...]:
    """Return the commands that install all projects: by its own tool where a project has a lock.

    Unittest needs nothing of a project that Python finds in place.
    """
    managed: list[Command] = []
    orders: list[PipPackages] = []
    for project in projects:
        runner, needs = project.tests.runner, project.needs
        tools = [command.argv[2] for command in project.linters]
        tools = ["pytest", *tools] if runner is PythonRunner.PYTEST else tools
        wanted = runner is not PythonRunner.UNITTEST or _must_install(listing, project)
        if wanted and manager_of(listing, project.folder)[0]:
            managed += managed_commands(listing, needs, tools)
        else:
            with_tests = wanted and runner is not PythonRunner.NONE
            orders.append(pip_packages(needs, tools, with_tests=with_tests))
    return tuple(dict.fromkeys((*managed, *pip_commands(listing, orders))))


def _must_install(listing: Listing, project: _Project) -> bool:
    needs = project.needs
    named = any(
        source.requirements and (source.for_tests or source.for_development or source.for_running)
        for source in needs.sources
    )
    built = needs.installable and listing.has_folder(join(project.folder, "src"))
    return bool(needs.dependencies or named or built)


def _tests(listing: Listing, project: _Project) -> Iterator[Command]:
    tests, folder = project.tests, project.folder
    around = _import_paths(listing, project)
    if tests.runner is PythonRunner.PYTEST:
        words = ("-m", "pytest", "-q", "-rfE", *([folder] if folder else []))
        yield command(tests.reason, *around, PYTHON, *words)
    elif tests.runner is PythonRunner.DJANGO:
        words = ("test", "-v", "2", *([folder] if folder else []))
        yield command(tests.reason, PYTHON, join(folder, "manage.py"), *words)
    elif tests.runner is PythonRunner.UNITTEST:
        python = PYTHON if _must_install(listing, project) else "python3"
        for words in unittest_words(listing, tests.files):
            yield command(tests.reason, *around, python, *words)


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
