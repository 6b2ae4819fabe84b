"""Prints errors at the terminal: the problem, its place, and the way out."""

import os
import sys
import traceback

from rich.markup import escape

from forge_bot.cli.console import Console
from forge_bot.cli.standard_streams import NobodyReads, silence_output
from forge_bot.errors import ForgeError, MachineRefused
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.sentences import say

FAILED = 1
USAGE = 2
WAITING = 3
_CHECKED = "Value error, "
"""The words that pydantic adds before the message of a check."""

_WORKING = frozenset(
    {"run", "approve", "reject", "answer", "done", "skip", "resume", "retry", "continue", "demo"}
)

_WITHOUT_A_RUN = frozenset(
    {"list", "show", "status", "clean", "init", "doctor", "mcp", "graph", "capabilities"}
)


def print_error(error: Exception | NobodyReads) -> int:
    """Tell the error on stderr; the exit code it ends the invocation with."""
    if isinstance(error, BrokenPipeError | NobodyReads):
        silence_output()
        return print_unread()
    if isinstance(error, NobodyReads):
        return print_unread()
    console = Console(stderr=True)
    if isinstance(error, OSError):
        # What cannot be written would fail again when the interpreter ends.
        silence_output()
        _print_trace(error, console)
        error = _make_refusal(error)
    if isinstance(error, ForgeError):
        # To wait is no failure.
        mark = "[bold]… " if error.exit_code == WAITING else "[bold red]✗ "
        console.print(f"{mark}{escape(error.message)}[/] [dim]{error.code}[/]")
        for detail in error.details:
            console.print(f"  {escape(detail)}")
        console.print(f"  [bold]→[/] {escape(advice_at_terminal(error))}")
        return error.exit_code
    if (show := getattr(error, "format_message", None)) is not None:
        _print_misuse(error, show(), console)
        return USAGE
    console.print(
        f"[bold red]✗ Something unexpected happened: {escape(type(error).__name__)}[/] "
        f"[dim]{ForgeError.code}[/]"
    )
    _print_trace(error, console)
    console.print(
        "  [bold]→[/] Nothing that was recorded is lost. Please report it with the "
        "output under FORGE_BOT_DEBUG=1."
    )
    return FAILED


def print_interrupted() -> int:
    """Tell that a person stopped it, and how a run goes on if the command works on one."""
    console = Console(stderr=True)
    only_looks = sys.argv[1:2] and sys.argv[1] in _WITHOUT_A_RUN
    console.print(f"\n{say('cli.errors.stopped_here' if only_looks else 'cli.errors.stopped')}")
    return FAILED


def print_not_begun() -> int:
    """Tell that a person stopped it before there was a run."""
    console = Console(stderr=True)
    console.print("\n[bold]Stopped.[/] No run was begun.")
    return FAILED


def print_unread() -> int:
    """Report that the reader of the output is gone; a command that only looks says nothing."""
    if _WORKING & set(sys.argv[1:2]):
        Console(stderr=True).print(
            "[bold]Stopped:[/] nobody reads the output any more. Nothing that was answered is "
            "lost: [bold]forge-bot resume[/] goes on."
        )
    return FAILED


def _print_misuse(error: Exception, words: str, console: Console) -> None:
    """A usage error of the option parser: its own words are good. The bare program name asks for
    help and is no mistake.
    """
    if type(error).__name__ == "NoArgsIsHelpError":
        console.print(escape(words))
        return
    words = words.replace(_CHECKED, "")
    console.print(f"[bold red]✗ {escape(words)}[/]")
    if command := _name_command(error):
        unknown = str(getattr(error, "option_name", "")).strip("-")
        is_text = bool(unknown) and not unknown[0].isalpha()
        way_out = "cli.errors.begins_with_a_hyphen" if is_text else "cli.errors.see_help_of"
        of_it = say(way_out, command=escape(command))
        console.print(f"  [bold]→[/] {of_it}")
    else:
        console.print("  [bold]→[/] forge-bot --help lists the commands.")


def _name_command(error: Exception) -> str:
    """Return the words of the command that an error of the option parser is about; empty for the
    program itself. The parser's classes are not imported for this.
    """
    names: list[str] = []
    context: object = getattr(error, "ctx", None)
    while (parent := getattr(context, "parent", None)) is not None:
        names.insert(0, str(getattr(context, "info_name", "")))
        context = parent
    return " ".join(names)


def _make_refusal(error: OSError) -> MachineRefused:
    what = f": {error.filename}" if error.filename else ""
    return MachineRefused(f"The system says: {error.strerror or error}{what}.")


def _print_trace(error: Exception, console: Console) -> None:
    if "FORGE_BOT_DEBUG" in os.environ:
        console.print(escape("".join(traceback.format_exception(error))))
