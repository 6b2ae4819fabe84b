"""The commands that are found for a repository, for the projects that its settings list, or for one
folder of it.
"""

from collections.abc import Mapping, Sequence

from forge_bot.project.detected_commands import ProjectCommands, combined, with_overrides
from forge_bot.project.file_list import Listing, join
from forge_bot.project.toolchains import other_toolchains, python
from forge_bot.values import CommandName

Overrides = Mapping[str, Sequence[Sequence[str]]]
"""Commands that replace those that were found, by kind."""

_LOCKS = (
    *("uv.lock", "poetry.lock", "pdm.lock", "Cargo.lock", "Gemfile.lock"),
    *("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"),
)


def scoped_commands(
    listing: Listing, overrides: Overrides, projects: Mapping[str, Overrides], scope: str
) -> ProjectCommands:
    """Return the commands that judge a change of everything, or of the folder `scope` alone.

    Each project in the settings has its own commands; commands that the settings leave out are
    detected in its folder. Commands of the settings for the whole repository count for setup, and
    for kinds that no project has. A folder without tests is judged by all commands.
    """
    whole = find_commands(listing)
    if not projects and not scope:
        return with_overrides(whole, overrides)
    # The listed projects in the scope, or around it; else the scope itself.
    folders = [name for name in projects if is_inside(name, scope) or is_inside(scope, name)]
    folders = folders or [scope]
    scoped = combined(
        [_detect_in_folder(listing, name, projects.get(name, {}), whole) for name in folders]
    )
    if not scoped.test and not any("test" in projects.get(name, {}) for name in folders):
        # Its tests are elsewhere, so only all tests together surely include the relevant ones.
        return with_overrides(whole, overrides)
    missing = {
        kind: lines
        for kind, lines in overrides.items()
        if kind == CommandName.SETUP.value or not scoped.of(CommandName(kind))
    }
    return with_overrides(scoped, missing)


def find_commands(listing: Listing) -> ProjectCommands:
    """Return the commands of each language's own toolchain, and of Make where none of them has
    tests: Make takes its tools from wherever it runs.
    """
    native = combined([find(listing) for find in (python.find, *other_toolchains.NATIVE)])
    return native if native.test else combined([native, other_toolchains.find_make(listing)])


def is_inside(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies below it; everything lies below ""."""
    return not folder or f"{path}/".startswith(f"{folder}/")


def _detect_in_folder(
    listing: Listing, folder: str, own: Overrides, whole: ProjectCommands
) -> ProjectCommands:
    """Return the commands of one folder. If only the root has a lock file, that is installed."""
    inner = Listing([path for path in listing.files if is_inside(path, folder)], listing.text)
    detected = find_commands(inner)
    locked_here = folder and any(listing.has(join(folder, name)) for name in _LOCKS)
    if not locked_here and any(map(listing.has, _LOCKS)):
        detected = detected.replace(setup=whole.setup)
    return with_overrides(detected, own)
