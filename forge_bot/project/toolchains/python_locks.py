"""Install the versions in a Python lock file, by the frozen mode of the tool that wrote it."""

from collections.abc import Iterator, Sequence

from forge_bot.lazy_regex import lazy_regex
from forge_bot.project.detected_commands import ENV, Command, command
from forge_bot.project.file_list import Listing, join
from forge_bot.project.lenient_config import string, table, toml
from forge_bot.project.toolchains.python_install import PIP, PYTHON, chosen_sources
from forge_bot.project.toolchains.python_needs import DeclaredDependencies, DependencySource

LOCKS = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm"}
_TOOLS = f"{ENV}/tools"
_INSTALLED_AS = {"pdm": "pdm[locked]"}
"""The packages by which a tool is installed, with dependencies that are known to work."""
_VERSION = lazy_regex(r"[\d.]+")


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
