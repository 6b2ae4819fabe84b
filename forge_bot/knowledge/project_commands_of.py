"""A project's own commands: argument lists with the reason they were chosen, and what a repository's settings say instead."""

from collections.abc import Iterable, Mapping, Sequence

from forge_bot.settings.config import CONFIG
from forge_bot.values import CommandName, Frozen

ENV = "{env}"
"""Stands for a folder outside the worktree, made for one run, in which setup puts tools and libraries."""


class Command(Frozen):
    """A program and its arguments, run from the repository's root without a shell, and why it is this one."""

    argv: tuple[str, ...]
    reason: str


class ProjectCommands(Frozen):
    """What a project runs, by kind; the commands of one kind run in this order."""

    setup: tuple[Command, ...] = ()
    build: tuple[Command, ...] = ()
    test: tuple[Command, ...] = ()
    lint: tuple[Command, ...] = ()

    def of(self, name: CommandName) -> tuple[Command, ...]:
        """The commands of one kind."""
        match name:
            case CommandName.SETUP:
                return self.setup
            case CommandName.BUILD:
                return self.build
            case CommandName.TEST:
                return self.test
            case CommandName.LINT:
                return self.lint


class DetectedCommands(Frozen):
    """What one toolchain contributes, and what a person should know about it."""

    commands: ProjectCommands = ProjectCommands()
    notes: tuple[str, ...] = ()


def command(reason: str, *argv: str) -> Command:
    """A command in the order one reads it: why, then what."""
    return Command(argv=argv, reason=reason)


def together(found: Iterable[DetectedCommands]) -> DetectedCommands:
    """All contributions as one, in their order, each command once."""
    parts = tuple(found)
    merged = {name: _once(each for part in parts for each in part.commands.of(name)) for name in CommandName}
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return DetectedCommands(commands=ProjectCommands.model_validate(merged), notes=tuple(notes))


def overridden(commands: ProjectCommands, overrides: Mapping[str, Sequence[Sequence[str]]]) -> ProjectCommands:
    """The commands with whole kinds replaced; an empty list means none on purpose. Raises ValueError for an unknown kind."""
    said = f"{CONFIG} says so"
    chosen = {CommandName(kind): tuple(command(said, *argv) for argv in lines) for kind, lines in overrides.items()}
    return commands.model_copy(update={str(name): lines for name, lines in chosen.items()})


def _once(commands: Iterable[Command]) -> tuple[Command, ...]:
    seen: dict[tuple[str, ...], Command] = {}
    for each in commands:
        seen.setdefault(each.argv, each)
    return tuple(seen.values())
