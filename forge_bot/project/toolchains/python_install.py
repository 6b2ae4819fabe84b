"""The pip arguments that a Python project's tests and linters need."""

import re
from collections.abc import Iterator, Sequence

from forge_bot.project.detected_commands import ENV, Command, command
from forge_bot.project.file_list import Listing, join
from forge_bot.project.lenient_config import string, table, toml
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
    runs the tests. Where nothing has such a name, the shortest source that names the tool is used.
    """
    tests = _preferred([source for source in needs.sources if source.for_tests])
    development = _preferred([source for source in needs.sources if source.for_development])
    if not (tests or development):
        others = [source for source in needs.sources if not source.for_running]
        naming = _preferred([each for each in others if any(map(each.names, tools[:1]))])
        return tuple(sorted(naming, key=lambda each: len(each.requirements))[:1])
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


# -- the versions of a lock file, by the frozen mode of the tool that wrote it
# --------------------------------------------------------------------------------------------------


LOCKS = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm"}
_TOOLS = f"{ENV}/tools"
_INSTALLED_AS = {"pdm": "pdm[locked]"}
"""The packages by which a tool is installed, with dependencies that are known to work."""
_VERSION = re.compile(r"[\d.]+")


def lock_of(listing: Listing, folder: str) -> str:
    """Return the lock file of a project whose tool can install it; "" if there is none."""
    return next((join(folder, name) for name in LOCKS if listing.has(join(folder, name))), "")


def locked_commands(
    listing: Listing, needs: DeclaredDependencies, tools: Sequence[str]
) -> tuple[Command, ...]:
    """Return the commands that install a project as its lock file says, and the tools it lacks.

    uv, Poetry and PDM are not taken from the machine: setup puts them beside the environment.
    """
    lock = lock_of(listing, needs.folder)
    manager = LOCKS[lock.rpartition("/")[2]]
    chosen = [*chosen_sources(needs, tools)]
    for tool in tools:
        if not any(source.names(tool) for source in chosen):
            named = (each for each in needs.sources if each.kind != "file" and each.names(tool))
            chosen += [*named][:1]
    missing = [tool for tool in tools if not any(source.names(tool) for source in chosen)]
    more = [needs.declared(tool) for tool in missing if not _runs_with(needs, tool)]
    return (
        command("an environment outside the worktree", "python3", "-m", "venv", ENV),
        command(f"{manager}, which wrote {lock}", "python3", "-m", "venv", _TOOLS),
        command(
            f"{manager}, which wrote {lock}",
            f"{_TOOLS}/bin/python",
            *PIP[1:],
            _pinned(listing, needs.folder, manager),
        ),
        command(lock, *_install(manager, needs, chosen)),
        *([command(", ".join(missing), *PIP, *more)] if more else []),
    )


def _runs_with(needs: DeclaredDependencies, tool: str) -> bool:
    return needs.named_in(tool) == "the project's dependencies"


def _pinned(listing: Listing, folder: str, manager: str) -> str:
    """Return the tool in the version that the project asks for."""
    project = toml(listing.text(join(folder, "pyproject.toml")))
    asked = string(table(project, "tool", "uv").get("required-version")) if manager == "uv" else ""
    tool = _INSTALLED_AS.get(manager, manager)
    return f"{tool}=={asked}" if _VERSION.fullmatch(asked) else f"{tool}{asked}"


def _install(
    manager: str, needs: DeclaredDependencies, chosen: Sequence[DependencySource]
) -> tuple[str, ...]:
    extras = [source.name for source in chosen if source.kind == "extra"]
    groups = [source.name for source in chosen if source.kind == "group"]
    program = f"{_TOOLS}/bin/{manager}"
    match manager:
        case "uv":
            return ("env", f"UV_PROJECT_ENVIRONMENT={ENV}", program, *_uv(needs, extras, groups))
        case "poetry":
            return ("env", f"VIRTUAL_ENV={ENV}", program, *_poetry(needs, extras, groups))
        case _:
            return ("env", f"VIRTUAL_ENV={ENV}", program, *_pdm(needs, extras, groups))


def _uv(needs: DeclaredDependencies, extras: list[str], groups: list[str]) -> Iterator[str]:
    """Yield the words that install exactly the versions in uv.lock."""
    yield from ("sync", "--frozen", "--inexact", "--no-progress", "--python", PYTHON)
    yield from ("--project", needs.folder) if needs.folder else ()
    yield from ("--all-packages",) if needs.beside else ()
    yield "--no-default-groups"
    for name in groups:
        yield from ("--group", name)
    for name in extras:
        yield from ("--extra", name)


def _poetry(needs: DeclaredDependencies, extras: list[str], groups: list[str]) -> Iterator[str]:
    """Yield the words with which Poetry refuses a lock that does not fit."""
    yield from ("install", "--no-interaction", "--no-ansi")
    yield from ("--directory", needs.folder) if needs.folder else ()
    yield from ("--no-root",) if not needs.installable else ()
    yield from ("--with", ",".join(groups)) if groups else ()
    for name in extras:
        yield from ("--extras", name)


def _pdm(needs: DeclaredDependencies, extras: list[str], groups: list[str]) -> Iterator[str]:
    """Yield the words with which PDM refuses a lock that does not fit."""
    yield from ("install", "--check")
    yield from ("--project", needs.folder) if needs.folder else ()
    for name in (*groups, *extras):
        yield from ("--group", name)
