"""Finds the folder for files that do not belong in a repository."""

import os
from pathlib import Path

from forge_bot.errors import NoStateHome


def state_home() -> Path:
    """Folder for journals, work trees and tool environments: $XDG_STATE_HOME/forge-bot, else
    ~/.local/state/forge-bot.

    Source: XDG Base Directory Specification; a relative value of the variable is to be ignored.
    Raises NoStateHome.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if given and Path(given).is_absolute() else _home() / ".local" / "state"
    return base / "forge-bot"


def _home() -> Path:
    try:
        home = Path.home()
    except RuntimeError:
        # Containers run under numbers that no user list knows.
        raise NoStateHome(
            "HOME is not set, and the system knows no home folder for this user."
        ) from None
    if not home.is_absolute():
        raise NoStateHome(f"HOME is {str(home)!r}, which is no absolute path.")
    return home
