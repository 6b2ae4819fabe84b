"""Run a command, show its error with the way out, and return the exit code: the one place for all
of them.
"""

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from forge_bot.errors import ForgeError, MachineRefused
from forge_bot.sentences import check_language

if TYPE_CHECKING:
    from forge_bot.cli.console import Console

FAILED = 1
USAGE = 2
WAITING = 3
WRONG_USE = 64
"""The exit code for a wrong call where 2 says something else."""
BY_HAND = 130
"""The option parser's exit code for Ctrl-C: 128 and the signal's number."""

_CHECKED = "Value error, "
"""The words that pydantic adds before the message of a check."""


def exit_code_of(command: Callable[[], object], *, wrong_use: int = USAGE) -> int:
    """Return the exit code of a command whose error is printed; of a wrong call, `wrong_use`."""
    try:
        check_language()
        code = command()
        sys.stdout.flush()
    except (KeyboardInterrupt, EOFError):
        code = BY_HAND
    except BrokenPipeError:
        _silence_output()
        return FAILED
    # The outermost handler: every error is shown, and the exit code says that the command failed.
    except Exception as error:  # noqa: BLE001 - see above
        exit_code = _print_error(error)
        return wrong_use if exit_code == USAGE else exit_code
    if code == BY_HAND:
        goes_on = "Nothing that was answered is lost: [bold]forge-bot resume[/] goes on."
        _make_console().print(f"\n[bold]Stopped.[/] {goes_on}")
        return FAILED
    return code if isinstance(code, int) else 0


def print_not_begun() -> int:
    """Tell that a person stopped it before there was a run."""
    _make_console().print("\n[bold]Stopped.[/] No run was begun.")
    return FAILED


def _make_console() -> "Console":
    # A command that prints no error has no need of it.
    from forge_bot.cli.console import Console

    return Console(stderr=True)


def _silence_output() -> None:
    """Discard all later output to stdout; the interpreter writes what is left when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(error: Exception) -> int:
    """Tell the error on stderr; the exit code it ends the invocation with."""
    from rich.markup import escape

    from forge_bot.interaction.remedy_words import advice_at_terminal

    console = _make_console()
    if isinstance(error, OSError):
        # What cannot be written would fail again when the interpreter ends.
        _silence_output()
        _print_trace(error, console)
        what = f": {error.filename}" if error.filename else ""
        error = MachineRefused(f"The system says: {error.strerror or error}{what}.")
    if isinstance(error, ForgeError):
        # To wait is no failure.
        mark = "[bold]… " if error.exit_code == WAITING else "[bold red]✗ "
        console.print(f"{mark}{escape(error.message)}[/] [dim]{error.code}[/]")
        for detail in error.details:
            console.print(f"  {escape(detail)}")
        console.print(f"  [bold]→[/] {escape(advice_at_terminal(error))}")
        return error.exit_code
    if (show := getattr(error, "format_message", None)) is not None:
        _print_misuse(error, escape(show().replace(_CHECKED, "")), console)
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


def _print_misuse(error: Exception, words: str, console: "Console") -> None:
    """A usage error of the option parser: its own words are good. The bare program name asks for
    help and is no mistake. The parser's classes are not imported for this.
    """
    if type(error).__name__ == "NoArgsIsHelpError":
        console.print(words)
        return
    console.print(f"[bold red]✗ {words}[/]")
    command = str(getattr(getattr(error, "ctx", None), "command_path", "forge-bot"))
    unknown = str(getattr(error, "option_name", "")).strip("-")
    is_text = bool(unknown) and not unknown[0].isalpha()
    way_out = (
        f'Write -- in front of a text that begins with a hyphen: {command} -- "- like this"'
        if is_text
        else f"{command} --help says what it takes."
    )
    console.print(f"  [bold]→[/] {way_out}")


def _print_trace(error: Exception, console: "Console") -> None:
    if "FORGE_BOT_DEBUG" in os.environ:
        from rich.markup import escape

        console.print(escape("".join(traceback.format_exception(error))))
