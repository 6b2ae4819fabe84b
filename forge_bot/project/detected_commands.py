"""A project's commands: argument lists with reasons, and the overrides from the settings."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

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
    files: tuple[str, ...] = ()
    """Of a formatter: patterns of the files it takes. Those are added to its words."""
    script: str = ""
    """What the words stand for, such as the script of package.json that `npm test` runs."""


class ProjectCommands(Frozen):
    """The commands of a project by kind. The commands of one kind run in this order."""

    setup: tuple[Command, ...] = ()
    build: tuple[Command, ...] = ()
    test: tuple[Command, ...] = ()
    lint: tuple[Command, ...] = ()
    format: tuple[Command, ...] = ()

    def of(self, name: CommandName) -> tuple[Command, ...]:
        match name:
            case CommandName.SETUP:
                return self.setup
            case CommandName.BUILD:
                return self.build
            case CommandName.TEST:
                return self.test
            case CommandName.LINT:
                return self.lint
            case CommandName.FORMAT:
                return self.format


class DetectedCommands(Frozen):
    """The commands that one toolchain contributes, and notes for a person."""

    commands: ProjectCommands = ProjectCommands()
    notes: tuple[str, ...] = ()


def command(reason: str, *argv: str) -> Command:
    """Return a command. The arguments are in reading order: the reason, then the words."""
    return Command(argv=argv, reason=reason)


def combined(contributions: Iterable[DetectedCommands]) -> DetectedCommands:
    """Combine all contributions in their order, each command once."""
    parts = tuple(contributions)
    merged = {
        name: _once(command for part in parts for command in part.commands.of(name))
        for name in CommandName
    }
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return DetectedCommands(commands=ProjectCommands.model_validate(merged), notes=tuple(notes))


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
    seen: dict[tuple[object, ...], Command] = {}
    for command in commands:
        seen.setdefault((command.argv, command.files), command)
    return tuple(seen.values())


def find_in(
    listing: Listing,
    manifests: Collection[str],
    read: Callable[[Listing, str], DetectedCommands],
    kind: str,
) -> DetectedCommands:
    """Return the commands of the project at the root.

    If it has no tests, return those of the projects in folders.
    """
    root = read(listing, "") if listing.first("", tuple(manifests)) else DetectedCommands()
    if root.commands.test:
        return root
    folders = listing.projects(manifests)
    left = (
        (f"{len(folders)} {kind} projects; only the first {MOST_PROJECTS} are run.",)
        if len(folders) > MOST_PROJECTS
        else ()
    )
    return combined(
        [
            root,
            *(read(listing, folder) for folder in folders[:MOST_PROJECTS]),
            DetectedCommands(notes=left),
        ]
    )
