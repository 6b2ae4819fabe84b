"""The project's commands for a model that asks for them, with their outcome as text."""

from collections.abc import Sequence
from posixpath import basename

from forge_bot.project.detected_commands import Command
from forge_bot.runs.project_commands.project import Project
from forge_bot.text_format import names
from forge_bot.values import CommandName
from forge_bot.verification.command_outcome import plain_lines
from forge_bot.verification.shown_output import shown_output

_SNIPPET_SECONDS = 10
_NODE = names("node npm npx yarn pnpm")
_RUBY = names("ruby bundle rake rspec")
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


def interpreter_of(project: Project) -> tuple[str, ...]:
    """Return the words with which the project's interpreter runs code, by its test commands; none
    where they tell none.
    """
    for command in project.profile.commands.test:
        program = basename(command.argv[0])
        if program.startswith("python"):
            return (command.argv[0], "-c")
        if program in _NODE:
            return ("node", "-e")
        if program in _RUBY:
            return ("ruby", "-e")
    return ()


def run_snippet(project: Project, commit: str, code: str) -> str:
    """Return what a few lines print at a commit, and their exit code."""
    argv = (*interpreter_of(project), code)
    outcome = project.run_snippet(commit, argv, _SNIPPET_SECONDS)
    ended = f"exit code {outcome.exit_code}"
    if outcome.timed_out:
        ended = f"It did not end within {_SNIPPET_SECONDS} seconds."
    return f"{ended}\n{shown_output(plain_lines(outcome.output), _SHOWN)}"


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
