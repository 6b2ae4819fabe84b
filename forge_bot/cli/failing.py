"""How an error is told at the terminal: what happened, where, and the way out."""

import os
import traceback

from rich.console import Console
from rich.markup import escape

from forge_bot.errors import ForgeError

FAILED = 1
USAGE = 2


def told(error: Exception) -> int:
    """Tell the error on stderr; the exit code it ends the invocation with."""
    console = Console(stderr=True, soft_wrap=True)
    if isinstance(error, ForgeError):
        console.print(f"[bold red]✗ {escape(error.message)}[/] [dim]{error.code}[/]")
        for detail in error.details:
            console.print(f"  {escape(detail)}", highlight=False)
        console.print(f"  [bold]→[/] {escape(error.advice)}", highlight=False)
        return error.exit_code
    if (show := getattr(error, "format_message", None)) is not None:
        # A usage error of the option parser: its own words are good.
        console.print(f"[bold red]✗ {escape(show())}[/]")
        console.print("  [bold]→[/] forge-bot --help, or forge-bot COMMAND --help.", highlight=False)
        return USAGE
    console.print(f"[bold red]✗ Something unexpected happened: {escape(type(error).__name__)}[/] [dim]{ForgeError.code}[/]")
    if "FORGE_BOT_DEBUG" in os.environ:
        console.print(escape("".join(traceback.format_exception(error))), highlight=False)
    console.print(
        "  [bold]→[/] Nothing that was recorded is lost. Please report it with the output under FORGE_BOT_DEBUG=1.",
        highlight=False,
    )
    return FAILED


def interrupted() -> int:
    """Tell that a person stopped it."""
    console = Console(stderr=True)
    console.print("\n[bold]Stopped.[/] Nothing that was answered is lost: [bold]forge-bot resume[/] goes on.")
    return FAILED
