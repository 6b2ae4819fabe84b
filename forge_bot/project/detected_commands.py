"""A project's commands: argument lists with reasons, and the overrides from the settings."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import cast

from forge_bot.project.file_list import Listing
from forge_bot.settings.config import CONFIG
from forge_bot.values import CommandName, Frozen

ENV = "{env}"
"""Stands for a folder outside the worktree, made for one run.

Setup puts tools and libraries there.
"""

MOST_PROJECTS = 8


class Command(Frozen):
    """A program and its arguments, with the reason for it.

    It runs from the repository's root without a shell.
    """

    argv: tuple[str, ...]
    reason: str
    script: str = ""
    """What the words stand for, such as the script of package.json that `npm test` runs."""


class ProjectCommands(Frozen):
    """The commands of a project by kind, those of one kind in the order in which they run, and
    notes for a person.
    """

    setup: tuple[Command, ...] = ()
    build: tuple[Command, ...] = ()
    test: tuple[Command, ...] = ()
    lint: tuple[Command, ...] = ()
    notes: tuple[str, ...] = ()

    def of(self, name: CommandName) -> tuple[Command, ...]:
        return cast("tuple[Command, ...]", getattr(self, name.value))


def command(reason: str, *argv: str) -> Command:
    """Return a command. The arguments are in reading order: the reason, then the words."""
    return Command(argv=argv, reason=reason)


def combined(parts: Sequence[ProjectCommands]) -> ProjectCommands:
    """Combine all parts in their order, each command and each note once."""
    merged = {name: _once(one for part in parts for one in part.of(name)) for name in CommandName}
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return ProjectCommands.model_validate({**merged, "notes": tuple(notes)})


def with_overrides(
    commands: ProjectCommands, overrides: Mapping[str, Sequence[Sequence[str]]]
) -> ProjectCommands:
    """Return the commands with whole kinds replaced. An empty list means none on purpose.

    Raises ValueError for an unknown kind.
    """
    reason = f"{CONFIG} says so"
    chosen = {
        CommandName(kind): tuple(command(reason, *argv) for argv in lines)
        for kind, lines in overrides.items()
    }
    return commands.model_copy(update={str(name): lines for name, lines in chosen.items()})


def _once(commands: Iterable[Command]) -> tuple[Command, ...]:
    seen: dict[tuple[str, ...], Command] = {}
    for command in commands:
        seen.setdefault(command.argv, command)
    return tuple(seen.values())


def find_in(
    listing: Listing,
    manifests: Collection[str],
    read: Callable[[Listing, str], ProjectCommands],
    kind: str,
) -> ProjectCommands:
    """Return the commands of the project at the root, and those in folders if it has no tests."""
    root = read(listing, "") if listing.first("", tuple(manifests)) else ProjectCommands()
    if root.test:
        return root
    folders = listing.projects(manifests)
    parts = [root, *(read(listing, folder) for folder in folders[:MOST_PROJECTS])]
    if len(folders) > MOST_PROJECTS:
        note = f"{len(folders)} {kind} projects; only the first {MOST_PROJECTS} are run."
        parts.append(ProjectCommands(notes=(note,)))
    return combined(parts)
