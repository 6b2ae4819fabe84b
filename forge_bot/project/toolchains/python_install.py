"""The pip arguments that a Python project's tests and linters need."""

from collections.abc import Iterator, Sequence

from forge_bot.project.detected_commands import ENV, Command, command
from forge_bot.project.file_list import Listing, join
from forge_bot.project.search_words import one_line
from forge_bot.project.toolchains.python_needs import DeclaredDependencies, DependencySource
from forge_bot.project.toolchains.python_requirements import includes
from forge_bot.values import Frozen

PYTHON = f"{ENV}/bin/python"
PIP = (PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check")


class PipPackages(Frozen):
    """The packages that one project installs with pip: folders, requirements, requirements files.

    It also holds a description in words.
    """

    editable: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to install."""
        return not (self.editable or self.requirements or self.files)


def pip_packages(
    listing: Listing, needs: DeclaredDependencies, tools: Sequence[str], *, with_tests: bool
) -> PipPackages:
    """Return what to install for a project, for its tools and, if requested, its tests.

    The project itself is installed as editable, so that later edits take effect without another
    installation.
    """
    chosen = chosen_sources(needs, tools) if with_tests else ()
    extras = [source for source in chosen if source.kind == "extra"]
    lists = [
        source
        for source in chosen
        if source.kind == "group" or (source.kind == "extra" and not needs.installable)
    ]
    files = [source.name for source in chosen if source.kind == "file"]
    base = (
        [
            path
            for path in _base_files(needs)
            if not any(includes(listing, file, path) for file in files)
        ]
        if with_tests
        else []
    )
    own = () if needs.installable or not with_tests else needs.dependencies
    missing = [tool for tool in tools if not any(source.names(tool) for source in chosen)]
    return PipPackages(
        editable=tuple(_editable(needs, extras)) if with_tests else (),
        requirements=(
            *own,
            *(each for source in lists for each in source.requirements),
            *map(needs.declared, missing),
        ),
        files=(*base, *files),
        reasons=tuple(_reasons(needs, chosen, base, missing, with_tests=with_tests)),
    )


def pip_commands(listing: Listing, orders: Sequence[PipPackages]) -> tuple[Command, ...]:
    """Return the commands for a new environment and its packages; none if there are no packages.

    Pip requires a hash for everything as soon as one requirement has one, so files with hashes are
    installed separately.
    """
    wanted = [each for each in orders if not each.empty]
    if not wanted:
        return ()
    files = list(dict.fromkeys(path for each in wanted for path in each.files))
    hashed = [path for path in files if "--hash=" in listing.text(path)]
    folders = dict.fromkeys(path for each in wanted for path in each.editable)
    arguments = [argument for path in folders for argument in ("-e", path)]
    named = (requirement.strip() for each in wanted for requirement in each.requirements)
    arguments += dict.fromkeys(
        requirement for requirement in named if not requirement.startswith("-")
    )
    arguments += [argument for path in files if path not in hashed for argument in ("-r", path)]
    reason = one_line(
        "; ".join(dict.fromkeys(reason for each in wanted for reason in each.reasons))
    )
    return (
        command("an environment outside the worktree", "python3", "-m", "venv", ENV),
        *(command(f"{path}, which pins by hash", *PIP, "-r", path) for path in hashed),
        *([command(reason, *PIP, *arguments)] if arguments else []),
    )


def chosen_sources(
    needs: DeclaredDependencies, tools: Sequence[str]
) -> tuple[DependencySource, ...]:
    """Return the sources for tests.

    Those for development are used when there are none for tests, or if only they name the tool that
    runs the tests.
    """
    tests = _preferred([source for source in needs.sources if source.for_tests])
    development = _preferred([source for source in needs.sources if source.for_development])
    if not tests:
        return development
    lacking = [tool for tool in tools[:1] if not any(source.names(tool) for source in tests)]
    return tests + tuple(
        source for source in development if any(source.names(tool) for tool in lacking)
    )


def _preferred(sources: Sequence[DependencySource]) -> tuple[DependencySource, ...]:
    """Return compiled requirements files if there are any: they are locks. Else return extras and
    groups if there are any, else requirements files.

    A project that has both keeps the files for something else.
    """
    if locked := tuple(source for source in sources if source.compiled):
        return locked
    named = tuple(source for source in sources if source.kind != "file")
    return named or tuple(sources)


def _base_files(needs: DeclaredDependencies) -> list[str]:
    """Return the requirements files for running the project, if they declare its dependencies."""
    if needs.dependencies:
        return []
    return [source.name for source in needs.sources if source.for_running]


def _editable(needs: DeclaredDependencies, extras: Sequence[DependencySource]) -> Iterator[str]:
    yield from (f"./{path}" for path in needs.beside)
    if needs.installable:
        names = ",".join(source.name for source in extras)
        yield (f"./{needs.folder}" if needs.folder else ".") + (f"[{names}]" if names else "")


def _reasons(
    needs: DeclaredDependencies,
    chosen: Sequence[DependencySource],
    base: Sequence[str],
    missing: Sequence[str],
    *,
    with_tests: bool,
) -> Iterator[str]:
    if with_tests and needs.installable:
        yield f"the project in {needs.folder}/" if needs.folder else "the project itself"
    elif with_tests and needs.dependencies:
        yield f"dependencies of {join(needs.folder, 'pyproject.toml')}"
    yield from (
        source.name if source.kind == "file" else f"its {source.kind} {source.name}"
        for source in chosen
    )
    yield from base
    yield from missing
