"""The project's commands for a model that asks for them, with their outcome as text."""

from collections.abc import Sequence

from forge_bot.project.detected_commands import Command
from forge_bot.runs.project_commands.project import Project
from forge_bot.values import CommandName
from forge_bot.verification.shown_output import shown_output

_SHOWN = 12_000
"""Characters of the output of a command that a model is shown."""


def most_seconds(project: Project) -> float:
    """Return how long a request for tests or linters can take with setup before it: what the
    sandbox allows, and a minute.
    """
    commands = project.profile.commands
    count = len(commands.setup) + max(len(commands.test), len(commands.lint))
    return project.config.command_seconds * max(1, count) + 60


def run_tests(project: Project, selectors: Sequence[str]) -> str:
    """Return the outcome of the test commands, narrowed to some files where a command allows it."""
    return _show_command(project, CommandName.TEST, project.profile.commands.test, selectors)


def lint(project: Project, paths: Sequence[str]) -> str:
    return _show_command(project, CommandName.LINT, project.profile.commands.lint, paths)


def _show_command(
    project: Project, name: CommandName, commands: tuple[Command, ...], paths: Sequence[str]
) -> str:
    if not commands:
        return f"This repository has no {name.value} command."
    parts: list[str] = []
    for result, output, _ in project.run_on(name, commands, paths):
        narrowed = not paths or result.argv[-len(paths) :] == tuple(paths)
        ignored = "" if narrowed else "(this command takes no selection: everything ran)\n"
        parts.append(
            f"{ignored}$ {' '.join(result.argv)}\nexit code"
            f" {result.exit_code}\n{shown_output(output.splitlines(), _SHOWN)}"
        )
    return "\n\n".join(parts)
