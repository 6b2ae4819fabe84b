"""The commands that install what a Python project's tests and linters need: a lock file by the tool
that wrote it, else pip.
"""

import re
from collections.abc import Sequence

from forge_bot.project.detected_commands import ENV, Command, command
from forge_bot.project.file_list import Listing, join, string, table, toml
from forge_bot.project.toolchains.python_needs import (
    DeclaredDependencies,
    DependencySource,
)
from forge_bot.values import Frozen

PYTHON = f"{ENV}/bin/python"
PIP = (PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check")
_LOCKS = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm"}
_TOOLS = f"{ENV}/tools"
_INSTALLED_AS = {"pdm": "pdm[locked]"}
"""The packages by which a tool is installed, with dependencies that are known to work."""
_VERSION = re.compile(r"[\d.]+")


class PipPackages(Frozen):
    """The packages that one project installs with pip."""

    editable: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def pip_packages(
    needs: DeclaredDependencies, tools: Sequence[str], *, with_tests: bool
) -> PipPackages:
    """Return what to install for a project, for its tools and, if requested, its tests.

    The project itself is installed as editable, so that later edits take effect without another
    installation.
    """
    chosen = _sources_for_tests(needs, tools) if with_tests else ()
    missing = (tool for tool in tools if not any(source.names(tool) for source in chosen))
    pinned = tuple(needs.declared(tool) or tool for tool in missing)
    if not with_tests:
        return PipPackages(requirements=pinned)
    files = [source.name for source in chosen if source.kind == "file"]
    base = [s.name for s in needs.sources if s.for_running and not needs.dependencies]
    files = [*dict.fromkeys((*base, *files))]
    extras = ",".join(source.name for source in chosen if source.kind == "extra")
    place = (f"./{needs.folder}" if needs.folder else ".") + (f"[{extras}]" if extras else "")
    kinds = {"group"} if needs.installable else {"group", "extra"}
    spelled = (line for s in chosen if s.kind in kinds for line in s.requirements)
    own = () if needs.installable else needs.dependencies
    return PipPackages(
        editable=(place,) if needs.installable else (),
        requirements=(*own, *spelled, *pinned),
        files=tuple(files),
    )


def pip_commands(listing: Listing, orders: Sequence[PipPackages]) -> tuple[Command, ...]:
    """Return the commands for a new environment and its packages; none if there are no packages.

    Pip requires a hash for everything as soon as one requirement has one, so files with hashes are
    installed separately.
    """
    files = dict.fromkeys(path for order in orders for path in order.files)
    hashed = [path for path in files if "--hash=" in listing.text(path)]
    folders = dict.fromkeys(path for order in orders for path in order.editable)
    named = dict.fromkeys(line.strip() for order in orders for line in order.requirements)
    arguments = [word for path in folders for word in ("-e", path)]
    arguments += [line for line in named if not line.startswith("-")]
    arguments += [word for path in files if path not in hashed for word in ("-r", path)]
    installs = [command(f"{path}, which pins by hash", *PIP, "-r", path) for path in hashed]
    if arguments:
        installs.append(command("what the tests and linters need", *PIP, *arguments))
    return (_environment(ENV), *installs) if installs else ()


def manager_of(listing: Listing, folder: str) -> tuple[str, str]:
    """Return the tool that installs a project by itself, and the file that says so; empty words if
    pip does. Poetry's own groups have no other reader, so it needs no lock.
    """
    for name, manager in _LOCKS.items():
        if listing.has(path := join(folder, name)):
            return manager, path
    manifest = join(folder, "pyproject.toml")
    poetry = table(toml(listing.text(manifest)), "tool", "poetry")
    return ("poetry", manifest) if "group" in poetry or "dev-dependencies" in poetry else ("", "")


def managed_commands(
    listing: Listing, needs: DeclaredDependencies, tools: Sequence[str]
) -> tuple[Command, ...]:
    """Return the commands that let uv, Poetry or PDM install a project, and the tools it lacks.

    They are not taken from the machine: setup puts them beside the environment.
    """
    manager, evidence = manager_of(listing, needs.folder)
    chosen = [*_sources_for_tests(needs, tools)]
    for tool in tools:
        if not any(source.names(tool) for source in chosen):
            chosen += [s for s in needs.sources if s.kind != "file" and s.names(tool)][:1]
    lacking = [
        needs.declared(tool) or tool
        for tool in tools
        if not (needs.runs_with(tool) or any(source.names(tool) for source in chosen))
    ]
    settings = table(toml(listing.text(join(needs.folder, "pyproject.toml"))), "tool", "uv")
    asked = string(settings.get("required-version")) if manager == "uv" else ""
    package = _INSTALLED_AS.get(manager, manager)
    package += f"=={asked}" if _VERSION.fullmatch(asked) else asked
    workspace = "workspace" in settings
    return (
        _environment(ENV),
        _environment(_TOOLS),
        command(f"{manager}, by {evidence}", f"{_TOOLS}/bin/python", *PIP[1:], package),
        command(evidence, *_install(manager, needs, chosen, workspace=workspace)),
        *([command(", ".join(lacking), *PIP, *lacking)] if lacking else []),
    )


def _environment(place: str) -> Command:
    return command("an environment outside the worktree", "python3", "-m", "venv", place)


def _install(
    manager: str,
    needs: DeclaredDependencies,
    chosen: Sequence[DependencySource],
    *,
    workspace: bool,
) -> tuple[str, ...]:
    """Return the words that install exactly the locked versions, or refuse a lock that does not
    fit.
    """
    extras = [source.name for source in chosen if source.kind == "extra"]
    groups = [source.name for source in chosen if source.kind == "group"]
    program, folder = f"{_TOOLS}/bin/{manager}", needs.folder
    if manager == "uv":
        return (
            *("env", f"UV_PROJECT_ENVIRONMENT={ENV}", program, "sync", "--frozen", "--inexact"),
            *("--no-progress", "--python", PYTHON),
            *(("--project", folder) if folder else ()),
            *(("--all-packages",) if workspace else ()),
            "--no-default-groups",
            *(word for name in groups for word in ("--group", name)),
            *(word for name in extras for word in ("--extra", name)),
        )
    start = ("env", f"VIRTUAL_ENV={ENV}", program, "install")
    if manager == "poetry":
        return (
            *(*start, "--no-interaction", "--no-ansi"),
            *(("--directory", folder) if folder else ()),
            *(("--no-root",) if not needs.installable else ()),
            *(("--with", ",".join(groups)) if groups else ()),
            *(word for name in extras for word in ("--extras", name)),
        )
    return (
        *(*start, "--check", *(("--project", folder) if folder else ())),
        *(word for name in (*groups, *extras) for word in ("--group", name)),
    )


def _sources_for_tests(
    needs: DeclaredDependencies, tools: Sequence[str]
) -> tuple[DependencySource, ...]:
    """Return the sources for tests.

    Those for development are used when there are none for tests, or if only they name the tool that
    runs the tests. Where nothing has such a name, the shortest source that names the tool is used.
    """
    tests = _choose_sources([source for source in needs.sources if source.for_tests])
    development = _choose_sources([source for source in needs.sources if source.for_development])
    runner = tools[:1]
    if not (tests or development):
        others = _choose_sources([s for s in needs.sources if any(map(s.names, runner))])
        return tuple(sorted(others, key=lambda source: len(source.requirements))[:1])
    if not tests:
        return development
    lacking = [tool for tool in runner if not any(source.names(tool) for source in tests)]
    return tests + tuple(s for s in development if any(map(s.names, lacking)))


def _choose_sources(sources: Sequence[DependencySource]) -> tuple[DependencySource, ...]:
    """Return extras and groups if there are any, else requirements files.

    A project that has both keeps the files for something else.
    """
    return tuple(source for source in sources if source.kind != "file") or tuple(sources)
